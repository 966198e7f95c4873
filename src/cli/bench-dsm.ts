import {
  benchDsm,
  DEFAULT_CELL_MS,
  DEFAULT_ITERATIONS,
  type DsmBenchOptions,
  defaultDsmRanks,
  defaultPageBytes,
  protocolKinds,
} from './bench/dsm.ts'
import { dsmKind } from './bench/results/dsm-kind.ts'
import { type BenchOption, type BenchValues, millisecondsOf, numbersOf, wordsOf } from './bench-options.ts'
import { type PreparedBench, prepareBench } from './bench-run.ts'
import { integerOption } from './options.ts'

const ranksMax = 16
const pageBytesMax = 2 ** 22
const iterationsMax = 1_000_000

export const dsmTakes: readonly BenchOption[] = ['coherence', 'ranks', 'page-sizes', 'iterations', 'cell-ms', 'trace']

/** `aether bench dsm`. @throws UsageError */
export function dsmBenchOf(values: BenchValues): PreparedBench {
  return dsmBench({
    coherence: wordsOf('coherence', values.coherence, protocolKinds),
    ranks: numbersOf('ranks', values.ranks, defaultDsmRanks, 2, ranksMax),
    pageBytes: numbersOf('page-sizes', values['page-sizes'], defaultPageBytes, 4096, pageBytesMax),
    iterations: integerOption(
      'bench',
      '--iterations',
      values.iterations ?? String(DEFAULT_ITERATIONS),
      10,
      iterationsMax,
    ),
    cellMs: millisecondsOf('cell-ms', values['cell-ms'], DEFAULT_CELL_MS, 0),
  })
}

export function dsmBench(options: DsmBenchOptions): PreparedBench {
  return prepareBench({
    name: 'dsm',
    kind: dsmKind,
    measure: ({ progress }) => benchDsm({ ...options, onRow: ({ op, coherence }) => progress(`${coherence}: ${op}`) }),
  })
}
