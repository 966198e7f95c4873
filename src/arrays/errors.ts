import { AetherError } from '../native/index.ts'

/** What is wrong: each is a code, `ERR_AETHER_ARRAY_TYPE` and so on. */
export type ArrayErrorKind =
  /** A data type that the function does not take, or two that have no common one. */
  | 'TYPE'
  /** Shapes that do not fit together. */
  | 'SHAPE'
  /** An axis that the array does not have. */
  | 'AXIS'
  /** An index outside of the array, or of a kind that does not index. */
  | 'INDEX'
  /** Any other argument or element that cannot be. */
  | 'VALUE'
  /** A write to an array that is open for reading. */
  | 'READ_ONLY'
  /** A partition that does not fit the array or the group. */
  | 'PARTITION'
  /** A part is needed whose rank has died. */
  | 'LOST'
  /** The ranks of a group do different operations, or in another order. */
  | 'ORDER'
  /** There is not enough memory; nothing was taken. */
  | 'MEMORY'
  /** A file cannot be opened, read or written: the cause is the system's error. */
  | 'FILE'

/** An operation on arrays was refused before anything was changed. */
export class ArrayError extends AetherError {
  override readonly name = 'ArrayError'

  constructor(kind: ArrayErrorKind, message: string, options?: ErrorOptions) {
    super(`ERR_AETHER_ARRAY_${kind}`, message, options)
  }
}

/** A shape as NumPy writes it: `()`, `(3,)`, `(2, 3)`. */
export function shapeText(shape: readonly number[]): string {
  return shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`
}
