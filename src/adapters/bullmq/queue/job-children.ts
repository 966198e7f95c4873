import type { Store } from '../store/store.ts'
import { CHILDREN_BYTES, ChildTable, type ChildTableName, JobOffset, VALUE_BYTES } from './layout.ts'

const names = Object.keys(ChildTable) as ChildTableName[]

/**
 * The children of a job, by their keys. `dependencies` are not finished; `processed` has return values, `failed` the
 * reasons of failures that the parent ignores, `unsuccessful` those that fail it.
 */
export class JobChildren {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  count(job: number, name: ChildTableName): number {
    const table = this.#tableOf(job, name)
    return table === 0 ? 0 : this.#store.tables.count(table)
  }

  any(job: number): boolean {
    return names.some((name) => this.count(job, name) > 0)
  }

  has(job: number, name: ChildTableName, key: string): boolean {
    const table = this.#tableOf(job, name)
    return table !== 0 && this.#store.tables.find(table, key, VALUE_BYTES) !== 0
  }

  /** Add a child, or replace its value. */
  set(job: number, name: ChildTableName, key: string, value: string = ''): void {
    const { tables, texts } = this.#store
    const table = this.#tableOf(job, name) || this.#make(job) + ChildTable[name]
    const entry = tables.find(table, key, VALUE_BYTES) || tables.add(table, key, VALUE_BYTES)
    texts.replace(entry, value === '' ? undefined : value)
  }

  /** False if it was not there. */
  delete(job: number, name: ChildTableName, key: string): boolean {
    const { tables, texts } = this.#store
    const table = this.#tableOf(job, name)
    const entry = table === 0 ? 0 : tables.find(table, key, VALUE_BYTES)
    if (entry === 0) return false
    texts.replace(entry, undefined)
    tables.remove(table, entry)
    return true
  }

  /** Keys and values, in the order in which they were added. */
  list(job: number, name: ChildTableName): [key: string, value: string][] {
    const { tables, texts } = this.#store
    const table = this.#tableOf(job, name)
    const found: [string, string][] = []
    if (table === 0) return found
    for (let entry = tables.first(table); entry !== 0; entry = tables.next(entry))
      found.push([tables.key(entry, VALUE_BYTES), texts.at(entry) ?? ''])
    return found
  }

  keys(job: number, name: ChildTableName): string[] {
    const keys = this.list(job, name)
    // Their values are when they failed, which is their order.
    if (name === 'unsuccessful') keys.sort(([a, x], [b, y]) => Number(x) - Number(y) || (a < b ? -1 : 1))
    return keys.map(([key]) => key)
  }

  clear(job: number): void {
    const { memory, allocator } = this.#store
    const record = memory.word(job + JobOffset.Children)
    if (record === 0) return
    for (const name of names) for (const [key] of this.list(job, name)) this.delete(job, name, key)
    allocator.free(record)
    memory.setWord(job + JobOffset.Children, 0)
  }

  #tableOf(job: number, name: ChildTableName): number {
    const record = job === 0 ? 0 : this.#store.memory.word(job + JobOffset.Children)
    return record === 0 ? 0 : record + ChildTable[name]
  }

  #make(job: number): number {
    const { memory, allocator } = this.#store
    const record = allocator.allocate(CHILDREN_BYTES)
    memory.freshZeros(record, CHILDREN_BYTES)
    memory.setWord(job + JobOffset.Children, record)
    return record
  }
}
