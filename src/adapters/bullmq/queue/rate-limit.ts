import { Flag, QueueOffset } from './layout.ts'
import type { QueueState } from './queue-state.ts'

/** The jobs taken in the current window of a queue's rate limit. */
export class RateLimit {
  readonly #queue: QueueState

  constructor(queue: QueueState) {
    this.#queue = queue
  }

  /** Take no jobs for `durationMs`. */
  block(durationMs: number): void {
    this.#set(Number.MAX_SAFE_INTEGER, this.#queue.store.nowMs() + durationMs)
  }

  /** A job is taken; the first one begins a window of `durationMs`. */
  count(durationMs: number): void {
    const taken = this.#taken() + 1
    const { memory } = this.#queue.store
    if (taken === 1) this.#set(1, this.#queue.store.nowMs() + Math.floor(Math.abs(durationMs)))
    else memory.setFloat(this.#queue.at + QueueOffset.LimiterCount, taken)
  }

  /** How long no job may be taken, if `jobsMax` are allowed in a window. */
  waitMs(jobsMax: number | undefined): number {
    return jobsMax !== undefined && jobsMax > 0 && jobsMax <= this.#taken() ? Math.max(0, this.leftMs()) : 0
  }

  /** What is left of the window; -2 if there is none, -1 if it has no end, as Redis has it. */
  leftMs(): number {
    if (!this.#isThere()) return -2
    const end = this.#queue.store.memory.float(this.#queue.at + QueueOffset.LimiterEnd)
    return end === 0 ? -1 : Math.ceil(end - this.#queue.store.nowMs())
  }

  /** False if there was none. */
  remove(): boolean {
    const there = this.#isThere()
    if (there) this.#queue.setFlag(Flag.Limiter, false)
    return there
  }

  #taken(): number {
    return this.#isThere() ? this.#queue.store.memory.float(this.#queue.at + QueueOffset.LimiterCount) : 0
  }

  #isThere(): boolean {
    if (!this.#queue.flag(Flag.Limiter)) return false
    const end = this.#queue.store.memory.float(this.#queue.at + QueueOffset.LimiterEnd)
    return end === 0 || end > this.#queue.store.nowMs()
  }

  #set(count: number, end: number): void {
    const { memory } = this.#queue.store
    memory.setFloat(this.#queue.at + QueueOffset.LimiterCount, count)
    memory.setFloat(this.#queue.at + QueueOffset.LimiterEnd, end)
    this.#queue.setFlag(Flag.Limiter, true)
  }
}
