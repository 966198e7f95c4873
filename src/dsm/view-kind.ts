import { checkOptions, mustBe, type OptionNames } from '../native/index.ts'

/** The typed arrays that a region can be viewed as. */
export type View =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array

/**
 * The constructor of such a typed array. `Buffer` is a typed array too but has a constructor of its own: use
 * `Uint8Array`.
 */
export interface ViewConstructor<T extends View> {
  readonly name: string
  readonly BYTES_PER_ELEMENT: number
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): T
}

/** The part of a region that a view shows. */
export interface ViewOptions {
  /** Where it starts, in bytes; a multiple of the element size. Default 0. */
  readonly byteOffset?: number
  /** How many elements. Default: all that fit between `byteOffset` and the end of the region. */
  readonly length?: number
}

const KINDS: ReadonlySet<unknown> = new Set<unknown>([
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
])

/** @throws ArgumentError if `kind` is not the constructor of a typed array. */
export function checkViewKind(kind: unknown): void {
  if (KINDS.has(kind)) return
  const names = [...KINDS].map((known) => (known as { name: string }).name).join(', ')
  throw mustBe('kind', `a view type, one of ${names}`, kind)
}

const names: OptionNames<ViewOptions> = { byteOffset: true, length: true }

/** Checks the names; the values depend on the region. @throws ArgumentError */
export function checkView(options: ViewOptions): void {
  checkOptions('view', options, names)
}
