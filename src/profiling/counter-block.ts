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

  constructor(layout: CounterLayout<Name>, label: string, place: BlockPlace, owner?: BlockOwner) {
    super(layout, label, place, owner)
    this.#index = indexesOf(layout)
  }

  /** Where `name` is in {@link slots}. */
  indexOf(name: Name): number {
    return this.#index.get(name) as number
  }

  /** Count `amount` more. */
  add(name: Name, amount: number): void {
    const { slots } = this
    const index = this.indexOf(name)
    slots[index] = (slots[index] as number) + amount
  }

  /** For gauges. Not where the block found no place and counts together with others. */
  set(name: Name, value: number): void {
    if (this.shared) this.slots[this.indexOf(name)] = value
  }

  get(name: Name): number {
    return this.slots[this.indexOf(name)] as number
  }
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

/** A block that nobody else sees, for where there is no profiling area. */
export function privateCounters<Name extends string>(layout: CounterLayout<Name>): CounterBlock<Name> {
  return new CounterBlock(layout, '', { slots: new Float64Array(layout.counters.length), shared: true })
}
