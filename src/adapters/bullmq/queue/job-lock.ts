import type { Store } from '../store/store.ts'
import { Failure } from './failure.ts'
import { JobOffset } from './layout.ts'

/** The token of callers that have no lock, and need none. */
export const NO_TOKEN = '0'

/** The lock of an active job: a worker's token for a time. */
export class JobLock {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** The token; undefined if the job is not locked. */
  holder(job: number): string | undefined {
    const { memory, texts } = this.#store
    if (job === 0 || memory.word(job + JobOffset.LockToken) === 0) return undefined
    return memory.float(job + JobOffset.LockEnd) > this.#store.nowMs() ? texts.at(job + JobOffset.LockToken) : undefined
  }

  take(job: number, token: string, durationMs: number): void {
    const { memory, texts, owner } = this.#store
    texts.replace(job + JobOffset.LockToken, token)
    memory.setFloat(job + JobOffset.LockEnd, this.#store.nowMs() + durationMs)
    memory.setWord(job + JobOffset.LockOwner, owner)
  }

  /** The worker shows that it is alive. False if it has lost the lock. */
  extend(job: number, token: string, durationMs: number): boolean {
    if (this.holder(job) !== token) return false
    this.#store.memory.setFloat(job + JobOffset.LockEnd, this.#store.nowMs() + durationMs)
    this.#store.memory.setWord(job + JobOffset.LockOwner, this.#store.owner)
    this.#setStalled(job, false)
    return true
  }

  /** Give the lock back; a failure if the token is not the one that has it. */
  release(job: number, token: string): Failure | 0 {
    if (token === NO_TOKEN) return 0
    const holder = this.holder(job)
    if (holder !== token) return holder === undefined ? Failure.LockMissing : Failure.LockMismatch
    this.clear(job)
    this.#setStalled(job, false)
    return 0
  }

  clear(job: number): void {
    if (this.#store.memory.word(job + JobOffset.LockToken) !== 0)
      this.#store.texts.replace(job + JobOffset.LockToken, undefined)
  }

  /** Whether the process that had the lock is gone for certain. */
  isOrphaned(job: number): boolean {
    const { memory } = this.#store
    if (memory.word(job + JobOffset.LockToken) === 0) return false
    return !this.#store.isThere(memory.word(job + JobOffset.LockOwner))
  }

  /** Mark an active job; a sign of life of its worker takes the mark away. */
  mark(job: number): void {
    this.#setStalled(job, true)
  }

  isMarked(job: number): boolean {
    return this.#store.memory.word(job + JobOffset.Stalled) !== 0
  }

  unmark(job: number): void {
    this.#setStalled(job, false)
  }

  #setStalled(job: number, marked: boolean): void {
    if (this.isMarked(job) !== marked) this.#store.memory.setWord(job + JobOffset.Stalled, marked ? 1 : 0)
  }
}
