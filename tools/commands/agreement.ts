import { type Command, integerOption, parseOptions, UsageError } from 'aether-dsm/internal/cli'
import { openDevice } from 'aether-dsm/internal/verbs'
import { type Algorithm, algorithms, graphAlgorithms, liesOf } from '../agreement/index.ts'
import { showBeyond } from './agreement/beyond.ts'
import { compareAll, type Members } from './agreement/compare.ts'
import { graphPlay } from './agreement/graph-plays.ts'
import { parseKills } from './agreement/kills.ts'
import { type PlayedWorld, seedPlay, timelyPlay } from './agreement/plays.ts'
import { realPlay } from './agreement/real-plays.ts'
import { showPlay } from './agreement/show.ts'

const seedMax = 2 ** 31 - 1
const membersMax = 16
const membersDefault = 3
const delayMsDefault = 5
const delayMsMax = 10_000
const table = {
  processes: { type: 'string' },
  memories: { type: 'string' },
  graph: { type: 'string' },
  kill: { type: 'string', default: '' },
  seed: { type: 'string' },
  page: { type: 'string' },
  real: { type: 'boolean', default: false },
  device: { type: 'string' },
  'delay-ms': { type: 'string' },
  lie: { type: 'string', default: '' },
  beyond: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

const all = [...algorithms, ...graphAlgorithms]
const lieNames = [...new Set(algorithms.flatMap(liesOf))]
const named = (list: typeof algorithms): string =>
  list.map(({ name, resilience }) => `  ${name.padEnd(28)} withstands ${resilience}`).join('\n')

const help = `Usage: aether agreement [NAME] [options]

Plays an algorithm of agreement over messages and memories. A message takes one delay, and an operation at a memory
takes two. Draws what happens as a sequence chart: a lane for each process and memory.

Without NAME, plays all of them in the common case and prints tables of what each costs.

Names:
${named(algorithms)}

Where each process has a memory of its own, and shares it with its neighbours in a graph:
${named(graphAlgorithms)}

Options:
  --processes N      how many processes (default ${membersDefault})
  --memories N       how many memories (default ${membersDefault}; on a graph, one for each process)
  --graph G          who shares memory: complete, ring, hypercube, random-DEGREE, margulis, none, or edges as
                     0-1,1-2 (default complete)
  --kill LIST        who crashes, and after how many delays: P0, M2, or P0@3 (default: no one)
  --seed S           an order that the seed draws, with crashes, suspicions and lies, instead of a timely one
  --real             between processes of this machine, in milliseconds instead of delays: --kill ends them by SIGKILL
  --device NAME      with --real: the verbs device (default shm0)
  --delay-ms N       with --real: how long a delay is for timers (default ${delayMsDefault})
  --lie LIST         with --real: who lies, as P0=two-faced: ${lieNames.join(', ')}
  --beyond           what goes wrong where one more fails than NAME withstands: orders that were written to show it
  --page FILE        write a page with a space-time diagram; only the diagram if FILE ends in .svg
  --json             print the result as JSON

Exit status: 1 if something was decided that must not be, or someone did not decide, or leaders still change.

Examples:
  aether agreement
  aether agreement protected-memory-paxos --kill P0@1
  aether agreement fast-and-robust --kill P0@3,M1
  aether agreement disk-paxos --seed 17 --page play.html
  aether agreement hbo --graph ring --processes 5 --kill P0,P2@3
  aether agreement omega-reliable --kill P0@40
  aether agreement disk-paxos --beyond
  aether agreement protected-memory-paxos --real --kill P0@1,M2
  aether agreement fast-and-robust --real --device tcp-lo --lie P0=two-faced`

/** `aether agreement`. */
export const agreementCommand: Command = {
  help,
  options: table,
  operands: [all.map(({ name }) => name)],

  async run(args) {
    const { values, positionals } = parseOptions('agreement', args, table, 1)
    const [name] = positionals
    if (name === undefined) {
      refuseWith(
        values,
        ['graph', 'kill', 'seed', 'page', 'lie', 'device', 'delay-ms'],
        'is about one algorithm: name it',
      )
      return compareAll(membersOf(values), values.json)
    }
    if (values.beyond) {
      const others = ['processes', 'memories', 'graph', 'kill', 'seed', 'page', 'lie', 'device', 'delay-ms'] as const
      refuseWith(values, others, 'does not go with --beyond, whose orders are written')
      return showBeyond(algorithmNamed(name), values.json)
    }
    const command = ['aether agreement', ...args].join(' ')
    const play = await playOf(name, values)
    return showPlay(play, { json: values.json, page: values.page, command })
  },
}

interface PlayValues {
  readonly processes?: string | undefined
  readonly memories?: string | undefined
  readonly graph?: string | undefined
  readonly kill: string
  readonly seed?: string | undefined
  readonly real: boolean
  readonly device?: string | undefined
  readonly 'delay-ms'?: string | undefined
  readonly lie: string
}

/** @throws UsageError if there is none. */
function algorithmNamed(name: string): Algorithm {
  const algorithm = all.find((each) => each.name === name)
  if (algorithm !== undefined) return algorithm
  throw new UsageError(`there is no algorithm '${name}'; see 'aether agreement --help'`, 'agreement')
}

function playOf(name: string, values: PlayValues): PlayedWorld | Promise<PlayedWorld> {
  const algorithm = algorithmNamed(name)
  const seed = values.seed === undefined ? undefined : integerOption('agreement', '--seed', values.seed, 0, seedMax)
  if (seed !== undefined) refuseWith(values, ['kill'], 'is for a timely play: a seed draws crashes itself')
  const { processes = membersDefault, memories } = membersOf(values)
  if (values.real) return realPlayOf(algorithm, values)
  refuseWith(values, ['device', 'delay-ms', 'lie'], 'needs --real')
  if (algorithm.onGraph === true) {
    if (memories !== undefined && memories !== processes)
      throw new UsageError(`in ${name} each process has a memory: leave out --memories`, 'agreement')
    const kills = parseKills(values.kill, processes, processes)
    return graphPlay({ algorithm, graph: values.graph ?? 'complete', processes, kills, seed })
  }
  refuseWith(values, ['graph'], `is for ${graphAlgorithms.map((each) => each.name).join(', ')}: leave it out`)
  if (seed !== undefined) {
    refuseWith(values, ['processes', 'memories'], 'is for a timely play: a seed draws how many there are')
    return seedPlay(algorithm, seed)
  }
  const counted = memories ?? membersDefault
  return timelyPlay({ algorithm, processes, memories: counted, kills: parseKills(values.kill, processes, counted) })
}

function realPlayOf(algorithm: Algorithm, values: PlayValues): Promise<PlayedWorld> {
  refuseWith(values, ['seed'], 'orders what happens, which real processes do by themselves: leave it or --real out')
  if (algorithm.onGraph === true) refuseWith(values, ['memories'], 'is given by the graph: leave it out')
  else refuseWith(values, ['graph'], `is for ${graphAlgorithms.map((each) => each.name).join(', ')}: leave it out`)
  const { processes = membersDefault, memories = membersDefault } = membersOf(values)
  const { device = 'shm0', kill, lie, graph = 'complete' } = values
  const delayMs = integerOption('agreement', '--delay-ms', values['delay-ms'] ?? String(delayMsDefault), 1, delayMsMax)
  openDevice(device).close()
  return realPlay({ algorithm, processes, memories, graph, device, delayMs, kill, lie })
}

/** How many processes and memories were asked for. */
function membersOf({ processes, memories }: PlayValues): Members {
  const count = (option: string, text: string | undefined, min: number): number | undefined =>
    text === undefined ? undefined : integerOption('agreement', option, text, min, membersMax)
  return { processes: count('--processes', processes, 1), memories: count('--memories', memories, 0) }
}

/** @throws UsageError for the first of these options that was given. */
function refuseWith<T extends object>(values: T, options: readonly (keyof T & string)[], why: string): void {
  const given = options.find((option) => values[option] !== undefined && values[option] !== '')
  if (given !== undefined) throw new UsageError(`--${given} ${why}`, 'agreement')
}
