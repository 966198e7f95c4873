import { ArgumentError, checkBoolean, checkOptions, checkText, type OptionNames, shown } from '../native/index.ts'
import type { ElementArray, ElementKind, ElementKindName } from './element-kind.ts'

/** Operations known by name. `and`, `or` and `xor` are for integers. */
export type OperationName = 'sum' | 'prod' | 'min' | 'max' | 'and' | 'or' | 'xor'

/**
 * A custom operation: a pure function of two elements, the same at every rank. It must be associative, because the
 * algorithm chooses the grouping. If it is not commutative, say so; then elements are combined in the order of ranks.
 */
export interface CustomOperation<E extends number | bigint = number | bigint> {
  readonly combine: (left: E, right: E) => E
  /** Default true. */
  readonly commutative?: boolean
  /** Used in messages, and to check that all ranks use the same operation. Default `custom`. */
  readonly name?: string
}

export type Operation<E extends number | bigint = number | bigint> = OperationName | CustomOperation<E>

const customNames: OptionNames<CustomOperation<never>> = { combine: true, commutative: true, name: true }

/** into[i] = into[i] op from[i], or, with `fromFirst`, from[i] op into[i]. */
export type Kernel = (
  into: ElementArray,
  intoOffset: number,
  from: ElementArray,
  fromOffset: number,
  count: number,
  fromFirst: boolean,
) => void

// The kinds differ in what the array does when it is stored to (wrap around, clamp, round), so one loop serves many;
// the types would not see that.
type Numbers = Float64Array
type Bigs = BigInt64Array

function numbers(combine: (left: number, right: number) => number): Kernel {
  return (into, intoOffset, from, fromOffset, count, fromFirst) => {
    const [target, source] = [into as Numbers, from as Numbers]
    for (let i = 0; i < count; i += 1) {
      const [mine, other] = [target[intoOffset + i]!, source[fromOffset + i]!]
      target[intoOffset + i] = fromFirst ? combine(other, mine) : combine(mine, other)
    }
  }
}

function bigs(combine: (left: bigint, right: bigint) => bigint): Kernel {
  return (into, intoOffset, from, fromOffset, count, fromFirst) => {
    const [target, source] = [into as Bigs, from as Bigs]
    for (let i = 0; i < count; i += 1) {
      const [mine, other] = [target[intoOffset + i]!, source[fromOffset + i]!]
      target[intoOffset + i] = fromFirst ? combine(other, mine) : combine(mine, other)
    }
  }
}

/**
 * Written out: most collectives are sums. Both orders give the same bits, except for the payload of NaN, which is
 * unspecified.
 */
const sumOfNumbers: Kernel = (into, intoOffset, from, fromOffset, count) => {
  const [target, source] = [into as Numbers, from as Numbers]
  for (let i = 0; i < count; i += 1) target[intoOffset + i]! += source[fromOffset + i]!
}

const ofNumbers: Readonly<Record<OperationName, Kernel>> = {
  sum: sumOfNumbers,
  prod: numbers((left, right) => left * right),
  min: numbers(Math.min),
  max: numbers(Math.max),
  and: numbers((left, right) => left & right),
  or: numbers((left, right) => left | right),
  xor: numbers((left, right) => left ^ right),
}

/** A product of 32-bit numbers has up to 64 bits, more than a double holds. */
const product32: Kernel = numbers(Math.imul)

const ofBigs: Readonly<Record<OperationName, Kernel>> = {
  sum: bigs((left, right) => left + right),
  prod: bigs((left, right) => left * right),
  // biome-ignore lint/complexity/useMathMinMax: Math.min takes no bigint
  min: bigs((left, right) => (left < right ? left : right)),
  // biome-ignore lint/complexity/useMathMinMax: Math.max takes no bigint
  max: bigs((left, right) => (left > right ? left : right)),
  and: bigs((left, right) => left & right),
  or: bigs((left, right) => left | right),
  xor: bigs((left, right) => left ^ right),
}

const bitwise: readonly string[] = ['and', 'or', 'xor']
const words32: readonly ElementKindName[] = ['int32', 'uint32']

/**
 * The loop that combines elements of this kind. Integers wrap around as their arrays do (`uint8clamped` clamps).
 * Minimum and maximum of floats are those of Math.min and Math.max: NaN wins, -0 is below 0.
 * @throws ArgumentError for an unknown name, or a bitwise operation on floats.
 */
export function kernelFor(operation: Operation<never>, kind: ElementKind): Kernel {
  if (typeof operation !== 'string') {
    if (typeof operation === 'object') checkOptions('a collective', operation, customNames, 'operation')
    if (typeof operation?.combine !== 'function')
      throw new ArgumentError(
        'operation',
        `operation must be one of ${Object.keys(ofNumbers).join(', ')}, or an object { combine }`,
      )
    const { commutative, name } = operation
    if (commutative !== undefined) checkBoolean('operation.commutative', commutative)
    if (name !== undefined) checkText('operation.name', name)
    return kind.big ? bigs(operation.combine as never) : numbers(operation.combine as never)
  }
  if (!Object.hasOwn(ofNumbers, operation))
    throw new ArgumentError(
      'operation',
      `operation must be known, not ${shown(operation)}; pass one of ${Object.keys(ofNumbers).join(', ')}, or an object { combine }`,
    )
  if (kind.float && bitwise.includes(operation))
    throw new ArgumentError('operation', `operation ${operation} needs integers, but the elements are ${kind.name}`)
  if (operation === 'prod' && words32.includes(kind.name)) return product32
  return kind.big ? ofBigs[operation] : ofNumbers[operation]
}

/** The text about an operation that peers compare. */
export function operationName(operation: Operation<never>): string {
  return typeof operation === 'string' ? operation : (operation.name ?? 'custom')
}

/** True if the order of combining may show in the result: for a custom operation that says so. */
export function needsRankOrder(operation: Operation<never>): boolean {
  return typeof operation !== 'string' && operation.commutative === false
}
