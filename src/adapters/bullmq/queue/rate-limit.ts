import type { Store } from '../store/store.ts'
import { Flag, QueueOffset } from './layout.ts'
import type { QueueFlags } from './queue-flags.ts'

/** The jobs taken in the current window of a queue's rate limit. */
export class RateLimit {
  readonly #store: Store
  readonly #at: number
  readonly #flags: QueueFlags

  /** `at`: where the record of the queue begins. */
  constructor(store: Store, at: number, flags: QueueFlags) {
    this.#store = store
    this.#at = at
    this.#flags = flags
  }

  /** Take no jobs for `durationMs`. */
  block(durationMs: number): void {
    this.#set(Number.MAX_SAFE_INTEGER, this.#store.nowMs() + durationMs)
  }

  /** A job is taken; the first one begins a window of `durationMs`. */
  count(durationMs: number): void {
    const taken = this.#taken() + 1
    const { memory } = this.#store
    if (taken === 1) this.#set(1, this.#store.nowMs() + Math.floor(Math.abs(durationMs)))
    else memory.setFloat(this.#at + QueueOffset.LimiterCount, taken)
  }

  /** How long no job may be taken, if `jobsMax` are allowed in a window. */
  waitMs(jobsMax: number | undefined): number {
    return jobsMax !== undefined && jobsMax > 0 && jobsMax <= this.#taken() ? Math.max(0, this.leftMs()) : 0
  }

  /** What is left of the window; -2 if there is none, -1 if it has no end, as Redis has it. */
  leftMs(): number {
    if (!this.#isThere()) return -2
    const end = this.#store.memory.float(this.#at + QueueOffset.LimiterEnd)
    return end === 0 ? -1 : Math.ceil(end - this.#store.nowMs())
  }

  /** False if there was none. */
  remove(): boolean {
    const there = this.#isThere()
    if (there) this.#flags.set(Flag.Limiter, false)
    return there
  }

  #taken(): number {
    return this.#isThere() ? this.#store.memory.float(this.#at + QueueOffset.LimiterCount) : 0
  }

  #isThere(): boolean {
    if (!this.#flags.has(Flag.Limiter)) return false
    const end = this.#store.memory.float(this.#at + QueueOffset.LimiterEnd)
    return end === 0 || end > this.#store.nowMs()
  }

  #set(count: number, end: number): void {
    const { memory } = this.#store
    memory.setFloat(this.#at + QueueOffset.LimiterCount, count)
    memory.setFloat(this.#at + QueueOffset.LimiterEnd, end)
    this.#flags.set(Flag.Limiter, true)
  }
}
