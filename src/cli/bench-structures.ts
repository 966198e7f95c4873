import { cpus, release } from 'node:os'
import { type StoreName, storeNames } from './bench/structures/bench-store.ts'
import { keyChoices } from './bench/structures/key-sequence.ts'
import { estimateMs, planOf, type StructuresGrid } from './bench/structures/plan.ts'
import { benchStructures } from './bench/structures/structures.ts'
import type { StructuresRow } from './bench/structures/structures-row.ts'
import { showStructuresBench } from './bench-structures-view.ts'
import { ExitCode } from './command.ts'
import { integerOption, wordOption } from './options.ts'
import { Screen } from './output/screen.ts'
import { formatBytes, formatCount } from './output/units.ts'

const processesMax = 64
/** As long as values of a map may be. */
const bytesMax = 2 ** 20
const cellMsMax = 60_000

type GridAxes = Pick<StructuresGrid, 'processes' | 'bytes' | 'keys' | 'writes'>

/** What is measured unless told otherwise: about a minute. */
export const quickGrid: GridAxes = {
  processes: [1, 2, 4, 8],
  bytes: [16, 1024],
  keys: ['uniform'],
  writes: [0, 50, 100],
}
/** And with `--full`. */
export const fullGrid: GridAxes = {
  processes: [1, 2, 4, 8],
  bytes: [16, 256, 4096, 65_536],
  keys: keyChoices,
  writes: [0, 50, 100],
}

/** The options that `aether bench structures` takes, as text. */
export interface StructuresBenchValues {
  readonly stores: string
  readonly processes?: string | undefined
  readonly 'value-sizes'?: string | undefined
  readonly keys?: string | undefined
  readonly writes?: string | undefined
  readonly full: boolean
  readonly 'cell-ms': string
  readonly json: boolean
}

/** `aether bench structures`. */
export async function runStructuresBench(values: StructuresBenchValues): Promise<number> {
  const grid = gridOf(values)
  const screen = new Screen(values.json ? undefined : process.stdout)
  const [processor] = cpus()
  screen.line(`structures on ${cpus().length} processors, ${processor?.model ?? 'of unknown kind'}, Linux ${release()}`)
  const rounds = planOf(grid)
  const count = rounds.reduce((sum, { steps }) => sum + steps.length, 0)
  const wholeMs = estimateMs(rounds)
  screen.line(
    `${formatCount(count)} measurements, which take about ${formatDuration(wholeMs)} where nothing else goes on`,
  )
  screen.line()
  const began = performance.now()
  // Where other things go on, the rest takes as much longer as what is done did.
  const slowness = (leftMs: number): number => Math.max(1, (performance.now() - began) / Math.max(1, wholeMs - leftMs))
  const onRow = ({ store, op, processes, bytes }: StructuresRow, leftMs: number): void =>
    screen.progress(
      `${store}: ${op}, ${processes} ${processes === 1 ? 'process' : 'processes'}, ${formatBytes(bytes)}, done; about ${formatDuration(leftMs * slowness(leftMs))} left`,
    )
  // Standard output is for the rows.
  const onMissing = (store: StoreName, why: string): void => void process.stderr.write(`without ${store}: ${why}\n`)
  const rows = await benchStructures({ ...grid, onRow, onMissing })
  showStructuresBench(screen, rows)
  if (values.json) process.stdout.write(`${JSON.stringify(rows, undefined, 2)}\n`)
  return ExitCode.Done
}

function formatDuration(ms: number): string {
  return ms < 100_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.ceil(ms / 60_000)} minutes`
}

function gridOf(values: StructuresBenchValues): StructuresGrid {
  const defaults = values.full ? fullGrid : quickGrid
  const numbers = (
    option: string,
    text: string | undefined,
    fallback: readonly number[],
    min: number,
    max: number,
  ): readonly number[] => text?.split(',').map((each) => integerOption('bench', option, each, min, max)) ?? fallback
  return {
    stores: values.stores.split(',').map((word) => wordOption('bench', '--stores', word, storeNames)),
    processes: numbers('--processes', values.processes, defaults.processes, 1, processesMax),
    bytes: numbers('--value-sizes', values['value-sizes'], defaults.bytes, 1, bytesMax),
    keys: values.keys?.split(',').map((word) => wordOption('bench', '--keys', word, keyChoices)) ?? defaults.keys,
    writes: numbers('--writes', values.writes, defaults.writes, 0, 100),
    timeMs: integerOption('bench', '--cell-ms', values['cell-ms'], 1, cellMsMax),
  }
}
