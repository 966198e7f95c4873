import { formatBytes } from 'aether-dsm/internal/cli'
import { collectiveNames } from 'aether-dsm/internal/collectives'
import { openDevice } from 'aether-dsm/internal/verbs'
import { benchCollectives, type CollectivesBenchOptions } from '../bench/collectives.ts'
import { DEFAULT_CELL_MS } from '../bench/dsm.ts'
import { collectivesKind } from '../bench/results/collectives-kind.ts'
import {
  type BenchOption,
  type BenchValues,
  deviceDefault,
  millisecondsOf,
  numbersOf,
  wordsOf,
} from './bench-options.ts'
import { type PreparedBench, prepareBench } from './bench-run.ts'

/** On both sides of every threshold of `src/collectives/choose.ts`. */
const defaultProcesses: readonly number[] = [4, 8]
const defaultBytes: readonly number[] = [64, 1024, 16_384, 131_072, 1_048_576]
const processesMax = 64
const bytesMax = 2 ** 28

export const collectivesTakes: readonly BenchOption[] = ['device', 'collectives', 'processes', 'value-sizes', 'cell-ms']

/**
 * `aether bench collectives`. @throws UsageError, and AetherError if there is no such device, before other processes
 * fail because of it.
 */
export function collectivesBenchOf(values: BenchValues): PreparedBench {
  const options = {
    device: values.device ?? deviceDefault,
    collectives: wordsOf('collectives', values.collectives, collectiveNames),
    processes: numbersOf('processes', values.processes, defaultProcesses, 1, processesMax),
    sizes: numbersOf('value-sizes', values['value-sizes'], defaultBytes, 1, bytesMax),
    cellMs: millisecondsOf('cell-ms', values['cell-ms'], DEFAULT_CELL_MS),
  }
  openDevice(options.device).close()
  return collectivesBench(options)
}

export function collectivesBench(options: CollectivesBenchOptions): PreparedBench {
  return prepareBench({
    name: 'collectives',
    kind: collectivesKind,
    measure: ({ progress }) =>
      benchCollectives({
        ...options,
        onRow: ({ op, algorithm, processes, bytes }) =>
          progress(`${op} by ${algorithm}, ${processes} processes, ${formatBytes(bytes)}`),
      }),
  })
}
