import { native } from '../../native/index.ts'
import type { BenchRow } from './row.ts'

const SAMPLES_MIN = 20
const SAMPLES_MAX = 1 << 18
/** By then the engine has compiled the code for good, where it can within `timeMs`. */
const WARM_NS_MAX = 300e6

/** One operation, resolved when its answer has come. */
export type Lane = () => Promise<unknown>

/**
 * Lanes side by side, each beginning its next operation when its last is done. p50, p99 and max are of single operations, from begin to answer; the rate is of all lanes.
 * `remoteCpuNs` reads the other end's processor time, outside of what is measured.
 */
export async function benchLanes(
  row: Pick<BenchRow, 'op' | 'provider' | 'bytes'>,
  lanes: readonly Lane[],
  timeMs: number,
  remoteCpuNs: () => Promise<number>,
): Promise<BenchRow> {
  await run(lanes, Math.min(WARM_NS_MAX, timeMs * 1e6))
  const cpuBefore = (await remoteCpuNs()) + native.processorNs(true)
  const { samples, count, tookNs } = await run(lanes, timeMs * 1e6)
  const cpuNs = native.processorNs(true) + (await remoteCpuNs()) - cpuBefore
  const at = (share: number): number => samples[Math.min(samples.length - 1, Math.floor(share * samples.length))]!
  const opsPerSec = (1e9 * count) / tookNs
  return {
    ...row,
    p50Ns: at(0.5),
    p99Ns: at(0.99),
    maxNs: at(1),
    opsPerSec: Math.round(opsPerSec),
    gbPerSec: Math.round((opsPerSec * row.bytes) / 1e4) / 1e5,
    cpuNsPerOp: Math.round(Math.max(0, cpuNs) / count),
  }
}

interface LanesRun {
  /** In order of length. */
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
  return { samples: samples.slice(0, Math.min(count, SAMPLES_MAX)).sort(), count, tookNs: last - start }
}
