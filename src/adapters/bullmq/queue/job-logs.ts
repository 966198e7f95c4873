import type { Store } from '../store/store.ts'
import { TABLE_BYTES } from '../store/tables.ts'
import { JobOffset, VALUE_BYTES } from './layout.ts'

/** The log of a job: rows, oldest first. */
export class JobLogs {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  count(job: number): number {
    const table = this.#tableOf(job)
    return table === 0 ? 0 : this.#store.tables.count(table)
  }

  add(job: number, row: string): number {
    const { memory, allocator, tables, texts } = this.#store
    let table = this.#tableOf(job)
    if (table === 0) {
      table = allocator.allocate(TABLE_BYTES)
      memory.freshZeros(table, TABLE_BYTES)
      memory.setWord(job + JobOffset.Logs, table)
    }
    const last = tables.last(table)
    const number = last === 0 ? 0 : Number(tables.key(last, VALUE_BYTES)) + 1
    texts.replace(tables.add(table, `${number}`, VALUE_BYTES), row)
    return tables.count(table)
  }

  rows(job: number): string[] {
    const { tables, texts } = this.#store
    const table = this.#tableOf(job)
    const rows: string[] = []
    if (table === 0) return rows
    for (let row = tables.first(table); row !== 0; row = tables.next(row)) rows.push(texts.at(row) ?? '')
    return rows
  }

  /** Keep the latest rows. */
  trim(job: number, kept: number): void {
    const { tables, texts } = this.#store
    const table = this.#tableOf(job)
    while (table !== 0 && tables.count(table) > kept) {
      const row = tables.first(table)
      texts.replace(row, undefined)
      tables.remove(table, row)
    }
  }

  clear(job: number): void {
    const table = this.#tableOf(job)
    if (table === 0) return
    this.trim(job, 0)
    this.#store.allocator.free(table)
    this.#store.memory.setWord(job + JobOffset.Logs, 0)
  }

  #tableOf(job: number): number {
    return job === 0 ? 0 : this.#store.memory.word(job + JobOffset.Logs)
  }
}
