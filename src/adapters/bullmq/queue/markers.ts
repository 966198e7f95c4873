import type { Store } from '../store/store.ts'
import { Flag, QueueOffset, type StateName } from './layout.ts'
import type { QueueFlags } from './queue-flags.ts'

/** A delayed job's score is its time, then its place among the jobs of that millisecond. */
export const DELAYED_PER_MS = 0x1000

/** A marker that wakes a worker: `0`: there are jobs; `1`: at that time there will be a delayed one. */
export interface Marker {
  readonly member: string
  readonly score: number
}

/** The queue that workers wait for. */
interface MarkedQueue {
  readonly name: string
  readonly store: Store
  readonly flags: QueueFlags
  /** Where its record begins. */
  readonly at: number
  first(state: StateName): number
  score(state: StateName, job: number): number
}

/** What the idle workers of a queue wait for. The worker that is woken takes the marker with it. */
export class Markers {
  readonly #queue: MarkedQueue

  constructor(queue: MarkedQueue) {
    this.#queue = queue
  }

  /** There is a job to take. */
  addJobs(isPausedOrMaxed: boolean): void {
    if (isPausedOrMaxed) return
    this.#queue.flags.set(Flag.Jobs, true)
    this.#queue.store.announce('jobs', this.#queue.name)
  }

  /** Workers have to know when the next delayed job is due. */
  addDelay(): void {
    const next = this.nextDelayed()
    if (next === undefined) return
    this.#queue.store.memory.setFloat(this.#queue.at + QueueOffset.DelayMarker, next)
    this.#queue.flags.set(Flag.Delay, true)
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
    if (queue.flags.has(Flag.Jobs)) {
      queue.flags.set(Flag.Jobs, false)
      return { member: '0', score: 0 }
    }
    if (!queue.flags.has(Flag.Delay)) return undefined
    queue.flags.set(Flag.Delay, false)
    return { member: '1', score: Math.trunc(queue.store.memory.float(queue.at + QueueOffset.DelayMarker)) }
  }

  clear(): void {
    this.#queue.flags.set(Flag.Jobs, false)
    this.#queue.flags.set(Flag.Delay, false)
  }
}
