import type { Complex, Scalar } from '../types/complex.ts'
import { bool, type Elements, isComplex } from '../types/dtype.ts'
import type { Block } from './block.ts'

/** The element at a place counted in elements from the start of the block's memory. */
export function elementAt(block: Block, place: number): Scalar {
  const { data, dtype } = block
  if (isComplex(dtype)) return { re: data[2 * place] as number, im: data[2 * place + 1] as number }
  const value = data[place]!
  return dtype === bool ? value !== 0 : value
}

/** Writes an element, which `elementOf` has made one of the block's type. */
export function setElement(block: Block, place: number, value: Scalar): void {
  writeElement(block.data, place, value)
}

/** As above, for the typed array of a block. */
export function writeElement(data: Elements, place: number, value: Scalar): void {
  if (typeof value === 'object') {
    data[2 * place] = (value as Complex).re
    data[2 * place + 1] = (value as Complex).im
  } else (data as unknown as (number | bigint | boolean)[])[place] = typeof value === 'boolean' ? Number(value) : value
}

/** Elements in lists of lists. */
export type NestedArray = (Scalar | NestedArray)[]

/** The elements in lists of lists; of a block without axes its element. */
export function nested(block: Block, axis: number = 0, place: number = block.offset): Scalar | NestedArray {
  if (axis === block.shape.length) return elementAt(block, place)
  const stride = block.strides[axis]!
  return Array.from({ length: block.shape[axis]! }, (_, index) => nested(block, axis + 1, place + index * stride))
}
