import type { CounterLayout } from './counter-layout.ts'

/**
 * Named counters in shared memory with one writer, the thread that made the block.
 *
 * ```ts
 * const layout = defineCounters('cache', ['hits', 'misses', 'bytesRead'])
 * const counters = area.counters(layout)
 * counters.add('hits', 1)
 * const HITS = counters.indexOf('hits')          // for hot loops:
 * counters.slots[HITS]! += 1
 * ```
 */
export class CounterBlock<Name extends string = string> {
  readonly layout: CounterLayout<Name>
  /** The counters themselves, in the layout's order. Only the owner writes. */
  readonly slots: Float64Array
  /** False where the profiling area was full: it counts, but nobody else sees it. */
  readonly shared: boolean
  readonly #index: ReadonlyMap<Name, number>

  constructor(layout: CounterLayout<Name>, slots: Float64Array, shared: boolean) {
    this.layout = layout
    this.slots = slots
    this.shared = shared
    this.#index = new Map(layout.counters.map((name, index) => [name, index]))
  }

  /** Where `name` is in {@link slots}. */
  indexOf(name: Name): number {
    return this.#index.get(name) as number
  }

  /** Count `amount` more. */
  add(name: Name, amount: number): void {
    const index = this.indexOf(name)
    this.slots[index] = (this.slots[index] as number) + amount
  }

  /** For gauges. */
  set(name: Name, value: number): void {
    this.slots[this.indexOf(name)] = value
  }

  get(name: Name): number {
    return this.slots[this.indexOf(name)] as number
  }
}

/** A block that nobody else sees, for where there is no profiling area. */
export function privateCounters<Name extends string>(layout: CounterLayout<Name>): CounterBlock<Name> {
  return new CounterBlock(layout, new Float64Array(layout.counters.length), false)
}
