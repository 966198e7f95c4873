import { native } from '../../native/index.ts'
import type { Measurement } from './row.ts'

/** A batch lasts at least so long that reading the clock (some 50 ns) is noise. */
const BATCH_NS_MIN = 4000
const BATCH_MAX = 1 << 14
/** By then the engine has compiled the code for good. */
const WARM_OPERATIONS = 50_000
const WARM_NS_MAX = 300e6
/** Or, where an operation takes so long that these are few, so many times the measured time: code that is not compiled yet would be measured, mostly. */
const WARM_TIMES = 3
const BATCHES_MIN = 20
const BATCHES_MAX = 1 << 17

/** Runs `count` operations, each begun when the one before is done. */
export type Operations = (count: number) => void

/** Measure for about `timeMs` after warming up. `remoteCpuNs` reads the other end's processor time; it is read outside of the measured time. */
export async function measure(
  operations: Operations,
  timeMs: number,
  remoteCpuNs: () => Promise<number>,
): Promise<Measurement> {
  const batchSize = fittingBatch(operations, timeMs)
  const remoteBefore = await remoteCpuNs()
  const localBefore = native.processorNs(true)
  const batchNs = run(operations, batchSize, timeMs)
  const localCpu = native.processorNs(true) - localBefore
  const remoteCpu = (await remoteCpuNs()) - remoteBefore
  return { batchSize, batchNs, cpuNs: localCpu + remoteCpu }
}

/** Warm up, so that the code is compiled; then double the batch until even its fastest run is long enough. */
function fittingBatch(operations: Operations, timeMs: number): number {
  const began = native.monotonicNs()
  const mostNs = Math.max(WARM_NS_MAX, WARM_TIMES * timeMs * 1e6)
  for (let done = 0, nowNs = began; ; nowNs = native.monotonicNs()) {
    const enough = nowNs - began >= timeMs * 1e6 && done >= WARM_OPERATIONS
    if (enough || nowNs - began >= mostNs) break
    operations(16)
    done += 16
  }
  let size = 1
  while (size < BATCH_MAX && fastest(operations, size) < BATCH_NS_MIN) size *= 2
  return size
}

function fastest(operations: Operations, size: number): number {
  let best = Number.POSITIVE_INFINITY
  for (let trial = 0; trial < 5; trial += 1) {
    const began = native.monotonicNs()
    operations(size)
    best = Math.min(best, native.monotonicNs() - began)
  }
  return best
}

function run(operations: Operations, batchSize: number, timeMs: number): Float64Array {
  const batchNs = new Float64Array(BATCHES_MAX)
  const until = native.monotonicNs() + timeMs * 1e6
  let count = 0
  for (let began = native.monotonicNs(); count < BATCHES_MAX; ) {
    operations(batchSize)
    const ended = native.monotonicNs()
    batchNs[count] = ended - began
    count += 1
    began = ended
    if (count >= BATCHES_MIN && ended > until) break
  }
  return batchNs.slice(0, count)
}

/** For measurements with nobody at the other end. */
export const noRemote = async (): Promise<number> => 0
