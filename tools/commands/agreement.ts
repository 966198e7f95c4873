import type { Column, Command } from 'aether-dsm/internal/cli'
import { formatTable, integerOption, parseOptions, UsageError } from 'aether-dsm/internal/cli'
import {
  AgreementWorld,
  type Algorithm,
  algorithms,
  playSeed,
  playTimely,
  sequenceChart,
  type WorldEvent,
} from '../agreement/index.ts'
import { showBeyond } from './agreement/beyond.ts'

const seedMax = 2 ** 31 - 1
const membersMax = 16
const table = {
  processes: { type: 'string', default: '3' },
  memories: { type: 'string', default: '3' },
  kill: { type: 'string', default: '' },
  seed: { type: 'string' },
  beyond: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

const help = `Usage: aether agreement [NAME] [options]

Plays an algorithm of agreement over messages and memories. A message takes one delay, and an operation at a memory
takes two. Draws what happens as a sequence chart: a lane for each process and memory.

Without NAME, plays all of them in the common case and prints a table of what each costs.

Names:
${algorithms.map(({ name, resilience }) => `  ${name.padEnd(28)} withstands ${resilience}`).join('\n')}

Options:
  --processes N      how many processes (default 3)
  --memories N       how many memories (default 3)
  --kill LIST        who crashes, and after how many delays: P0, M2, or P0@3 (default: no one)
  --seed S           an order that the seed draws, with crashes, suspicions and lies, instead of a timely one
  --beyond           what goes wrong where one more fails than NAME withstands: orders that were written to show it
  --json             print the result as JSON

Exit status: 1 if something was decided that must not be, or someone did not decide.

Examples:
  aether agreement
  aether agreement protected-memory-paxos --kill P0@1
  aether agreement fast-and-robust --kill P0@3,M1
  aether agreement disk-paxos --seed 17
  aether agreement disk-paxos --beyond`

/** `aether agreement`. */
export const agreementCommand: Command = {
  help,
  options: table,
  operands: [algorithms.map(({ name }) => name)],

  run(args) {
    const { values, positionals } = parseOptions('agreement', args, table, 1)
    const [name] = positionals
    const processes = integerOption('agreement', '--processes', values.processes, 1, membersMax)
    const memories = integerOption('agreement', '--memories', values.memories, 0, membersMax)
    const seed = values.seed === undefined ? undefined : integerOption('agreement', '--seed', values.seed, 0, seedMax)
    if (name === undefined) return Promise.resolve(compareAll(processes, memories, values.json))
    const algorithm = algorithms.find((each) => each.name === name)
    if (algorithm === undefined)
      throw new UsageError(`there is no algorithm '${name}'; see 'aether agreement --help'`, 'agreement')
    if (values.beyond) return Promise.resolve(showBeyond(algorithm, values.json))
    if (seed !== undefined) return Promise.resolve(showSeed(algorithm, seed, values.json))
    return Promise.resolve(showTimely(algorithm, processes, memories, values.kill, values.json))
  },
}

/** What each costs where nothing fails. */
function compareAll(processes: number, memories: number, json: boolean): number {
  const rows = algorithms
    .filter((algorithm) => algorithm.refuse({ processes, memories }) === undefined)
    .map((algorithm) => {
      const setting = { processes, memories }
      const world = new AgreementWorld({ algorithm, setting, inputs: inputsOf(processes) })
      const first = playTimely(world, delaysMax)
      const bound = algorithm.bound(setting)
      return {
        name: algorithm.name,
        failures: algorithm.failures,
        bound,
        first,
        all: { delays: world.now, ...world.costs },
      }
    })
  if (json) {
    console.log(JSON.stringify(rows, undefined, 2))
    return 0
  }
  const columns: Column[] = [
    { title: 'algorithm', align: 'left' },
    { title: 'failures', align: 'left' },
    ...['P', 'M', 'delays', 'messages', 'writes', 'reads', 'permissions', 'signatures'].map(
      (title): Column => ({ title, align: 'right' }),
    ),
  ]
  const cells = rows.map(({ name, failures, bound, first }) => [
    name,
    failures,
    `${bound.processes} of ${processes}`,
    `${bound.memories} of ${memories}`,
    ...(first === undefined
      ? ['never']
      : [first.delays, first.messages, first.writes, first.reads, first.permissions, first.signatures].map(String)),
  ])
  console.log(formatTable(columns, cells).join('\n'))
  console.log('\nUntil the first process decides, in the common case. P and M: how many may fail.')
  return 0
}

const delaysMax = 2000
const inputsOf = (processes: number): string[] => Array.from({ length: processes }, (_, process) => `v${process}`)

interface Kill {
  readonly process?: number
  readonly memory?: number
  readonly at: number
}

function parseKill(text: string, processes: number, memories: number): Kill {
  const [, kind, number = '', at = '0'] = /^([PM])(\d+)(?:@(\d+))?$/.exec(text) ?? []
  const isThere = Number(number) < (kind === 'P' ? processes : memories)
  if (kind === undefined || !isThere)
    throw new UsageError(
      `--kill takes P0 to P${processes - 1} and M0 to M${memories - 1}, as in P0@3,M1, not '${text}'`,
      'agreement',
    )
  return { [kind === 'P' ? 'process' : 'memory']: Number(number), at: Number(at) }
}

function showTimely(algorithm: Algorithm, processes: number, memories: number, kill: string, json: boolean): number {
  const setting = { processes, memories }
  const refusal = algorithm.refuse(setting)
  if (refusal !== undefined) throw new UsageError(`${algorithm.name}: ${refusal}`, 'agreement')
  const kills = kill === '' ? [] : kill.split(',').map((each) => parseKill(each.trim(), processes, memories))
  const events: WorldEvent[] = []
  const watch = (event: WorldEvent): number => events.push(event)
  const world = new AgreementWorld({ algorithm, setting, inputs: inputsOf(processes), watch })
  playTimely(world, delaysMax, kills)
  return show(world, events, json)
}

function showSeed(algorithm: Algorithm, seed: number, json: boolean): number {
  const events: WorldEvent[] = []
  const { world, violation, liars } = playSeed(algorithm, seed, { watch: (event) => events.push(event) })
  const status = show(world, events, json)
  if (!json) for (const liar of liars) console.log(`P${liar}`)
  if (violation !== undefined) console.error(violation)
  return violation === undefined ? status : 1
}

function show(world: AgreementWorld, events: readonly WorldEvent[], json: boolean): number {
  const { algorithm, setting } = world.scene
  const undecided = world.processes.filter(
    (_, process) => world.up[process] && world.isCorrect(process) && world.decisions[process]!.length === 0,
  )
  if (json)
    console.log(JSON.stringify({ algorithm: algorithm.name, setting, events, costs: world.costs }, undefined, 2))
  else {
    console.log(sequenceChart(events, setting))
    const { messages, writes, reads, claims, permissions, signatures } = world.costs
    console.log(
      `\n${messages} messages, ${writes} writes, ${reads} reads, ${claims} claims, ${permissions} permissions, ${signatures} signatures`,
    )
  }
  if (undecided.length === 0) return 0
  console.error(`${undecided.length} of ${world.processes.length} processes did not decide`)
  return 1
}
