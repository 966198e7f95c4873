import { type Column, formatTable } from 'aether-dsm/internal/cli'
import { AgreementWorld, algorithms, playTimely } from '../../agreement/index.ts'
import { DELAYS_MAX, inputsOf } from './plays.ts'

/** What each algorithm costs where nothing fails. */
export function compareAll(processes: number, memories: number, json: boolean): number {
  const rows = algorithms
    .filter((algorithm) => algorithm.refuse({ processes, memories }) === undefined)
    .map((algorithm) => {
      const setting = { processes, memories }
      const world = new AgreementWorld({ algorithm, setting, inputs: inputsOf(processes) })
      const first = playTimely(world, DELAYS_MAX)
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
