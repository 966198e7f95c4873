import { availableParallelism, cpus } from 'node:os'
import { collectiveNames } from '../messaging/index.ts'
import { openDevice } from '../verbs/index.ts'
import { benchCollectives } from './bench/collectives.ts'
import type { CollectivesRow } from './bench/collectives-row.ts'
import { ExitCode } from './command.ts'
import { integerOption, wordOption } from './options.ts'
import { Screen } from './output/screen.ts'
import type { Column } from './output/table.ts'
import { formatBytes, formatCount, formatTime } from './output/units.ts'

/** On both sides of every threshold of `src/messaging/collectives/choose.ts`. */
const defaultProcesses: readonly number[] = [4, 8]
const defaultBytes: readonly number[] = [64, 1024, 16_384, 131_072, 1_048_576]
const processesMax = 64
const bytesMax = 2 ** 28
const cellMsMax = 60_000

/** The options that `aether bench collectives` takes, as text. */
export interface CollectivesBenchValues {
  readonly device: string
  readonly collectives: string
  readonly processes?: string | undefined
  readonly 'value-sizes'?: string | undefined
  readonly 'cell-ms': string
  readonly json: boolean
}

/** `aether bench collectives`. */
export async function runCollectivesBench(values: CollectivesBenchValues): Promise<number> {
  const numbers = (option: string, text: string | undefined, fallback: readonly number[], min: number, max: number) =>
    text?.split(',').map((each) => integerOption('bench', option, each, min, max)) ?? fallback
  const options = {
    device: values.device,
    collectives:
      values.collectives === 'all'
        ? collectiveNames
        : values.collectives.split(',').map((word) => wordOption('bench', '--collectives', word, collectiveNames)),
    processes: numbers('--processes', values.processes, defaultProcesses, 1, processesMax),
    sizes: numbers('--value-sizes', values['value-sizes'], defaultBytes, 1, bytesMax),
    cellMs: integerOption('bench', '--cell-ms', values['cell-ms'], 1, cellMsMax),
  }
  // Whether there is such a device shows here, before other processes would stumble over it.
  openDevice(values.device).close()
  const screen = new Screen(values.json ? undefined : process.stdout)
  screen.line(`collectives on ${availableParallelism()} processors, ${cpus()[0]?.model ?? 'of unknown kind'}`)
  screen.line()
  const onRow = ({ op, algorithm, processes, bytes }: CollectivesRow): void =>
    screen.progress(`${op} by ${algorithm}, ${processes} processes, ${formatBytes(bytes)}, done …`)
  const rows = await benchCollectives({ ...options, onRow })
  showCollectivesBench(screen, rows)
  if (values.json) process.stdout.write(`${JSON.stringify(rows, undefined, 2)}\n`)
  return ExitCode.Done
}

/** Rows as a table, and how to read it. */
export function showCollectivesBench(screen: Screen, rows: readonly CollectivesRow[]): void {
  screen.table(columns, rows.map(cellsOf))
  screen.line()
  for (const note of notes) screen.line(`  ${note}`)
}

const columns: readonly Column[] = [
  { title: 'collective', align: 'left' },
  { title: 'algorithm', align: 'left' },
  { title: 'chosen', align: 'left' },
  { title: 'processes', align: 'right' },
  { title: 'length', align: 'right' },
  { title: 'p50', align: 'right' },
  { title: 'p99', align: 'right' },
  { title: 'cpu', align: 'right' },
  { title: 'rounds', align: 'right' },
  { title: 'messages', align: 'right' },
  { title: 'sent', align: 'right' },
  { title: 'busiest', align: 'right' },
]

const notes = [
  'p50 and p99 are of rank 0, asleep between messages: with more processes than processors they tell more of the scheduler than of the algorithm.',
  'cpu is the processor time of all processes. Rounds, messages and bytes are counted in the schedules: messages and bytes sent by all, and bytes of the',
  'busiest process, those it sends or those it receives. chosen: what is taken by itself, and what is with deterministic.',
]

function cellsOf(row: CollectivesRow): string[] {
  const { op, algorithm, chosen, processes, bytes, p50Ns, p99Ns, cpuNsPerOp, rounds, messages, sentBytes } = row
  const times = [p50Ns, p99Ns, cpuNsPerOp].map((ns) => formatTime(ns / 1e6))
  const counts = [rounds, messages].map(formatCount)
  const lengths = [sentBytes, row.busiestBytes].map(formatBytes)
  return [op, algorithm, chosen, formatCount(processes), formatBytes(bytes), ...times, ...counts, ...lengths]
}
