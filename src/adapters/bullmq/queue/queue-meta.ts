import type { Store } from '../store/store.ts'
import { QueueOffset, VALUE_BYTES } from './layout.ts'

const EVENTS_FIELD = 'opts.maxLenEvents'
const EVENTS_MAX = 10_000

/** The metadata of a queue: texts by name. */
export class QueueMeta {
  readonly #store: Store
  readonly #table: number

  /** `at`: where the record of the queue begins. */
  constructor(store: Store, at: number) {
    this.#store = store
    this.#table = at + QueueOffset.Meta
  }

  get(field: string): string | undefined {
    const { tables, texts } = this.#store
    const entry = tables.find(this.#table, field, VALUE_BYTES)
    return entry === 0 ? undefined : texts.at(entry)
  }

  /** True if the field is new. */
  set(field: string, value: string): boolean {
    const { tables, texts } = this.#store
    const entry = tables.find(this.#table, field, VALUE_BYTES)
    texts.replace(entry || tables.add(this.#table, field, VALUE_BYTES), value)
    return entry === 0
  }

  /** False if it was not there. */
  delete(field: string): boolean {
    const { tables, texts } = this.#store
    const entry = tables.find(this.#table, field, VALUE_BYTES)
    if (entry === 0) return false
    texts.replace(entry, undefined)
    tables.remove(this.#table, entry)
    return true
  }

  all(): Record<string, string> {
    const { tables, texts } = this.#store
    const found: Record<string, string> = {}
    for (let entry = tables.first(this.#table); entry !== 0; entry = tables.next(entry))
      found[tables.key(entry, VALUE_BYTES)] = texts.at(entry) ?? ''
    return found
  }

  /** How many events are kept. */
  eventsMax(): number {
    return Number(this.get(EVENTS_FIELD) ?? EVENTS_MAX)
  }
}
