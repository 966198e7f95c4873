import { METRICS_BYTES, QueueOffset } from './layout.ts'
import type { QueueState } from './queue-state.ts'

/** All jobs that finished, when the last point was added, and the count then; the points as JSON, newest first. */
export const MetricsOffset = { Count: 0, LastMs: 8, LastCount: 16, Points: 24 } as const
const POINT_MS = 60_000

export type FinishedState = 'completed' | 'failed'

/** A job finished: count it, in points of one minute. */
export function countFinished(queue: QueueState, state: FinishedState, pointsMax: number, nowMs: number): void {
  const { memory, texts } = queue.store
  const at = placeOf(queue, state)
  const count = memory.float(at + MetricsOffset.Count)
  memory.setFloat(at + MetricsOffset.Count, count + 1)
  const lastMs = memory.float(at + MetricsOffset.LastMs)
  if (lastMs === 0) {
    memory.setFloat(at + MetricsOffset.LastMs, nowMs)
    return
  }
  const minutes = Math.min(Math.floor(nowMs / POINT_MS) - Math.floor(lastMs / POINT_MS), pointsMax)
  if (minutes <= 0) return
  const added = new Array<number>(minutes).fill(0)
  // The points lie newest first, and BullMQ's own scripts push the count first.
  added[minutes - 1] = count - memory.float(at + MetricsOffset.LastCount)
  const points = [...added, ...pointsAt(queue, at)].slice(0, pointsMax)
  texts.replace(at + MetricsOffset.Points, JSON.stringify(points))
  memory.setFloat(at + MetricsOffset.LastCount, count)
  memory.setFloat(at + MetricsOffset.LastMs, nowMs)
}

/** As BullMQ reads them: count, time and count of the last point; points from `start` to `end`; how many there are. */
export function readMetrics(
  queue: QueueState,
  state: FinishedState,
  start: number,
  end: number,
): [string[], string[], number] {
  const { memory } = queue.store
  const at = placeOf(queue, state)
  const points = pointsAt(queue, at)
  const from = start < 0 ? Math.max(0, start + points.length) : start
  const to = end < 0 ? end + points.length : end
  const words = [MetricsOffset.Count, MetricsOffset.LastMs, MetricsOffset.LastCount].map((offset) =>
    memory.float(at + offset),
  )
  const isThere = words[0] !== 0
  const meta = words.map((word) => (isThere ? `${word}` : (null as unknown as string)))
  return [meta, points.slice(from, to + 1).map(String), points.length]
}

export function clearMetrics(queue: QueueState): void {
  for (const state of ['completed', 'failed'] as const) {
    const at = placeOf(queue, state)
    for (const offset of [MetricsOffset.Count, MetricsOffset.LastMs, MetricsOffset.LastCount])
      queue.store.memory.setFloat(at + offset, 0)
    queue.store.texts.replace(at + MetricsOffset.Points, undefined)
  }
}

function pointsAt(queue: QueueState, at: number): number[] {
  return JSON.parse(queue.store.texts.at(at + MetricsOffset.Points) ?? '[]') as number[]
}

function placeOf(queue: QueueState, state: FinishedState): number {
  return queue.at + QueueOffset.Metrics + (state === 'completed' ? 0 : METRICS_BYTES)
}
