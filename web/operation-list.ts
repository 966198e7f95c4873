import type { OperationFrame, OperationsFrame } from '../src/dashboard/wire.ts'
import type { Ends } from './matrix.ts'
import { TimeSeries } from './time-series.ts'

/** How many operations are kept, of about 10 KiB each. */
const KEPT_MAX = 2000

/** The history of one operation of a link. */
export class OperationHistory {
  /** Its latest state. */
  now: OperationFrame
  readonly key: string
  readonly rate: TimeSeries
  readonly bytes: TimeSeries
  readonly p50Us: TimeSeries
  readonly p99Us: TimeSeries

  constructor(first: OperationFrame, look: number) {
    this.now = first
    this.key = keyOf(first)
    this.rate = new TimeSeries(look, 0)
    this.bytes = new TimeSeries(look, 0)
    this.p50Us = new TimeSeries(look, Number.NaN)
    this.p99Us = new TimeSeries(look, Number.NaN)
  }

  set(look: number, operation: OperationFrame): void {
    this.now = operation
    this.rate.set(look, operation.rate)
    this.bytes.set(look, operation.bytes)
    this.p50Us.set(look, microseconds(operation.p50Ns))
    this.p99Us.set(look, microseconds(operation.p99Ns))
  }
}

/** All operations that have been received. */
export class OperationList {
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

  /**
   * The operations of a link, and the calls and answers of its sender, always in the same order. Without a link: at
   * most `most` of all operations, ordered by bytes in the last five seconds.
   */
  of(link: Ends | undefined, look: number, most: number): readonly OperationHistory[] {
    const all = [...this.#all.values()]
    if (link !== undefined)
      return all
        .filter(({ now }) => now.from === link.from && (now.to === null || now.to === link.to))
        .sort((a, b) => inOrder(a.now, b.now))
    return all
      .map((operation) => ({ operation, bytes: operation.bytes.sum(look, 25), rate: operation.rate.sum(look, 25) }))
      .filter(({ rate }) => rate > 0)
      .sort((a, b) => b.bytes - a.bytes || b.rate - a.rate)
      .slice(0, most)
      .map(({ operation }) => operation)
  }

  clear(): void {
    this.#all.clear()
  }
}

const layers: readonly string[] = ['calls', 'answers', 'messages', 'coherence', 'verbs']

/** By layer, then pages and waits before messages, whose names start with capitals. */
function inOrder(a: OperationFrame, b: OperationFrame): number {
  const isMessage = (name: string): number => Number(/^[A-Z]/.test(name))
  return (
    layers.indexOf(a.layer) - layers.indexOf(b.layer) ||
    isMessage(a.name) - isMessage(b.name) ||
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
