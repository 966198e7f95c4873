import { type Distribution, distributionOf, tenths } from '../quantiles.ts'
import type { SchedulerCounts } from './scheduler-counts.ts'

/** What one way did in one round. */
export interface Round {
  /** Nanoseconds of single operations. */
  readonly samples: Float64Array
  readonly opsPerSec: number
  /** What the scheduler counted for the event loops of all ends meanwhile. */
  readonly scheduler: SchedulerCounts
  /** Operations in the same time. */
  readonly count: number
}

/**
 * One line of `aether bench messaging --loads` or `rpc --loads`, and one object of its `--json`. Every figure is the
 * median over the rounds; a ratio is that of the same round.
 */
export interface AlternatedRow extends Distribution {
  readonly op: string
  readonly provider: string
  readonly bytes: number
  /** Processes that computed without a pause meanwhile. */
  readonly busy: number
  readonly rounds: number
  readonly meanNs: number
  readonly opsPerSec: number
  /** Per operation, of the event loops of all ends; null where the kernel does not tell. */
  readonly cpuNsPerOp: number | null
  readonly delayNsPerOp: number | null
  readonly sleepsPerOp: number | null
  readonly preemptionsPerOp: number | null
  /** The way, as `op, provider`, that took turns with this one; null for that way itself, as are the ratios. */
  readonly baseline: string | null
  readonly p50Ratio: number | null
  readonly meanRatio: number | null
  readonly p99Ratio: number | null
  readonly rateRatio: number | null
}

/** What was measured, and beside how many busy processes. */
export type Measured = Pick<AlternatedRow, 'op' | 'bytes' | 'busy'>

/** Two ways and their rounds; the second is what the first is held against. */
export type TwoWays = readonly [WayRounds, WayRounds]

interface WayRounds {
  readonly provider: string
  readonly rounds: readonly Round[]
}

interface RoundFigures extends Distribution {
  readonly meanNs: number
  readonly opsPerSec: number
}

/** The rows of the two ways, which have as many rounds. */
export function alternatedRows(measured: Measured, [own, other]: TwoWays): AlternatedRow[] {
  const [ours, theirs] = [own.rounds.map(figuresOf), other.rounds.map(figuresOf)]
  const ratio = (of: (figures: RoundFigures) => number): number =>
    Number(median(ours.map((figures, round) => of(figures) / of(theirs[round]!))).toPrecision(4))
  return [
    {
      ...rowOf(measured, own, ours),
      baseline: `${measured.op}, ${other.provider}`,
      p50Ratio: ratio(({ p50Ns }) => p50Ns),
      meanRatio: ratio(({ meanNs }) => meanNs),
      p99Ratio: ratio(({ p99Ns }) => p99Ns),
      rateRatio: ratio(({ opsPerSec }) => opsPerSec),
    },
    {
      ...rowOf(measured, other, theirs),
      ...{ baseline: null, p50Ratio: null, meanRatio: null, p99Ratio: null, rateRatio: null },
    },
  ]
}

function figuresOf({ samples, opsPerSec }: Round): RoundFigures {
  const sumNs = samples.reduce((sum, ns) => sum + ns, 0)
  return { ...distributionOf(samples), meanNs: sumNs / samples.length, opsPerSec }
}

function rowOf(
  { op, bytes, busy }: Measured,
  { provider, rounds }: WayRounds,
  figures: readonly RoundFigures[],
): Omit<AlternatedRow, 'baseline' | 'p50Ratio' | 'meanRatio' | 'p99Ratio' | 'rateRatio'> {
  const ofAll = (of: (figures: RoundFigures) => number): number => tenths(median(figures.map(of)))
  const counted = (name: keyof SchedulerCounts, digits: number): number | null => {
    const perOp = median(rounds.map(({ scheduler, count }) => scheduler[name] / count))
    return Number.isFinite(perOp) ? Number(perOp.toFixed(digits)) : null
  }
  const quantilesNs = figures[0]!.quantilesNs.map((_, at) => ofAll((each) => each.quantilesNs[at]!))
  return {
    ...{ op, provider, bytes, busy, rounds: rounds.length },
    p50Ns: ofAll(({ p50Ns }) => p50Ns),
    meanNs: ofAll(({ meanNs }) => meanNs),
    p99Ns: ofAll(({ p99Ns }) => p99Ns),
    maxNs: ofAll(({ maxNs }) => maxNs),
    quantilesNs,
    opsPerSec: Math.round(median(figures.map((each) => each.opsPerSec))),
    cpuNsPerOp: counted('cpuNs', 1),
    delayNsPerOp: counted('delayNs', 1),
    sleepsPerOp: counted('sleeps', 3),
    preemptionsPerOp: counted('preemptions', 3),
  }
}

/** Of an even number, the mean of the two in the middle. NaN if one is. */
function median(values: readonly number[]): number {
  if (values.some(Number.isNaN)) return Number.NaN
  const sorted = Float64Array.from(values).sort()
  const middle = sorted.length >>> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
