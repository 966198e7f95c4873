import {
  type Command,
  ExitCode,
  formatCount,
  integerOption,
  parseOptions,
  Screen,
  UsageError,
  wordOption,
} from 'aether-dsm/internal/cli'
import { protocols } from 'aether-dsm/internal/dsm'
import { tortureStructures } from '../structure-torture/index.ts'
import { runTorture, type TorturePlace, type TortureResult, torturePlaces } from '../torture/index.ts'
import { runTortureStructures } from './torture-structures.ts'

const table = {
  seconds: { type: 'string' },
  groups: { type: 'string' },
  coherence: { type: 'string', default: 'all' },
  place: { type: 'string', default: 'all' },
  ranks: { type: 'string', default: '4' },
  survivors: { type: 'string', default: '2' },
  'kill-every': { type: 'string' },
  'stop-every': { type: 'string', default: '500' },
  'stop-for': { type: 'string', default: '300' },
  lease: { type: 'string', default: '10000' },
  pages: { type: 'string', default: '32' },
  'page-size': { type: 'string', default: '4096' },
  seed: { type: 'string', default: '1' },
  structures: { type: 'string', default: 'all' },
  processes: { type: 'string', default: '4' },
  'round-seconds': { type: 'string', default: '10' },
  size: { type: 'string', default: '32' },
  json: { type: 'boolean', default: false },
} as const

/** Names of structures, a few in each line. */
const structureLines = Array.from(
  { length: Math.ceil(tortureStructures.length / 6) },
  (_, line) => `${' '.repeat(23)}${tortureStructures.slice(6 * line, 6 * line + 6).join(', ')}`,
).join('\n')

const help = `Usage: aether torture [options]
       aether torture structures [options]

Without an argument it tortures memory. Groups of real processes write and read the pages of a region by explicit calls.
At intervals one process is killed (SIGKILL), and another is stopped and continued (SIGSTOP, SIGCONT). No process is
replaced. When few are left, they read every page once more and leave, and the next group starts, until the time is up.

A write pins its page, reads it and writes the next version. Each word of a page tells whether it belongs to the others.
Every process logs what it starts, finds and completes, with times, so its history is known up to its death. Then these
are checked for each page:
  whole      the words of a page belong together, and were written by the rank that they name
  unlost     no update is lost: no version is written twice
  fresh      no process reads an older version than was known when its read started, before or after a death
  final      a page that was reported as lost (PageLostError) stays lost
  needed     a page is reported as lost only if a rank that died may have had the only copy. So no live rank has had it
             since its last write, and a rank that died has touched it or was its home
  bounded    no call fails in another way, and no process waits for ever
After the first group in which something is wrong, its protocol is not tested further.

structures: real processes use every structure. Some are killed at intervals and replaced, others are stopped and
continued. Each records what it does, before and after, in memory that outlives it. So at most one operation of a killed
process is in doubt. Then these are checked:
  there      what was acknowledged is there, exactly once: counted, pushed, appended, moved, set, replaced. An operation
             in doubt took effect or not
  alone      mutexes, permits, terms, numbers and once-only work have one owner at a time. What a process that died had
             is free again
  whole      every value matches its checksum. Freed memory is overwritten
  young      the age of versions that RCU and MV-RLU readers see is at most 1. It is 0 for the current version and 1 for
             a replaced one; each grace period since then adds 1
  awake      no operation takes a minute, and none waits for a process that died
  returned   when everything has been removed, memory use equals that of a space without kills
With --place directory, all processes are killed at once, and others open the space that is left in its directory.
With --place group, the ranks use structures kept at rank 0, which is not killed. Ranks that die are not replaced.
With --place homes, structures are kept at two homes, until one of them is killed. Then these are checked as well:
  told       calls on the dead home return ERR_AETHER_HOME_LOST, to every caller, in bounded time and never before
  kept       structures at the other home go on and are exact
  regrouped  the survivors form a new group, and its structures work

Options:
  --seconds N          time for each protocol at each place (default 10), or for structures at each place (default 30).
                       After that, the last group ends in order
  --groups N           run N groups of each instead, however long they take
  --coherence LIST     ${[...protocols.keys()].join(', ')}, or all (default)
  --place LIST         machine: all ranks on one; hosts: each like a host of its own, over TCP (all of them here); or
                       all (default)
  --ranks N            processes of a group when it starts, 2 ... 16 (default 4)
  --survivors N        a group goes on until N ranks are left (default 2)
  --kill-every MS      time from one kill to the next, plus or minus half (default 2000; structures of a machine: 1000)
  --stop-every MS      time from one stop to the next, plus or minus half (default 500)
  --stop-for MS        the longest stop (default 300). A rank stopped for longer than the lease is out of its group and
                       ends itself
  --lease MS           a rank that is silent for longer is out (default 10000)
  --pages N            pages of the region (default 32)
  --page-size BYTES    a multiple of 4096 (default 4096)
  --seed N             decides which process is killed or stopped when, and what each does (default 1). Timing is up to
                       the machine
  --json               print the results as JSON

Options of structures, besides --seconds, --kill-every, --stop-every, --stop-for, --lease, --seed and --json:
  --structures LIST    names, or all (default):
${structureLines}
  --place LIST         one or more of these, or all (default):
                       machine    processes of one machine
                       directory  all processes of a machine are killed at once
                       group      ranks that use their home's memory by verbs
                       homes      one of two homes is killed
  --processes N        processes that work at a time, 1 ... 15 (default 4)
  --round-seconds N    the length of a round, after which everything is checked and removed (default 10)
  --size MIB           memory for all structures (default 32)

Exit status: 1 if something was wrong.

Examples:
  aether torture --seconds 120 --kill-every 3000 --ranks 8
  aether torture structures --seconds 180
  aether torture structures --structures rcu,mv-rlu --place machine
  aether torture --coherence token --place hosts --stop-for 2000 --lease 1500`

/** `aether torture`. */
export const tortureCommand: Command = {
  help,
  options: table,
  operands: [['structures']],

  async run(args) {
    const { values, positionals } = parseOptions('torture', args, table, 1)
    const [what] = positionals
    if (what === 'structures') return await runTortureStructures(values)
    if (what !== undefined) throw new UsageError(`torture takes 'structures' or nothing, not '${what}'`, 'torture')
    const whole = (option: keyof typeof values & string, min: number, max: number): number =>
      integerOption('torture', `--${option}`, String(values[option]), min, max)
    const ranks = whole('ranks', 2, 16)
    const pageSize = whole('page-size', 4096, 2 ** 24)
    if (pageSize % 4096 !== 0) throw new UsageError(`--page-size takes a multiple of 4096, not ${pageSize}`, 'torture')
    const screen = new Screen(values.json ? undefined : process.stdout)
    const interrupted = new AbortController()
    const interrupt = (): void => interrupted.abort()
    process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
    const groups = values.groups === undefined ? {} : { groups: whole('groups', 1, 1_000_000) }
    const results = await runTorture({
      ...groups,
      seconds: integerOption('torture', '--seconds', values.seconds ?? '10', 1, 86_400),
      coherence: chosen('--coherence', values.coherence, [...protocols.keys()]),
      places: chosen<TorturePlace>('--place', values.place, torturePlaces),
      ranks,
      survivors: whole('survivors', 1, ranks),
      killEveryMs: integerOption('torture', '--kill-every', values['kill-every'] ?? '2000', 1, 3_600_000),
      stopEveryMs: whole('stop-every', 1, 3_600_000),
      stopMsMax: whole('stop-for', 1, 60_000),
      leaseMs: whole('lease', 500, 600_000),
      pages: whole('pages', 1, 65_536),
      pageSize,
      seed: whole('seed', 0, 2 ** 31 - 1),
      signal: interrupted.signal,
      onEvent: (text) => screen.progress(text),
    })
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
    if (values.json) process.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`)
    else show(screen, results)
    return results.every(({ violations }) => violations.length === 0) ? ExitCode.Done : ExitCode.Failed
  },
}

function chosen<W extends string>(option: string, text: string, words: readonly W[]): readonly W[] {
  return text === 'all' ? words : text.split(',').map((each) => wordOption('torture', option, each.trim(), words))
}

const numbers = ['seconds', 'groups', 'reads', 'writes', 'stops', 'deaths', 'of rank 0', 'out', 'pages lost', 'wrong']
const columns = [
  { title: 'coherence', align: 'left' as const },
  { title: 'place', align: 'left' as const },
  ...numbers.map((title) => ({ title, align: 'right' as const })),
]

/** The maximum number printed, because one mistake shows in many pages. */
const TOLD_MAX = 8

function show(screen: Screen, results: readonly TortureResult[]): void {
  screen.table(columns, results.map(row))
  for (const { coherence, place, violations } of results) {
    for (const text of violations.slice(0, TOLD_MAX)) screen.line(`\n${coherence}, ${place}: ${text}`)
    if (violations.length > TOLD_MAX) screen.line(`… and ${violations.length - TOLD_MAX} more`)
  }
  const wrong = results.reduce((sum, { violations }) => sum + violations.length, 0)
  screen.line(
    `\n${wrong === 0 ? screen.paint('green', 'nothing was wrong') : screen.paint('red', `${wrong} things were wrong`)}`,
  )
}

function row(result: TortureResult): string[] {
  const { coherence, place, seconds, groups, reads, writes, stops, deaths, deathsOfRank0, out, lost, violations } =
    result
  const counts = [groups, reads, writes, stops, deaths, deathsOfRank0, out, lost, violations.length]
  return [coherence, place, seconds.toFixed(1), ...counts.map((count) => formatCount(count))]
}
