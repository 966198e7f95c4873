import { setImmediate as nextTurn } from 'node:timers/promises'
import { native } from 'aether-dsm/internal/native'
import type { Measurement } from './row.ts'

/** The minimum length of a batch, so that reading the clock (about 50 ns) is noise. */
const BATCH_NS_MIN = 4000
const BATCH_MAX = 1 << 14
/** By then the engine has compiled the code for good. */
const WARM_OPERATIONS = 50_000
/**
 * They may take so long at most, whatever time is measured. Where that would be too few of them, code that is not
 * compiled yet would be measured: an operation may take long by nature, or because two ends that spin leave no
 * processor to the threads that compile. So it may be more, in times of the measured time: ten up to two seconds, three
 * beyond.
 */
const WARM_NS_MAX = 300e6
const WARM_TIMES_SHORT = 10
const WARM_NS_SHORT = 2e9
const WARM_TIMES = 3

function warmNsMax(timeNs: number): number {
  return Math.max(WARM_NS_MAX, Math.min(WARM_NS_SHORT, WARM_TIMES_SHORT * timeNs), WARM_TIMES * timeNs)
}
const BATCHES_MIN = 20
const PAUSE_NS = 200e6
const BATCHES_MAX = 1 << 17

/** Runs `count` operations, each begun when the one before is done. */
export type Operations = (count: number) => void

/**
 * Measure for about `timeMs` after warming up. `remoteCpuNs` reads the other end's processor time; it is read outside
 * of the measured time.
 */
export async function measure(
  operations: Operations,
  timeMs: number,
  remoteCpuNs: () => Promise<number>,
): Promise<Measurement> {
  const batchSize = await fittingBatch(operations, timeMs)
  const remoteBefore = await remoteCpuNs()
  const localBefore = native.processorNs(true)
  const batchNs = await run(operations, batchSize, timeMs)
  const localCpu = native.processorNs(true) - localBefore
  const remoteCpu = (await remoteCpuNs()) - remoteBefore
  return { batchSize, batchNs, cpuNs: localCpu + remoteCpu }
}

/** Warm up, so that the code is compiled; then double the batch until even its fastest run is long enough. */
async function fittingBatch(operations: Operations, timeMs: number): Promise<number> {
  const began = native.monotonicNs()
  const pause = new Pause()
  const mostNs = warmNsMax(timeMs * 1e6)
  for (let done = 0, nowNs = began; ; nowNs = native.monotonicNs()) {
    const enough = nowNs - began >= timeMs * 1e6 && done >= WARM_OPERATIONS
    if (enough || nowNs - began >= mostNs) break
    operations(16)
    done += 16
    if (pause.isDue(nowNs)) await pause.take()
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

async function run(operations: Operations, batchSize: number, timeMs: number): Promise<Float64Array> {
  const batchNs = new Float64Array(BATCHES_MAX)
  const until = native.monotonicNs() + timeMs * 1e6
  const pause = new Pause()
  let count = 0
  for (let began = native.monotonicNs(); count < BATCHES_MAX; ) {
    operations(batchSize)
    const ended = native.monotonicNs()
    batchNs[count] = ended - began
    count += 1
    began = ended
    if (count >= BATCHES_MIN && ended > until) break
    if (pause.isDue(ended)) {
      await pause.take()
      began = native.monotonicNs()
    }
  }
  return batchNs.slice(0, count)
}

/** Now and then the event loop has a turn between two batches: a signal to end is heard while it spins. */
class Pause {
  #dueNs = native.monotonicNs() + PAUSE_NS

  isDue(nowNs: number): boolean {
    return nowNs > this.#dueNs
  }

  async take(): Promise<void> {
    await nextTurn()
    this.#dueNs = native.monotonicNs() + PAUSE_NS
  }
}

/** For measurements without another end. */
export const noRemote = async (): Promise<number> => 0
