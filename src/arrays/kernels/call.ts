import type { Addon, ArrayMemories } from '../../native/index.ts'
import { addon } from '../blocks/addon.ts'
import type { Block } from '../blocks/block.ts'
import { shapeText } from '../errors.ts'
import type { Complex, Scalar } from '../types/complex.ts'
import { DTYPES, type DType, isInteger, isWide } from '../types/dtype.ts'

/** Its memory is used for one call after another, since a call of the addon returns when all is done. */
let capacity = 512
let numbers = new Float64Array(capacity)
let singles = new Float32Array(numbers.buffer)
let words = new Int32Array(numbers.buffer)
let wides = new BigInt64Array(numbers.buffer)

function grow(): void {
  capacity *= 2
  const greater = new Float64Array(capacity)
  greater.set(numbers)
  numbers = greater
  singles = new Float32Array(numbers.buffer)
  words = new Int32Array(numbers.buffer)
  wides = new BigInt64Array(numbers.buffer)
}

/**
 * What the addon is told: numbers, and the memories of blocks. There is one call at a time.
 *
 * A shape is its rank and extents. A block is the number of its memory, its type, its offset and its strides. A
 * constant is its type and 16 bytes, of which it has the first.
 */
export class Call {
  #length = 1
  readonly #memories: ArrayBufferView[] = []

  put(value: number): void {
    if (this.#length === capacity) grow()
    numbers[this.#length] = value
    this.#length += 1
  }

  putShape(shape: readonly number[]): void {
    this.put(shape.length)
    for (const extent of shape) this.put(extent)
  }

  /** A block as if it had this shape, to which it is broadcast. */
  putBlock(block: Block, shape: readonly number[] = block.shape): void {
    this.put(this.#memories.push(block.data) - 1)
    this.put(block.dtype.number)
    this.put(block.offset)
    const missing = shape.length - block.shape.length
    for (let axis = 0; axis < shape.length; axis += 1) {
      const extent = block.shape[axis - missing] ?? 1
      // Blocks that do not fit each other would give results that are wrong unseen.
      if ((extent !== shape[axis] && extent !== 1) || missing < 0) throw unfit(block.shape, shape)
      this.put(extent === shape[axis] && axis >= missing ? block.strides[axis - missing]! : 0)
    }
  }

  putConstant(type: DType, value: Scalar): void {
    this.put(type.number)
    const place = this.#length
    this.put(0)
    this.put(0)
    if (type.lanes === 2) {
      const parts = value as Complex
      const target = type.bytes === 8 ? singles : numbers
      const start = type.bytes === 8 ? 2 * place : place
      target[start] = parts.re
      target[start + 1] = parts.im
    } else if (isWide(type)) wides[place] = value as bigint
    else if (isInteger(type) || type.kind === 'bool') words[2 * place] = Number(value)
    else if (type.bytes === 4) singles[2 * place] = value as number
    else numbers[place] = value as number
  }

  /** Let one of the addon's functions do it. */
  run<Result>(compute: (numbers: Float64Array, ...memories: ArrayMemories) => Result): Result {
    numbers[0] = this.#length
    const memories = this.#memories
    return memories.length > MEMORIES_MAX ? compute(numbers, memories) : compute(numbers, ...memories)
  }
}

/** More are passed in one list, which takes longer. */
const MEMORIES_MAX = 7

function unfit(shape: readonly number[], wanted: readonly number[]): TypeError {
  return new TypeError(`a block of shape ${shapeText(shape)} is no operand of a program of shape ${shapeText(wanted)}`)
}

/** The most axes that the addon takes. */
const AXES_MAX = 32

/** Can the addon walk a block of this shape? */
export function isWalkable(shape: readonly number[]): boolean {
  return shape.length <= AXES_MAX
}

/** Which kernels the addon has. */
export interface Kernels {
  readonly threads: number
  /** The number of an operation, or undefined if there is no kernel of it for these types. */
  find(operation: string, from: DType, to: DType): number | undefined
}

let known: Kernels | undefined

/**
 * The native kernels, or undefined without the addon; then the twins compute. `AETHER_ARRAY_THREADS` says with how many
 * threads; without it, one for each processor of this process.
 */
export function kernels(): Kernels | undefined {
  if (known !== undefined) return known
  const native = addon()
  known = native && readKernels(native)
  return known
}

function readKernels(native: Addon): Kernels {
  const { operations, table } = native.arrayKernels()
  const numberOf = new Map(operations.map((name, number) => [name, number]))
  const types = Object.keys(DTYPES).length
  const wanted = Number(process.env['AETHER_ARRAY_THREADS'])
  return {
    threads: Number.isInteger(wanted) && wanted > 0 ? Math.min(wanted, 256) : native.getAffinity().length,
    find(operation, from, to) {
      const number = numberOf.get(operation)
      if (number === undefined) return undefined
      const place =
        operation === 'cast' ? (operations.length + from.number) * types + to.number : number * types + from.number
      return table[place] === 1 ? number : undefined
    },
  }
}
