import { protocols } from 'aether-dsm/internal/dsm'
import { scalingKind } from '../bench/results/scaling-kind.ts'
import { countScaling } from '../bench/scaling/scaling.ts'
import { type BenchOption, type BenchValues, numbersOf } from './bench-options.ts'
import { type PreparedBench, prepareBench } from './bench-run.ts'

/** Default sizes of the table. */
export const defaultScalingRanks: readonly number[] = [2, 4, 16, 64, 256, 1024]
const ranksMax = 4096
const pageBytes = 4096

export const scalingTakes: readonly BenchOption[] = ['nodes']

/** `aether bench scaling`. @throws UsageError */
export function scalingBenchOf(values: BenchValues): PreparedBench {
  return scalingBench(numbersOf('nodes', values.nodes, defaultScalingRanks, 2, ranksMax))
}

export function scalingBench(ranks: readonly number[]): PreparedBench {
  return prepareBench({
    name: 'scaling',
    kind: scalingKind,
    interruption: 'kill',
    measure: ({ progress }) =>
      countScaling({
        protocols: [...protocols.values()],
        ranks,
        pageBytes,
        onRow: ({ protocol, miss, ranks: size }) => progress(`${protocol}, ${miss}, ${size} nodes`),
      }),
  })
}
