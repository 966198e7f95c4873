import { native } from 'aether-dsm/internal/native'
import { distributionOf, joined } from './quantiles.ts'
import { type BenchRow, perOperationNs } from './row.ts'

const SAMPLES_MIN = 20
const SAMPLES_MAX = 1 << 17
/** By then the engine has compiled the code for good. */
const WARM_OPERATIONS = 20_000
/**
 * Where operations take long, so many times the measured time is enough, up to a second: threads that compile have to
 * share processors with ends that spin.
 */
const WARM_TIMES = 5
const WARM_NS_MAX = 1e9

/** One operation, resolved when its answer has come. */
export type Lane = () => Promise<unknown>

/**
 * Lanes side by side, each beginning its next operation when its last is done, so long that the engine has compiled
 * them.
 */
export async function warmLanes(lanes: readonly Lane[], timeMs: number): Promise<void> {
  const measuredNs = timeMs * 1e6
  const mostNs = Math.min(WARM_NS_MAX, WARM_TIMES * measuredNs)
  const isWarm = (count: number, ns: number): boolean => ns > mostNs || (ns > measuredNs && count >= WARM_OPERATIONS)
  await run(lanes, isWarm)
}

/** The same, measured. */
export function runLanes(lanes: readonly Lane[], timeMs: number): Promise<LanesRun> {
  return run(lanes, (count, ns) => ns > timeMs * 1e6 && count >= SAMPLES_MIN)
}

/**
 * A row from the measurements of one or several processes at the same time. It has p50, p99 and max of single
 * operations, from start to answer, and the sum of the rates.
 */
export function laneRow(
  row: Pick<BenchRow, 'op' | 'provider' | 'bytes'>,
  runs: readonly LanesRun[],
  cpuNs: number,
): BenchRow {
  const { samples, count, opsPerSec } = together(runs)
  return {
    ...row,
    ...distributionOf(samples),
    opsPerSec: Math.round(opsPerSec),
    gbPerSec: Math.round((opsPerSec * row.bytes) / 1e4) / 1e5,
    cpuNsPerOp: perOperationNs(cpuNs, count),
    baseline: null,
    ratio: null,
  }
}

/** What several processes did at the same time: the samples and the number of all, and the sum of the rates. */
export function together(runs: readonly LanesRun[]): {
  readonly samples: Float64Array
  readonly count: number
  readonly opsPerSec: number
} {
  return {
    samples: joined(runs.map(({ samples }) => samples)),
    count: runs.reduce((sum, { count }) => sum + count, 0),
    opsPerSec: runs.reduce((sum, { count, tookNs }) => sum + (1e9 * count) / tookNs, 0),
  }
}

/** What lanes of one process did. */
export interface LanesRun {
  readonly samples: Float64Array
  readonly count: number
  readonly tookNs: number
}

/**
 * Until `isEnough` says so of the operations that all have done and the time that is over; every lane has done
 * something then.
 */
async function run(lanes: readonly Lane[], isEnough: (count: number, ns: number) => boolean): Promise<LanesRun> {
  const samples = new Float64Array(SAMPLES_MAX)
  let count = 0
  const start = native.monotonicNs()
  let last = start
  const keepGoing = async (lane: Lane): Promise<void> => {
    for (let began = native.monotonicNs(); ; ) {
      await lane()
      last = native.monotonicNs()
      // Beyond, the newest take the places of the oldest.
      samples[count % SAMPLES_MAX] = last - began
      count += 1
      began = last
      if (isEnough(count, last - start)) return
    }
  }
  await Promise.all(lanes.map(keepGoing))
  return { samples: samples.slice(0, Math.min(count, SAMPLES_MAX)), count, tookNs: last - start }
}
