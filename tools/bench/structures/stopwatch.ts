import { native } from 'aether-dsm/internal/native'
import type { Samples } from './job.ts'

/** Runs `count` operations. Gives a promise where they are waited for. */
export type Batch = (count: number) => void | Promise<void>

/**
 * The minimum length of a batch: long enough that reading the clock (about 50 ns) is noise, and shorter than a time
 * slice of the operating system.
 */
const BATCH_NS_MIN = 20_000
const BATCH_MAX = 4096
/** Of this thread's own time: what neighbours take of the processor makes nothing warm. */
const WARM_PROCESSOR_MS_MAX = 200
const BATCHES_MIN = 20
const BATCHES_MAX = 2 ** 17

/**
 * How long warming up takes for something that is measured for `timeMs`: until the engine has compiled it, but not much
 * longer than is measured.
 */
export function warmProcessorMs(timeMs: number): number {
  return Math.min(WARM_PROCESSOR_MS_MAX, 4 * timeMs)
}

/** Run until the engine has compiled the code; gives how many operations make a batch. */
export async function warmUp(batch: Batch, waits: boolean, timeMs: number): Promise<number> {
  const until = native.processorNs(true) + warmProcessorMs(timeMs) * 1e6
  while (native.processorNs(true) < until) {
    const pending = batch(waits ? 1 : 64)
    if (pending !== undefined) await pending
  }
  // What is waited for takes longer than the clock, each alone: its slow ones are seen.
  if (waits) return 1
  let size = 1
  while (size < BATCH_MAX && (await fastest(batch, size)) < BATCH_NS_MIN) size *= 2
  return size
}

async function fastest(batch: Batch, size: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let trial = 0; trial < 5; trial += 1) best = Math.min(best, await timed(batch, size))
  return best
}

async function timed(batch: Batch, size: number): Promise<number> {
  const began = native.monotonicNs()
  const pending = batch(size)
  if (pending !== undefined) await pending
  return native.monotonicNs() - began
}

/** Take turns at the batches for some time: each its samples. */
export async function measureTurns(
  turns: readonly { readonly op: string; readonly batch: Batch }[],
  size: number,
  timeMs: number,
): Promise<Samples[]> {
  const found = turns.map(() => new Float64Array(BATCHES_MAX))
  const until = native.monotonicNs() + timeMs * 1e6
  let count = 0
  while (count < BATCHES_MAX && (count < BATCHES_MIN || native.monotonicNs() < until)) {
    for (const [turn, { batch }] of turns.entries()) found[turn]![count] = await timed(batch, size)
    count += 1
  }
  return turns.map(({ op }, turn) => {
    const taken = found[turn]!.slice(0, count)
    const totalNs = taken.reduce((sum, ns) => sum + ns, 0)
    return { op, ns: taken.map((ns) => ns / size), operations: count * size, totalNs }
  })
}
