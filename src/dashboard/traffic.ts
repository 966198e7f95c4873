import { Durations } from './durations.ts'
import type { OperationFrame, OperationLayer } from './wire.ts'

/** Counters of one operation of a link over an interval. */
export interface OperationCount {
  readonly from: number
  readonly to: number | null
  readonly layer: OperationLayer
  readonly name: string
  count: number
  bytes: number
  readonly times: Durations
}

/** Counters over an interval, by link and operation. */
export class Traffic {
  readonly #counts = new Map<string, OperationCount>()

  /** Add to an operation. It is created even if `count` is 0, so that times can be added to it. */
  add(
    from: number,
    to: number | null,
    layer: OperationLayer,
    name: string,
    count: number,
    bytes: number,
  ): OperationCount {
    const key = `${from} ${to ?? ''} ${layer} ${name}`
    let known = this.#counts.get(key)
    if (known === undefined) {
      known = { from, to, layer, name, count: 0, bytes: 0, times: new Durations() }
      this.#counts.set(key, known)
    }
    known.count += count
    known.bytes += bytes
    return known
  }

  /** Only the wanted operations. */
  only(wanted: (operation: OperationCount) => boolean): Traffic {
    const some = new Traffic()
    for (const [key, operation] of this.#counts) if (wanted(operation)) some.#counts.set(key, operation)
    return some
  }

  [Symbol.iterator](): IterableIterator<OperationCount> {
    return this.#counts.values()
  }

  /** The form that is sent to the page, without operations that did not occur. */
  frames(elapsedMs: number): readonly OperationFrame[] {
    const each = (count: number): number => (count * 1000) / elapsedMs
    return [...this.#counts.values()]
      .filter(({ count, times }) => count > 0 || times.count > 0)
      .map(({ count, bytes, times, ...operation }) => ({
        ...operation,
        rate: each(count),
        bytes: each(bytes),
        p50Ns: times.percentile(0.5),
        p99Ns: times.percentile(0.99),
      }))
  }
}
