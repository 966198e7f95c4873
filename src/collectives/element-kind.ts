import { ArgumentError } from '../native/index.ts'
import { detached, isDetached } from '../verbs/index.ts'

/** An array that a collective moves and combines: any typed array except `Float16Array`. */
export type ElementArray =
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

/** A number, or a bigint if the elements have 64 bits. */
export type ElementOf<A extends ElementArray> = A extends BigInt64Array | BigUint64Array ? bigint : number

const arrayTypes = [
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
] as const

const names = [
  'int8',
  'uint8',
  'uint8clamped',
  'int16',
  'uint16',
  'int32',
  'uint32',
  'float32',
  'float64',
  'int64',
  'uint64',
] as const

export type ElementKindName = (typeof names)[number]

/** A kind of element; every rank of a collective uses the same. */
export interface ElementKind {
  readonly name: ElementKindName
  readonly bytes: number
  readonly float: boolean
  readonly big: boolean
  allocate(count: number): ElementArray
}

const kinds: readonly ElementKind[] = arrayTypes.map((ArrayType, index) => {
  const name = names[index]!
  return {
    name,
    bytes: ArrayType.BYTES_PER_ELEMENT,
    float: name.startsWith('float'),
    big: ArrayType.BYTES_PER_ELEMENT === 8 && !name.startsWith('float'),
    allocate: (count) => new ArrayType(count),
  }
})

/** Return the kind of an array's elements. @throws ArgumentError for anything but a typed array of a known kind. */
export function elementKindOf(array: ElementArray, argument: string): ElementKind {
  const index = arrayTypes.findIndex((ArrayType) => array instanceof ArrayType)
  const kind = kinds[index]
  if (kind !== undefined && array.length === 0 && isDetached(array.buffer))
    throw new ArgumentError(argument, detached(argument))
  if (kind !== undefined) return kind
  throw new ArgumentError(argument, `${argument} must be a typed array (Float64Array, Int32Array, BigInt64Array, …)`)
}

/** The kind by its name. */
export function elementKind(name: ElementKindName): ElementKind {
  return kinds[names.indexOf(name)]!
}

/** Every kind there is. */
export const elementKindNames: readonly ElementKindName[] = names
