import { protocols } from '../dsm/index.ts'
import { countScaling, type ScalingRow } from './bench/scaling/scaling.ts'
import { scalingLines } from './bench/scaling/scaling-table.ts'
import { ExitCode } from './command.ts'
import { integerOption } from './options.ts'
import { Screen } from './output/screen.ts'
import type { Column } from './output/table.ts'
import { formatCount } from './output/units.ts'

/** Sizes of the table unless others are asked for. */
export const defaultScalingRanks: readonly number[] = [2, 4, 16, 64, 256, 1024]
const ranksMax = 4096
const pageBytes = 4096

/** The options that `aether bench scaling` takes, as text. */
export interface ScalingBenchValues {
  readonly nodes: string
  readonly json: boolean
}

/** `aether bench scaling`. */
export function runScalingBench(values: ScalingBenchValues): number {
  const ranks = values.nodes.split(',').map((text) => integerOption('bench', '--nodes', text, 2, ranksMax))
  const screen = new Screen(values.json ? undefined : process.stdout)
  const onRow = ({ protocol, miss, ranks: size }: ScalingRow): void =>
    screen.progress(`${protocol}, ${miss}, ${size} nodes, done …`)
  const rows = countScaling({ protocols: [...protocols.values()], ranks, pageBytes, onRow })
  showScalingBench(screen, rows, ranks)
  if (values.json) process.stdout.write(`${JSON.stringify(rows, undefined, 2)}\n`)
  return ExitCode.Done
}

const notes = [
  'Messages / KiB per miss (pages of 4 KiB, with the messages themselves) / messages one after the other until the access can be done.',
  'Counted exactly, by the state machines of the agents in one process; an upgrade has to reach every other reader, in any protocol.',
]

/** A line for each protocol and miss, a column for each number of nodes. */
export function showScalingBench(screen: Screen, rows: readonly ScalingRow[], ranks: readonly number[]): void {
  const columns: Column[] = [
    { title: 'protocol', align: 'left' },
    { title: 'miss', align: 'left' },
    ...ranks.map((size): Column => ({ title: `${formatCount(size)} nodes`, align: 'right' })),
  ]
  screen.table(
    columns,
    scalingLines(rows, ranks).map(({ protocol, miss, cells }) => [protocol, miss, ...cells]),
  )
  screen.line()
  for (const note of notes) screen.line(`  ${note}`)
}
