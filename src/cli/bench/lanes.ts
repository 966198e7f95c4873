import { native } from '../../native/index.ts'
import { distributionOf } from './quantiles.ts'
import { type BenchRow, perOperationNs } from './row.ts'

const SAMPLES_MIN = 20
const SAMPLES_MAX = 1 << 17
/** By then the engine has compiled the code for good, where it can within `timeMs`. */
const WARM_NS_MAX = 300e6

/** One operation, resolved when its answer has come. */
export type Lane = () => Promise<unknown>

/** Lanes side by side, each beginning its next operation when its last is done, so long that the engine has compiled them. */
export async function warmLanes(lanes: readonly Lane[], timeMs: number): Promise<void> {
  await run(lanes, Math.min(WARM_NS_MAX, timeMs * 1e6))
}

/** The same, measured. */
export function runLanes(lanes: readonly Lane[], timeMs: number): Promise<LanesRun> {
  return run(lanes, timeMs * 1e6)
}

/** A row of what one or several processes found at the same time: p50, p99 and max of single operations, from begin to answer; the rates added. */
export function laneRow(
  row: Pick<BenchRow, 'op' | 'provider' | 'bytes'>,
  runs: readonly LanesRun[],
  cpuNs: number,
): BenchRow {
  const opsPerSec = runs.map(({ count, tookNs }) => (1e9 * count) / tookNs).reduce((sum, rate) => sum + rate, 0)
  return {
    ...row,
    ...distributionOf(joined(runs.map(({ samples }) => samples))),
    opsPerSec: Math.round(opsPerSec),
    gbPerSec: Math.round((opsPerSec * row.bytes) / 1e4) / 1e5,
    cpuNsPerOp: perOperationNs(
      cpuNs,
      runs.map(({ count }) => count).reduce((sum, count) => sum + count, 0),
    ),
    baseline: null,
    ratio: null,
  }
}

function joined(parts: readonly Float64Array[]): Float64Array {
  const whole = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** What lanes of one process did. */
export interface LanesRun {
  readonly samples: Float64Array
  readonly count: number
  readonly tookNs: number
}

/** For `ns`, and until every lane has done something and all together {@link SAMPLES_MIN}. */
async function run(lanes: readonly Lane[], ns: number): Promise<LanesRun> {
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
      if (last - start > ns && count >= SAMPLES_MIN) return
    }
  }
  await Promise.all(lanes.map(keepGoing))
  return { samples: samples.slice(0, Math.min(count, SAMPLES_MAX)), count, tookNs: last - start }
}
