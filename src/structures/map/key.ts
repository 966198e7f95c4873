import { hashWords } from '../../codecs/index.ts'
import { ArgumentError, mustBe } from '../../native/index.ts'
import type { WordMemory } from '../memory/word-memory.ts'
import { EntryOffset, keyRoom } from './layout.ts'

/** The key of a map's entry. Keys of different kinds are different: `1` is not `'1'`. */
export type MapKey = string | number | Uint8Array

/** The longest key in bytes; text counts in UTF-8. */
export const KEY_BYTES_MAX = 1024

const Kind = { Text: 0, Number: 1, Bytes: 2 } as const
const encoder = new TextEncoder()
/** A byte order mark belongs to the key. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** One key as bytes: filled again for each operation, so that none is allocated. */
export class Key {
  hash: number = 0
  /** Length in bytes, and kind from bit 16 on. */
  meta: number = 0
  readonly bytes: Uint8Array
  readonly #words: Int32Array
  readonly #floats: Float64Array
  readonly #seed: number

  /** `bytes`: where it is kept. */
  constructor(seed: number, bytes: Uint8Array = new Uint8Array(KEY_BYTES_MAX + 8)) {
    this.#seed = seed
    this.bytes = bytes
    this.#words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
    this.#floats = new Float64Array(bytes.buffer, bytes.byteOffset, 1)
  }

  /** @throws ArgumentError when it is too long, or not a key. */
  set(key: MapKey): void {
    this.put(key)
    this.hash = hashWords(this.#words, this.meta & 0xffff, this.#seed) | 0
  }

  /** The same; the hash stays what it was. */
  put(key: MapKey): void {
    if (typeof key === 'string') this.meta = metaOf(Kind.Text, this.#putText(key))
    else if (typeof key === 'number') {
      // There is one zero.
      this.#floats[0] = key + 0
      this.meta = metaOf(Kind.Number, 8)
    } else this.meta = metaOf(Kind.Bytes, this.#putBytes(key))
  }

  /** The key of an entry. */
  load(memory: WordMemory, entry: number): void {
    this.hash = memory.peek(entry + EntryOffset.Hash)
    this.meta = memory.peek(entry + EntryOffset.Key)
    const room = keyRoom(this.meta)
    for (let at = 0; at < room; at += 4) this.#words[at >>> 2] = memory.peek(entry + EntryOffset.Bytes + at)
  }

  /** The key with these bytes, which are at most {@link KEY_BYTES_MAX} rounded up to words. Its hash is left out. */
  copyFrom(meta: number, bytes: Uint8Array): void {
    this.meta = meta
    this.bytes.set(bytes)
  }

  /** Write it into a new entry. */
  store(memory: WordMemory, entry: number): void {
    memory.poke(entry + EntryOffset.Hash, this.hash)
    memory.poke(entry + EntryOffset.Key, this.meta)
    const room = keyRoom(this.meta)
    for (let at = 0; at < room; at += 4) memory.poke(entry + EntryOffset.Bytes + at, this.#words[at >>> 2]!)
  }

  /** Whether it is the key of the entry at `entry`. */
  isOf(memory: WordMemory, entry: number): boolean {
    if (memory.peek(entry + EntryOffset.Hash) !== this.hash || memory.peek(entry + EntryOffset.Key) !== this.meta)
      return false
    const room = keyRoom(this.meta)
    for (let at = 0; at < room; at += 4)
      if (memory.peek(entry + EntryOffset.Bytes + at) !== this.#words[at >>> 2]) return false
    return true
  }

  /** The key as it was given. */
  value(): MapKey {
    const length = this.meta & 0xffff
    const kind = this.meta >>> 16
    if (kind === Kind.Number) return this.#floats[0]!
    const bytes = this.bytes.subarray(0, length)
    return kind === Kind.Text ? decoder.decode(bytes) : bytes.slice()
  }

  #putText(text: string): number {
    const { length } = text
    if (length > KEY_BYTES_MAX) throw tooLong(length)
    // Word by word: what was just written as bytes could not be read as words without waiting for the processor's store
    // buffer.
    for (let at = 0; at < length; at += 4) {
      const a = text.charCodeAt(at)
      const b = codeAt(text, at + 1)
      const c = codeAt(text, at + 2)
      const d = codeAt(text, at + 3)
      if ((a | b | c | d) > 0x7f) return this.#putUnicode(text)
      this.#words[at >>> 2] = a | (b << 8) | (c << 16) | (d << 24)
    }
    return length
  }

  #putUnicode(text: string): number {
    const { read, written } = encoder.encodeInto(text, this.bytes)
    if (read < text.length || written > KEY_BYTES_MAX) throw tooLong(Buffer.byteLength(text))
    return this.#filledUp(written)
  }

  #putBytes(bytes: Uint8Array): number {
    if (!(bytes instanceof Uint8Array)) throw mustBe('key', 'a string, a number or a Uint8Array', bytes)
    if (bytes.length > KEY_BYTES_MAX) throw tooLong(bytes.length)
    // Detached memory has no bytes, but cannot be copied either.
    if (bytes.length > 0) this.bytes.set(bytes)
    return this.#filledUp(bytes.length)
  }

  /** The last word's other bytes are zeros. */
  #filledUp(length: number): number {
    for (let at = length; (at & 3) !== 0; at += 1) this.bytes[at] = 0
    return length
  }
}

function metaOf(kind: number, length: number): number {
  return (kind << 16) | length
}

/** 0 beyond the end. */
function codeAt(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) : 0
}

function tooLong(length: number): ArgumentError {
  return new ArgumentError('key', `key must have at most ${KEY_BYTES_MAX} bytes, not ${length}`)
}
