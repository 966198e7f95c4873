/**
 * The data types of the standard (Python Array API 2025.12, "Data types"). A complex element is two neighbouring
 * numbers of its typed array, the real part first.
 */
export type Kind = 'bool' | 'signed integer' | 'unsigned integer' | 'real floating' | 'complex floating'

export type DTypeName =
  | 'bool'
  | 'int8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'uint64'
  | 'float32'
  | 'float64'
  | 'complex64'
  | 'complex128'

export type Elements =
  | Uint8Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint16Array
  | Uint32Array
  | BigUint64Array
  | Float32Array
  | Float64Array

interface ElementsConstructor {
  readonly BYTES_PER_ELEMENT: number
  new (length: number): Elements
  new (buffer: ArrayBufferLike, byteOffset?: number, length?: number): Elements
}

/** One data type. There is one object of each, so that `===` compares them. */
export interface DType {
  readonly name: DTypeName
  readonly kind: Kind
  /** Bytes of one element. */
  readonly bytes: number
  /** Numbers of the typed array in one element: 2 for complex types, else 1. */
  readonly lanes: 1 | 2
  readonly Elements: ElementsConstructor
  /** @internal Its number in the addon: its place in `DTYPES`. */
  readonly number: number
  toString(): string
}

let next = 0

function dtype(name: DTypeName, kind: Kind, typedArray: unknown, lanes: 1 | 2 = 1): DType {
  const Elements = typedArray as ElementsConstructor
  return Object.freeze({
    name,
    kind,
    bytes: Elements.BYTES_PER_ELEMENT * lanes,
    lanes,
    Elements,
    number: next++,
    toString: () => name,
  })
}

export const bool: DType = dtype('bool', 'bool', Uint8Array)
export const int8: DType = dtype('int8', 'signed integer', Int8Array)
export const int16: DType = dtype('int16', 'signed integer', Int16Array)
export const int32: DType = dtype('int32', 'signed integer', Int32Array)
export const int64: DType = dtype('int64', 'signed integer', BigInt64Array)
export const uint8: DType = dtype('uint8', 'unsigned integer', Uint8Array)
export const uint16: DType = dtype('uint16', 'unsigned integer', Uint16Array)
export const uint32: DType = dtype('uint32', 'unsigned integer', Uint32Array)
export const uint64: DType = dtype('uint64', 'unsigned integer', BigUint64Array)
export const float32: DType = dtype('float32', 'real floating', Float32Array)
export const float64: DType = dtype('float64', 'real floating', Float64Array)
export const complex64: DType = dtype('complex64', 'complex floating', Float32Array, 2)
export const complex128: DType = dtype('complex128', 'complex floating', Float64Array, 2)

/** All data types by name. */
export const DTYPES: Readonly<Record<DTypeName, DType>> = {
  bool,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  complex64,
  complex128,
}

export function isDType(value: unknown): value is DType {
  if (typeof value !== 'object' || value === null) return false
  const { name } = value as DType
  return typeof name === 'string' && DTYPES[name] === value
}

export function isInteger(type: DType): boolean {
  return type.kind === 'signed integer' || type.kind === 'unsigned integer'
}

export function isFloating(type: DType): boolean {
  return type.kind === 'real floating' || type.kind === 'complex floating'
}

export function isComplex(type: DType): boolean {
  return type.lanes === 2
}

/** Is an element a BigInt in JavaScript? */
export function isWide(type: DType): boolean {
  return type === int64 || type === uint64
}

/** The real type of the parts of a complex type; any other type itself. */
export function realOf(type: DType): DType {
  if (type === complex64) return float32
  return type === complex128 ? float64 : type
}

/** The complex type whose parts are of this real type. */
export function complexOf(type: DType): DType {
  if (type === float32 || type === complex64) return complex64
  return complex128
}
