import { CompletionBatch } from '../providers/index.ts'

/** Completions that a convenience polled but that belong to the user, in order, until the user's next poll. */
export class CompletionStash {
  #rows = new CompletionBatch(64)
  #head = 0
  count = 0

  add(batch: CompletionBatch, rows: number): void {
    for (let row = 0; row < rows; row += 1) {
      if (this.#head + this.count === this.#rows.capacity) this.#compact()
      this.#rows.copyRow(this.#head + this.count, batch, row)
      this.count += 1
    }
  }

  take(batch: CompletionBatch): number {
    const rows = Math.min(this.count, batch.capacity)
    for (let row = 0; row < rows; row += 1) batch.copyRow(row, this.#rows, this.#head + row)
    this.#head += rows
    this.count -= rows
    if (this.count === 0) this.#head = 0
    return rows
  }

  /** Move to the front; double when that does not make room. */
  #compact(): void {
    const from = this.#rows
    const target = this.count * 2 > from.capacity ? new CompletionBatch(from.capacity * 2) : from
    for (let row = 0; row < this.count; row += 1) target.copyRow(row, from, this.#head + row)
    this.#rows = target
    this.#head = 0
  }
}
