import { type Command, integerOption, parseOptions, UsageError } from 'aether-dsm/internal/cli'
import { algorithms } from '../agreement/index.ts'
import { compareAll } from './agreement/compare.ts'
import { parseKills } from './agreement/kills.ts'
import { seedPlay, timelyPlay } from './agreement/plays.ts'
import { showPlay } from './agreement/show.ts'

const seedMax = 2 ** 31 - 1
const membersMax = 16
const table = {
  processes: { type: 'string', default: '3' },
  memories: { type: 'string', default: '3' },
  kill: { type: 'string', default: '' },
  seed: { type: 'string' },
  page: { type: 'string' },
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
  --page FILE        write a page with a space-time diagram; only the diagram if FILE ends in .svg
  --json             print the result as JSON

Exit status: 1 if something was decided that must not be, or someone did not decide.

Examples:
  aether agreement
  aether agreement protected-memory-paxos --kill P0@1
  aether agreement fast-and-robust --kill P0@3,M1
  aether agreement disk-paxos --seed 17
  aether agreement protected-memory-paxos --kill P0@1 --page play.html`

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
    const kills = parseKills(values.kill, processes, memories)
    const play = seed === undefined ? timelyPlay({ algorithm, processes, memories, kills }) : seedPlay(algorithm, seed)
    const command = ['aether agreement', ...args].join(' ')
    return Promise.resolve(showPlay(play, { json: values.json, page: values.page, command }))
  },
}
