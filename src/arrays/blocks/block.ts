import { ArrayError, shapeText } from '../errors.ts'
import type { DType, Elements } from '../types/dtype.ts'
import { takeResultMemory } from './result-memory.ts'

/**
 * Elements in the memory of this process: a typed array and how to walk it. All computing is done on blocks; an array
 * is made of one block at each rank. Strides and the offset count elements, not bytes. A stride may be 0 or negative.
 */
export interface Block {
  readonly dtype: DType
  readonly shape: readonly number[]
  readonly strides: readonly number[]
  /** Where the element of indices 0 lies. For complex types `data` has it at 2 * offset. */
  readonly offset: number
  readonly data: Elements
}

/** How many elements a shape has: 1 for the shape of no axes. */
export function sizeOf(shape: readonly number[]): number {
  let size = 1
  for (const extent of shape) size *= extent
  return size
}

/** The strides of a shape in row-major order, the last axis next to each other. */
export function rowMajor(shape: readonly number[]): number[] {
  const strides = new Array<number>(shape.length)
  let stride = 1
  for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
    strides[axis] = stride
    stride *= Math.max(1, shape[axis]!)
  }
  return strides
}

/** A new block of zeros in row-major order. @throws ArrayError if there is not enough memory */
export function newBlock(dtype: DType, shape: readonly number[]): Block {
  return allocated(dtype, shape, false)
}

/** The same with anything in it: the caller writes every element. @throws ArrayError if there is not enough memory */
export function newResult(dtype: DType, shape: readonly number[]): Block {
  return allocated(dtype, shape, true)
}

function allocated(dtype: DType, shape: readonly number[], isResult: boolean): Block {
  const size = sizeOf(shape)
  const bytes = size * dtype.bytes
  // The system promises more memory than it has, and ends a process that touches it.
  if (bytes >= PROMISED_BYTES && bytes > process.availableMemory()) throw tooLarge(dtype, shape)
  try {
    const memory = isResult ? takeResultMemory(bytes) : undefined
    const { Elements } = dtype
    return blockOver(memory === undefined ? new Elements(size * dtype.lanes) : new Elements(memory), dtype, shape)
  } catch (cause) {
    throw tooLarge(dtype, shape, cause)
  }
}

/** That there is not enough memory for a block. */
export function tooLarge(dtype: DType, shape: readonly number[], cause?: unknown): ArrayError {
  const what = `an array with shape ${shapeText(shape)} and data type ${dtype}`
  return new ArrayError('MEMORY', `Unable to allocate ${sizeOf(shape) * dtype.bytes} bytes for ${what}`, { cause })
}

/** To ask how much memory there is takes some microseconds, which are nothing beside filling as much. */
const PROMISED_BYTES = 2 ** 26

/** A block over elements that lie in row-major order from the start of `data` on. */
export function blockOver(data: Elements, dtype: DType, shape: readonly number[]): Block {
  return { dtype, shape: [...shape], strides: rowMajor(shape), offset: 0, data }
}

/** Do the elements lie in row-major order without gaps? Axes of extent 1 may have any stride. */
export function isContiguous(block: Block): boolean {
  let stride = 1
  for (let axis = block.shape.length - 1; axis >= 0; axis -= 1) {
    const extent = block.shape[axis]!
    if (extent === 0) return true
    if (extent !== 1 && block.strides[axis] !== stride) return false
    stride *= extent
  }
  return true
}
