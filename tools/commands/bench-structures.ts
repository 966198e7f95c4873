import { formatBytes, formatCount } from 'aether-dsm/internal/cli'
import { DEFAULT_CELL_MS } from '../bench/dsm.ts'
import { structuresKind } from '../bench/results/structures-kind.ts'
import { storeNames } from '../bench/structures/bench-store.ts'
import { keyChoices } from '../bench/structures/key-sequence.ts'
import { estimateMs, planOf, type StructuresGrid } from '../bench/structures/plan.ts'
import { benchStructures } from '../bench/structures/structures.ts'
import { type BenchOption, type BenchValues, millisecondsOf, numbersOf, wordsOf } from './bench-options.ts'
import { type PreparedBench, prepareBench } from './bench-run.ts'

const processesMax = 64
/** The maximum length of a map's value. */
const bytesMax = 2 ** 20

type GridAxes = Pick<StructuresGrid, 'processes' | 'bytes' | 'keys' | 'writes'>

/** The default measurements, which take about a minute. */
export const quickGrid: GridAxes = {
  processes: [1, 2, 4, 8],
  bytes: [16, 1024],
  keys: ['uniform'],
  writes: [0, 50, 100],
}
/** The measurements with `--full`. */
export const fullGrid: GridAxes = {
  processes: [1, 2, 4, 8],
  bytes: [16, 256, 4096, 65_536],
  keys: keyChoices,
  writes: [0, 50, 100],
}

export const structuresTakes: readonly BenchOption[] = [
  'stores',
  'processes',
  'value-sizes',
  'keys',
  'writes',
  'full',
  'cell-ms',
]

/** `aether bench structures`. @throws UsageError */
export function structuresBenchOf(values: BenchValues): PreparedBench {
  const defaults = values.full === true ? fullGrid : quickGrid
  return structuresBench({
    stores: wordsOf('stores', values.stores, storeNames),
    processes: numbersOf('processes', values.processes, defaults.processes, 1, processesMax),
    bytes: numbersOf('value-sizes', values['value-sizes'], defaults.bytes, 1, bytesMax),
    keys: values.keys === undefined ? defaults.keys : wordsOf('keys', values.keys, keyChoices),
    writes: numbersOf('writes', values.writes, defaults.writes, 0, 100),
    timeMs: millisecondsOf('cell-ms', values['cell-ms'], DEFAULT_CELL_MS),
  })
}

export function structuresBench(grid: StructuresGrid): PreparedBench {
  const rounds = planOf(grid)
  const count = rounds.reduce((sum, { steps }) => sum + steps.length, 0)
  const wholeMs = estimateMs(rounds)
  return prepareBench({
    name: 'structures',
    kind: structuresKind,
    about: `${formatCount(count)} measurements, which take about ${formatDuration(wholeMs)} on an idle machine`,
    measure({ progress, missing }) {
      const began = performance.now()
      // On a busy machine, the rest takes as much longer as the part that is done.
      const slowness = (leftMs: number): number =>
        Math.max(1, (performance.now() - began) / Math.max(1, wholeMs - leftMs))
      return benchStructures({
        ...grid,
        onMissing: missing,
        onRow: ({ store, op, processes, bytes }, leftMs) =>
          progress(
            `${store}: ${op}, ${processes} ${processes === 1 ? 'process' : 'processes'}, ${formatBytes(bytes)}; about ${formatDuration(leftMs * slowness(leftMs))} left`,
          ),
      })
    },
  })
}

function formatDuration(ms: number): string {
  return ms < 100_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.ceil(ms / 60_000)} minutes`
}
