import type { OperationFrame, OperationsFrame } from '../src/dashboard/wire.ts'
import { Series } from './series.ts'

/** So many are remembered: some 10 KiB each. */
const KEPT_MAX = 2000

/** One operation of a link through time. */
export class OperationHistory {
  /** As it was told last. */
  now: OperationFrame
  readonly key: string
  readonly rate: Series
  readonly bytes: Series
  readonly p50Us: Series
  readonly p99Us: Series

  constructor(first: OperationFrame, look: number) {
    this.now = first
    this.key = keyOf(first)
    this.rate = new Series(look, 0)
    this.bytes = new Series(look, 0)
    this.p50Us = new Series(look, Number.NaN)
    this.p99Us = new Series(look, Number.NaN)
  }

  set(look: number, operation: OperationFrame): void {
    this.now = operation
    this.rate.set(look, operation.rate)
    this.bytes.set(look, operation.bytes)
    this.p50Us.set(look, microseconds(operation.p50Ns))
    this.p99Us.set(look, microseconds(operation.p99Ns))
  }
}

/** Every operation that was told of. */
export class Operations {
  readonly #all = new Map<string, OperationHistory>()

  take({ isWhole, operations }: OperationsFrame, look: number): void {
    if (isWhole) for (const operation of this.#all.values()) still(operation, look)
    for (const operation of operations) {
      const key = keyOf(operation)
      let history = this.#all.get(key)
      if (history === undefined) {
        history = new OperationHistory(operation, look - 1)
        this.#all.set(key, history)
      }
      history.set(look, operation)
    }
    for (const [key, { now }] of this.#all) {
      if (this.#all.size <= KEPT_MAX) break
      if (now.rate === 0) this.#all.delete(key)
    }
  }

  get(key: string | undefined): OperationHistory | undefined {
    return key === undefined ? undefined : this.#all.get(key)
  }

  /** Of the link, and the calls and answers of who is at its beginning; without a link, the `most` busiest of all. Always in the same order. */
  of(link: { readonly from: number; readonly to: number } | undefined, most: number): readonly OperationHistory[] {
    const all = [...this.#all.values()]
    const some =
      link === undefined
        ? all
            .filter(({ now }) => now.rate > 0)
            .sort((a, b) => b.now.bytes - a.now.bytes || b.now.rate - a.now.rate)
            .slice(0, most)
        : all.filter(({ now }) => now.from === link.from && (now.to === null || now.to === link.to))
    return some.sort((a, b) => inOrder(a.now, b.now))
  }

  clear(): void {
    this.#all.clear()
  }
}

const layers: readonly string[] = ['calls', 'answers', 'messages', 'coherence', 'verbs']

function inOrder(a: OperationFrame, b: OperationFrame): number {
  return (
    a.from - b.from ||
    (a.to ?? -1) - (b.to ?? -1) ||
    layers.indexOf(a.layer) - layers.indexOf(b.layer) ||
    (a.name < b.name ? -1 : 1)
  )
}

function still(history: OperationHistory, look: number): void {
  history.set(look, { ...history.now, rate: 0, bytes: 0, p50Ns: null, p99Ns: null })
}

function keyOf({ from, to, layer, name }: OperationFrame): string {
  return `${from} ${to ?? '*'} ${layer} ${name}`
}

function microseconds(ns: number | null): number {
  return ns === null ? Number.NaN : ns / 1000
}
