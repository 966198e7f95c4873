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

/** Names in lines of a few. */
const structureLines = Array.from(
  { length: Math.ceil(tortureStructures.length / 6) },
  (_, line) => `${' '.repeat(23)}${tortureStructures.slice(6 * line, 6 * line + 6).join(', ')}`,
).join('\n')

const help = `Usage: aether torture [options]
       aether torture structures [options]

Without a word: memory. Groups of real processes write and read the pages of a region by explicit calls, while one is killed (SIGKILL) every now and then and others are stopped
and continued (SIGSTOP, SIGCONT). Nobody takes the place of the dead: when few are left, they look at every page once more and leave in order, and
the next group begins, until the time is over.

A write looks at its page and leaves the next version, alone with it; each word of a page tells whether it belongs to the others. Every process
notes what it begins, finds and ends, with the time, so that it is known up to the moment of its death. Then, of each page:
  whole      what is found belongs together, and was written by the rank that it names
  unlost     no update goes: no version is written twice
  fresh      nobody finds less than was known to anybody when he began, before a death or after it: never older bytes, never zeros
  final      a page that was reported as lost (PageLostError) stays lost
  needed     it is so reported only where a dead rank may have had the only copy: not where a living rank had it when it was last written,
             and not where no dead rank had ever touched it nor was its home
and no call fails otherwise, and nobody waits for ever. After the first group in which something is wrong its protocol is left.

structures: real processes work on every structure while one is killed every now and then and another takes its place, and others are stopped and
continued. Each notes what it does before and after, in memory that outlives it, so one operation of a killed process at the most is in doubt. Then:
  there      what was acknowledged is there, exactly once: counted, pushed, appended, moved, set, replaced; what is in doubt is there or not
  alone      mutexes, permits, terms, numbers and things to be done once have one owner at a time, and what the dead had is free
  whole      every value has a sum that fits; memory that is freed is overwritten
  young      of RCU and MV-RLU how old versions are when they are read: 0 until one is replaced, then 1, and 1 more for each grace period since;
             2 and more must not be seen
  awake      nobody is busy with one operation for a minute, nor waits for the dead
  given back when everything is taken out, no more memory is in use than in a space where nobody was killed
Ranks of a group (--place group) work on what is kept at rank 0, which lives; nobody takes the place of their dead.
Where there are two homes (--place homes) they work on what is kept at either, until one is killed. Then, beside all that:
  told       whatever was kept there gives ERR_AETHER_HOME_LOST, to everybody, in bounded time, and never before
  kept       what is kept at the other goes on, exact to the end
  regrouped  those who are left make another group, and its structures work

Options:
  --seconds N          of each protocol at each place (default 10), of structures of each place (default 30); the last group ends in order after that
  --groups N           so many groups of each instead, however long they take
  --coherence LIST     ${[...protocols.keys()].join(', ')}, or all (default)
  --place LIST         machine: all ranks on one; hosts: each on one of its own, over TCP (all of them here); or all (default)
  --ranks N            processes of a group at its beginning, 2 ... 16 (default 4)
  --survivors N        a group goes on until so few are left (default 2)
  --kill-every MS      from one death to the next, give or take half (default 2000; structures of a machine: 1000)
  --stop-every MS      from one stop to the next, give or take half (default 500)
  --stop-for MS        how long one is stopped at the most (default 300); beyond the lease it is out of its group and ends itself
  --lease MS           how long a silence is an end (default 10000)
  --pages N            of the region (default 32)
  --page-size BYTES    a multiple of 4096 (default 4096)
  --seed N             of who is killed and stopped when, and of what each does (default 1); the rest is up to the machine
  --json               the results as JSON

Options of structures, beside --seconds, --kill-every, --stop-every, --stop-for, --lease, --seed and --json:
  --structures LIST    names, or all (default):
${structureLines}
  --place LIST         machine: processes of one; group: ranks that use their home's memory by verbs; homes: one of two homes is killed; or all (default)
  --processes N        that work at a time, 1 ... 15 (default 4)
  --round-seconds N    everything is emptied, looked at and begun anew after so long (default 10)
  --size MIB           memory for all structures (default 32)

Exit status: 1 when something was wrong.

Examples:
  aether torture --seconds 120 --kill-every 3000 --ranks 8
  aether torture structures --seconds 180
  aether torture structures --structures rcu,mv-rlu --place machine
  aether torture --coherence token --place hosts --stop-for 2000 --lease 1500`

/** `aether torture`. */
export const tortureCommand: Command = {
  help,

  async run(args) {
    const { values, positionals } = parseOptions('torture', args, table, 1)
    const [what] = positionals
    if (what === 'structures') return await runTortureStructures(values)
    if (what !== undefined) throw new UsageError(`'${what}' cannot be tortured; 'structures' can`, 'torture')
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

/** One mistake shows in many pages. */
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
