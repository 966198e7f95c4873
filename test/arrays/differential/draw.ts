import { type Block, blockOver, sizeOf } from '../../../src/arrays/blocks/block.ts'
import { bool, DTYPES, type DType, isComplex, isFloating, isInteger, isWide } from '../../../src/arrays/types/dtype.ts'
import { scattered } from '../support/blocks.ts'

const all = Object.values(DTYPES)
/** The data types by the words of the standard. */
export const kinds: Readonly<
  Record<'all' | 'numeric' | 'realValued' | 'floating' | 'real' | 'integer' | 'integerOrBool', readonly DType[]>
> = {
  all,
  numeric: all.filter((dtype) => dtype !== bool),
  realValued: all.filter((dtype) => dtype !== bool && !isComplex(dtype)),
  floating: all.filter(isFloating),
  real: all.filter((dtype) => isFloating(dtype) && !isComplex(dtype)),
  integer: all.filter(isInteger),
  integerOrBool: all.filter((dtype) => isInteger(dtype) || dtype === bool),
}

/** Shapes that find mistakes: no axis, no element, one element, and some of each. */
export const shapes: readonly (readonly number[])[] = [[], [0], [1], [7], [3, 4], [2, 0, 3], [1, 5, 1], [2, 3, 4]]

/** What elements are drawn from. */
export interface Range {
  readonly least?: number
  readonly greatest?: number
  /** Mix in 0, -0, 1, -1, infinities and NaN, where the type has them. Not for complex types. */
  readonly special?: boolean
  /** No element is 0. */
  readonly nonzero?: boolean
}

/** Operands from a seed: the same for every run. */
export class Draw {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** At least 0 and less than 1 (mulberry32). */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `least` to `greatest`, both included. */
  whole(least: number, greatest: number): number {
    return least + Math.floor(this.fraction() * (greatest - least + 1))
  }

  pick<T>(list: readonly T[]): T {
    return list[this.whole(0, list.length - 1)] as T
  }

  /** An axis of the shape, counted from the end half of the time. */
  axis(shape: readonly number[]): number {
    const axis = this.whole(0, shape.length - 1)
    return this.pick([axis, axis - shape.length])
  }

  /** A block in row-major order, or scattered in memory half of the time. */
  block(dtype: DType, shape: readonly number[], range: Range = {}): Block {
    const elements = new dtype.Elements(sizeOf(shape) * dtype.lanes)
    for (let index = 0; index < elements.length; index += 1) {
      const element = this.#element(dtype, range)
      elements[index] = (isWide(dtype) ? BigInt(element) : element) as never
    }
    const block = blockOver(elements, dtype, shape)
    return this.pick([block, scattered(block)])
  }

  #element(dtype: DType, range: Range): number {
    const element = this.#anyElement(dtype, range)
    return range.nonzero === true && element === 0 ? 1 : element
  }

  #anyElement(dtype: DType, { least = -9, greatest = 9, special = false }: Range): number {
    if (dtype === bool) return this.whole(0, 1)
    const floating = isFloating(dtype)
    if (special && floating && !isComplex(dtype) && this.fraction() < 0.25) {
      return this.pick([0, -0, 1, -1, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 0.5, -2])
    }
    const least_ = dtype.kind === 'unsigned integer' ? Math.max(0, least) : least
    const greatest_ = Math.max(least_, greatest)
    return floating
      ? least_ + this.fraction() * (greatest_ - least_)
      : this.whole(Math.ceil(least_), Math.floor(greatest_))
  }
}

/** Two types of which the standard knows the common one, both of the list. */
export function* promotable(list: readonly DType[]): Generator<readonly [DType, DType]> {
  for (const one of list) {
    for (const other of list) {
      const numbers = isInteger(one) && isInteger(other)
      const floats = isFloating(one) && isFloating(other)
      const wide = [one, other].some(({ name }) => name === 'uint64') && one.kind !== other.kind
      if (one === other || floats || (numbers && !wide)) yield [one, other]
    }
  }
}
