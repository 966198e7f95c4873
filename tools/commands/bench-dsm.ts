import { integerOption, UsageError } from 'aether-dsm/internal/cli'
import {
  benchDsm,
  DEFAULT_CELL_MS,
  DEFAULT_ITERATIONS,
  type DsmBenchOptions,
  defaultDsmRanks,
  defaultPageBytes,
  protocolKinds,
} from '../bench/dsm.ts'
import { dsmKind } from '../bench/results/dsm-kind.ts'
import { type BenchOption, type BenchValues, millisecondsOf, numbersOf, wordsOf } from './bench-options.ts'
import { type PreparedBench, prepareBench } from './bench-run.ts'

const ranksMax = 16
const PAGE_BYTES_MIN = 4096
const pageBytesMax = 2 ** 22
const iterationsMax = 1_000_000

export const dsmTakes: readonly BenchOption[] = [
  'coherence',
  'ranks',
  'page-sizes',
  'iterations',
  'cell-ms',
  'spin-ms',
  'stages',
  'trace',
]

/** `aether bench dsm`. @throws UsageError */
export function dsmBenchOf(values: BenchValues): PreparedBench {
  return dsmBench({
    coherence: wordsOf('coherence', values.coherence, protocolKinds),
    ranks: numbersOf('ranks', values.ranks, defaultDsmRanks, 2, ranksMax),
    pageBytes: pageSizesOf(values['page-sizes']),
    iterations: integerOption(
      'bench',
      '--iterations',
      values.iterations ?? String(DEFAULT_ITERATIONS),
      10,
      iterationsMax,
    ),
    cellMs: millisecondsOf('cell-ms', values['cell-ms'], DEFAULT_CELL_MS, 0),
    stages: values.stages === true,
    ...(values['spin-ms'] !== undefined && { spinMs: millisecondsOf('spin-ms', values['spin-ms'], 0, 0) }),
  })
}

function pageSizesOf(text: string | undefined): readonly number[] {
  const sizes = numbersOf('page-sizes', text, defaultPageBytes, PAGE_BYTES_MIN, pageBytesMax)
  const wrong = sizes.find((bytes) => bytes % PAGE_BYTES_MIN !== 0)
  if (wrong === undefined) return sizes
  throw new UsageError(`--page-sizes takes multiples of ${PAGE_BYTES_MIN}, not '${wrong}'`, 'bench')
}

export function dsmBench(options: DsmBenchOptions): PreparedBench {
  return prepareBench({
    name: 'dsm',
    kind: dsmKind,
    // The launcher passes the signal on to the ranks.
    interruption: 'settle',
    measure: ({ progress, missing }) =>
      benchDsm({
        ...options,
        onRow: ({ op, coherence }) => progress(`${coherence}: ${op}`),
        onNoFloor: (reason) => missing('the exchange in C++', reason),
      }),
  })
}
