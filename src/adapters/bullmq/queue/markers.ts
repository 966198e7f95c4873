import { Flag, QueueOffset } from './layout.ts'
import type { QueueState } from './queue-state.ts'

/** A delayed job's score is its time, then its place among the jobs of that millisecond. */
export const DELAYED_PER_MS = 0x1000

/** A marker that wakes a worker: `0`: there are jobs; `1`: at that time there will be a delayed one. */
export interface Marker {
  readonly member: string
  readonly score: number
}

/** What the idle workers of a queue wait for. The worker that is woken takes the marker with it. */
export class Markers {
  readonly #queue: QueueState

  constructor(queue: QueueState) {
    this.#queue = queue
  }

  /** There is a job to take. */
  addJobs(isPausedOrMaxed: boolean): void {
    if (isPausedOrMaxed) return
    this.#queue.setFlag(Flag.Jobs, true)
    this.#queue.store.announce('jobs', this.#queue.name)
  }

  /** Workers have to know when the next delayed job is due. */
  addDelay(): void {
    const next = this.nextDelayed()
    if (next === undefined) return
    this.#queue.store.memory.setFloat(this.#queue.at + QueueOffset.DelayMarker, next)
    this.#queue.setFlag(Flag.Delay, true)
    this.#queue.store.announce('jobs', this.#queue.name)
  }

  /** When the next delayed job is due, in ms since 1970. */
  nextDelayed(): number | undefined {
    const first = this.#queue.first('delayed')
    return first === 0 ? undefined : this.#queue.score('delayed', first) / DELAYED_PER_MS
  }

  /** The marker with the lowest score. */
  take(): Marker | undefined {
    const queue = this.#queue
    if (queue.flag(Flag.Jobs)) {
      queue.setFlag(Flag.Jobs, false)
      return { member: '0', score: 0 }
    }
    if (!queue.flag(Flag.Delay)) return undefined
    queue.setFlag(Flag.Delay, false)
    return { member: '1', score: Math.trunc(queue.store.memory.float(queue.at + QueueOffset.DelayMarker)) }
  }

  clear(): void {
    this.#queue.setFlag(Flag.Jobs, false)
    this.#queue.setFlag(Flag.Delay, false)
  }
}
