import { ArgumentError, mustBe, nearestWord, shown } from '../native/index.ts'
import { Block, type BlockOwner, type BlockPlace } from './block.ts'
import { BlockKind } from './block-header.ts'
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
export class CounterBlock<Name extends string = string> extends Block {
  declare readonly layout: CounterLayout<Name>
  readonly kind: number = BlockKind.Counters
  readonly #index: ReadonlyMap<Name, number>
  /**
   * As they were set, in the order of the layout's gauges: they say how things are, also where the block has no place
   * to show them.
   */
  readonly #gauges: Float64Array

  constructor(layout: CounterLayout<Name>, label: string, place: BlockPlace, owner?: BlockOwner) {
    super(layout, label, place, owner)
    this.#index = indexesOf(layout)
    this.#gauges = new Float64Array(layout.gauges.length)
  }

  /** The index of `name` in {@link slots}. @throws ArgumentError if the layout has no such counter. */
  indexOf(name: Name): number {
    return this.#index.get(name) ?? refuse(this.layout, name)
  }

  /** Add `amount` to a counter. Not for gauges. @throws ArgumentError */
  add(name: Name, amount: number): void {
    if (!Number.isFinite(amount)) throw mustBe('amount', 'a number', amount)
    const { slots } = this
    const index = this.indexOf(name)
    slots[index] = slots[index]! + amount
  }

  /** Set a gauge. If the block found no place and counts together with others, the value is visible once it has one. */
  set(name: Name, value: number): void {
    if (!Number.isFinite(value)) throw mustBe('value', 'a number', value)
    const index = this.indexOf(name)
    const gauge = this.layout.gauges.indexOf(name)
    if (gauge >= 0) this.#gauges[gauge] = value
    if (this.shared) this.slots[index] = value
  }

  /** Return a counter, or the last {@link set} value of a gauge. */
  get(name: Name): number {
    const gauge = this.layout.gauges.indexOf(name)
    return (gauge >= 0 ? this.#gauges[gauge] : this.slots[this.indexOf(name)])!
  }

  /** @internal */
  override moveTo(place: BlockPlace): void {
    super.moveTo(place)
    if (!place.shared) return
    for (const [gauge, name] of this.layout.gauges.entries()) place.slots[this.indexOf(name)] = this.#gauges[gauge]!
  }
}

function refuse({ name, counters }: CounterLayout, wanted: unknown): never {
  const near = typeof wanted === 'string' ? nearestWord(wanted, counters) : undefined
  const advice = near === undefined ? `use one of ${counters.join(', ')}` : `did you mean '${near}'?`
  throw new ArgumentError('name', `name: layout '${name}' has no counter ${shown(wanted)}; ${advice}`)
}

const indexes = new WeakMap<CounterLayout, ReadonlyMap<string, number>>()

function indexesOf<Name extends string>(layout: CounterLayout<Name>): ReadonlyMap<Name, number> {
  let made = indexes.get(layout)
  if (made === undefined) {
    made = new Map(layout.counters.map((name, index) => [name, index]))
    indexes.set(layout, made)
  }
  return made as ReadonlyMap<Name, number>
}

/** A private block, for use without a profiling area. */
export function privateCounters<Name extends string>(layout: CounterLayout<Name>): CounterBlock<Name> {
  return new CounterBlock(layout, '', { slots: new Float64Array(layout.counters.length), shared: true })
}
