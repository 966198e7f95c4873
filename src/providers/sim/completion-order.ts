import type { CompletionRow, SimCompletionQueue } from './completion-queue.ts'
import type { Host } from './host.ts'

/** Completions of one queue pair's sends, or receives: each takes its time, and they keep their order. */
export class CompletionOrder {
  readonly #host: Host
  readonly #concern: string
  #lastNs = 0
  #pending = 0

  constructor(host: Host, concern: string) {
    this.#host = host
    this.#concern = concern
  }

  /** Complete, but not before `fromNs`. A completion that is due now, with none before it, is available at once. */
  push(queue: SimCompletionQueue, fromNs: number, row: CompletionRow): void {
    const { kernel, adapter } = this.#host
    const lateNs = kernel.stream(this.#concern).between(0, this.#host.adapterNs(adapter.completionNs))
    this.#lastNs = Math.max(this.#lastNs, fromNs, kernel.nowNs) + lateNs
    const { generation } = row.owner
    const arrive = (): void => {
      if (row.owner.generation !== generation || !this.#host.alive) return
      kernel.trace.add(row.status)
      kernel.trace.add(row.owner.number)
      queue.push(row)
    }
    if (this.#lastNs <= kernel.nowNs && this.#pending === 0) {
      arrive()
      return
    }
    this.#pending += 1
    kernel.at(this.#lastNs, () => {
      this.#pending -= 1
      arrive()
    })
  }
}
