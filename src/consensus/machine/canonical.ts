import { Buffer } from 'node:buffer'
import { ByteWriter } from './byte-writer.ts'

const Tag = {
  Undefined: 0,
  Null: 1,
  False: 2,
  True: 3,
  Number: 4,
  Text: 5,
  Bigint: 6,
  Bytes: 7,
  Again: 8,
  List: 9,
  Map: 10,
  Set: 11,
  Other: 12,
} as const

/**
 * The bytes of an answer, to compare it between replicas. Valid until the next call. Equal answers have equal bytes.
 *
 * In V8's own format, which the codec `structured` writes, they need not. It shows how the engine keeps a value, and
 * that depends on when code was optimized. The array that `map` returns is written as dense before, and as sparse after
 * that. A whole number may be a double, and Latin text may take two bytes a letter.
 */
export function canonicalBytes(answer: unknown): Uint8Array {
  writer.reset()
  new CanonicalWriter().value(answer)
  return writer.bytes()
}

const writer = new ByteWriter()

class CanonicalWriter {
  /** Objects by the order in which they came: one may contain itself. */
  readonly #seen = new Map<object, number>()

  value(value: unknown): void {
    if (value === undefined) writer.u8(Tag.Undefined)
    else if (value === null) writer.u8(Tag.Null)
    else if (typeof value === 'boolean') writer.u8(value ? Tag.True : Tag.False)
    else if (typeof value === 'number') this.#number(value)
    else if (typeof value === 'string') this.#text(Tag.Text, value)
    else if (typeof value === 'bigint') this.#text(Tag.Bigint, String(value))
    else this.#object(value as object)
  }

  #number(value: number): void {
    writer.u8(Tag.Number)
    writer.f64(value)
  }

  #text(tag: number, text: string): void {
    writer.u8(tag)
    this.#counted(Buffer.from(text, 'utf16le'))
  }

  #counted(bytes: Uint8Array): void {
    writer.u32(bytes.length)
    writer.append(bytes)
  }

  #object(value: object): void {
    const before = this.#seen.get(value)
    if (before !== undefined) {
      writer.u8(Tag.Again)
      writer.u32(before)
      return
    }
    this.#seen.set(value, this.#seen.size)
    if (ArrayBuffer.isView(value)) this.#bytes(kindOf(value), value.buffer, value.byteOffset, value.byteLength)
    else if (value instanceof ArrayBuffer) this.#bytes(kindOf(value), value, 0, value.byteLength)
    else if (value instanceof Map) this.#many(Tag.Map, value.size, [...value].flat())
    else if (value instanceof Set) this.#many(Tag.Set, value.size, [...value])
    else if (Array.isArray(value)) this.#list(value)
    else this.#fields(value)
  }

  #bytes(kind: string, memory: ArrayBufferLike, offset: number, lengthBytes: number): void {
    this.#text(Tag.Bytes, kind)
    this.#counted(new Uint8Array(memory, offset, lengthBytes))
  }

  #many(tag: number, size: number, values: readonly unknown[]): void {
    writer.u8(tag)
    writer.u32(size)
    for (const value of values) this.value(value)
  }

  /** A hole is not the value undefined. */
  #list(list: readonly unknown[]): void {
    writer.u8(Tag.List)
    writer.u32(list.length)
    const keys = Object.keys(list)
    const isPlain = keys.length === list.length && keys.every((key, at) => key === String(at))
    if (isPlain) for (const value of list) this.value(value)
    else this.#pairs(list, keys)
  }

  /** Dates, errors and boxed values: by their text, too. */
  #fields(value: object): void {
    this.#text(Tag.Other, isPlainObject(value) ? '' : `${kindOf(value)} ${String(value)}`)
    if (value instanceof Date) this.#number(value.getTime())
    this.#pairs(value, Object.keys(value))
  }

  #pairs(value: object, keys: readonly string[]): void {
    writer.u32(keys.length)
    for (const key of keys) {
      this.#text(Tag.Text, key)
      this.value((value as Record<string, unknown>)[key])
    }
  }
}

function kindOf(value: object): string {
  return Object.prototype.toString.call(value)
}

/** Instances of classes are cloned as plain objects. */
function isPlainObject(value: object): boolean {
  return kindOf(value) === '[object Object]'
}
