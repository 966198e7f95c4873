import type { Store } from '../store/store.ts'
import { DEDUPLICATION_BYTES, QueueOffset, VALUE_BYTES } from './layout.ts'

/** Which job has a deduplication id, and for how long; and the job that is added when that one is finished. */
export class Deduplication {
  readonly #store: Store
  readonly #table: number
  readonly #next: number

  /** `at`: where the record of the queue begins. */
  constructor(store: Store, at: number) {
    this.#store = store
    this.#table = at + QueueOffset.Deduplication
    this.#next = at + QueueOffset.Next
  }

  /** Id of the job that has it. */
  get(id: string): string | undefined {
    const entry = this.#find(id)
    return entry === 0 ? undefined : this.#store.texts.at(entry)
  }

  /** `ttlMs` 0: until the job is finished. */
  set(id: string, jobId: string, ttlMs: number = 0): void {
    const { memory, tables, texts } = this.#store
    const entry = tables.find(this.#table, id, DEDUPLICATION_BYTES) || tables.add(this.#table, id, DEDUPLICATION_BYTES)
    texts.replace(entry, jobId)
    memory.setFloat(entry + 8, ttlMs > 0 ? this.#store.nowMs() + ttlMs : 0)
  }

  /** Hand it to another job for what is left of its time. */
  pass(id: string, jobId: string): void {
    const entry = this.#find(id)
    if (entry === 0) this.set(id, jobId)
    else this.#store.texts.replace(entry, jobId)
  }

  /** Keep it until its job is finished. */
  persist(id: string): void {
    const entry = this.#find(id)
    if (entry !== 0) this.#store.memory.setFloat(entry + 8, 0)
  }

  /** Whether it is there, and ends with its job only. */
  isPersistent(id: string): boolean {
    const entry = this.#find(id)
    return entry !== 0 && this.#store.memory.float(entry + 8) === 0
  }

  /** False if it was not there. */
  delete(id: string): boolean {
    const { tables, texts } = this.#store
    const entry = this.#find(id)
    if (entry === 0) return false
    texts.replace(entry, undefined)
    tables.remove(this.#table, entry)
    return true
  }

  /** JSON of the job that is to follow. */
  next(id: string): string | undefined {
    const { tables, texts } = this.#store
    const entry = tables.find(this.#next, id, VALUE_BYTES)
    return entry === 0 ? undefined : texts.at(entry)
  }

  setNext(id: string, job: string | undefined): void {
    const { tables, texts } = this.#store
    let entry = tables.find(this.#next, id, VALUE_BYTES)
    if (entry === 0 && job === undefined) return
    if (entry === 0) entry = tables.add(this.#next, id, VALUE_BYTES)
    texts.replace(entry, job)
    if (job === undefined) tables.remove(this.#next, entry)
  }

  /** A few that have ended go with each look: a queue may have seen millions of ids. */
  #find(id: string): number {
    const { memory, tables, texts } = this.#store
    const oldest = tables.first(this.#table)
    if (oldest !== 0 && this.#hasEnded(oldest)) {
      texts.replace(oldest, undefined)
      tables.remove(this.#table, oldest)
    }
    const entry = tables.find(this.#table, id, DEDUPLICATION_BYTES)
    if (entry === 0 || !this.#hasEnded(entry)) return entry
    texts.replace(entry, undefined)
    memory.setFloat(entry + 8, 0)
    tables.remove(this.#table, entry)
    return 0
  }

  #hasEnded(entry: number): boolean {
    const end = this.#store.memory.float(entry + 8)
    return end !== 0 && end <= this.#store.nowMs()
  }
}
