/**
 * The compact form of values: a tag of one or two bytes, then its data. Integers that fit take 1, 2 or 5 bytes, other
 * numbers 9. Arrays, plain objects, strings, bytes and typed arrays are written out. Anything else that
 * `structuredClone` takes is given to V8's own format as a whole: Map, Set, Date, RegExp, errors, class instances as
 * plain objects, cycles.
 */
export const Tag = {
  Undefined: 0,
  Null: 1,
  False: 2,
  True: 3,
  Int8: 4,
  Int32: 5,
  Double: 6,
  /** u8 length, then Latin-1. */
  ShortText: 7,
  /** u32 length, then UTF-8. */
  Text: 8,
  /** u8 kind (index of `kinds`), u32 length in bytes, then the bytes. */
  Typed: 9,
  /** u32 count, then values. */
  Array: 10,
  /** u32 count, then key and value in turn; keys as texts. */
  Object: 11,
  /** u32 length, then V8's format. */
  Cloned: 12,
  /** Whether negative, u8 length, then the magnitude, least byte first. */
  BigInt: 13,
} as const

/** Nesting beyond this goes to V8's format when written, and is refused when read. */
export const DEPTH_MAX = 64
/** Texts up to here go as Latin-1, where they can. */
export const SHORT_TEXT_MAX = 24

/** Any of {@link kinds}, as far as it matters here. */
type AnyTyped = Uint8Array | Float64Array
export type TypedConstructor = new (buffer: ArrayBufferLike, byteOffset: number, length: number) => AnyTyped
/** Typed arrays, by their number on the wire. */
export const kinds: readonly (TypedConstructor & { readonly BYTES_PER_ELEMENT: number })[] = [
  Uint8Array,
  Int8Array,
  Uint8ClampedArray,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
  BigUint64Array,
  BigInt64Array,
] as unknown as readonly (TypedConstructor & { readonly BYTES_PER_ELEMENT: number })[]
