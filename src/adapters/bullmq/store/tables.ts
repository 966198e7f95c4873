import { hashText } from '../../../codecs/index.ts'
import type { BlockAllocator } from './block-allocator.ts'
import type { Texts } from './texts.ts'
import type { UndoMemory } from './undo-memory.ts'

/** Bytes of a table, all 0 if it is empty: it lies in the record that has it. */
export const TABLE_BYTES = 24
export const TableOffset = { Count: 0, First: 4, Last: 8, Buckets: 12, Directory: 16, Segments: 20 } as const

/** An entry: this header, the payload, the key. */
export const EntryOffset = { Next: 0, Previous: 4, Chain: 8, Hash: 12, KeyLength: 16, Payload: 24 } as const

/** Up to this many entries are looked through one by one. */
export const SMALL_MAX = 8
export const SEGMENT_BUCKETS = 256
export const SEGMENT_BYTES: number = SEGMENT_BUCKETS * 4

/**
 * Entries by name, in the order in which they were added. A reference of an entry is where its payload begins; it stays
 * the same as long as the entry is there.
 *
 * It grows by one bucket at a time (Litwin, "Linear hashing", VLDB 1980), so no insertion has to move all entries. It
 * does not shrink until it is empty.
 */
export class Tables {
  readonly #memory: UndoMemory
  readonly #allocator: BlockAllocator
  readonly #texts: Texts

  constructor(memory: UndoMemory, allocator: BlockAllocator, texts: Texts) {
    this.#memory = memory
    this.#allocator = allocator
    this.#texts = texts
  }

  count(table: number): number {
    return this.#memory.word(table + TableOffset.Count)
  }

  /** The entry `key`; 0 if it is not there. `payloadBytes` as it was added with. */
  find(table: number, key: string, payloadBytes: number): number {
    const hash = hashName(key)
    const buckets = this.#memory.word(table + TableOffset.Buckets)
    const small = buckets === 0
    const link = small ? EntryOffset.Next : EntryOffset.Chain
    let entry = this.#memory.word(small ? table + TableOffset.First : this.#bucket(table, buckets, hash))
    while (entry !== 0) {
      if (this.#memory.word(entry + EntryOffset.Hash) === hash && this.#isKey(entry, payloadBytes, key)) break
      entry = this.#memory.word(entry + link)
    }
    return entry === 0 ? 0 : entry + EntryOffset.Payload
  }

  /** Add an entry that is not there, with a payload of zeros. */
  add(table: number, key: string, payloadBytes: number): number {
    const memory = this.#memory
    const keyLength = Buffer.byteLength(key)
    const entry = this.#allocator.allocate(EntryOffset.Payload + payloadBytes + keyLength)
    const last = memory.word(table + TableOffset.Last)
    memory.freshZeros(entry, EntryOffset.Payload + payloadBytes)
    memory.freshWord(entry + EntryOffset.Previous, last)
    memory.freshWord(entry + EntryOffset.Hash, hashName(key))
    memory.freshWord(entry + EntryOffset.KeyLength, keyLength)
    this.#texts.write(entry + EntryOffset.Payload + payloadBytes, key, keyLength)
    memory.setWord(last === 0 ? table + TableOffset.First : last + EntryOffset.Next, entry)
    memory.setWord(table + TableOffset.Last, entry)
    memory.setWord(table + TableOffset.Count, this.count(table) + 1)
    const isIndexed = memory.word(table + TableOffset.Buckets) !== 0
    if (isIndexed || this.count(table) > SMALL_MAX) this.#index(table, entry)
    return entry + EntryOffset.Payload
  }

  /** Remove the entry and free it; what its payload refers to is the caller's to free. */
  remove(table: number, reference: number): void {
    const memory = this.#memory
    const entry = reference - EntryOffset.Payload
    const next = memory.word(entry + EntryOffset.Next)
    const previous = memory.word(entry + EntryOffset.Previous)
    memory.setWord(previous === 0 ? table + TableOffset.First : previous + EntryOffset.Next, next)
    memory.setWord(next === 0 ? table + TableOffset.Last : next + EntryOffset.Previous, previous)
    memory.setWord(table + TableOffset.Count, this.count(table) - 1)
    if (memory.word(table + TableOffset.Buckets) !== 0) this.#unchain(table, entry)
    this.#allocator.free(entry)
    if (this.count(table) === 0) this.#freeBuckets(table)
  }

  key(reference: number, payloadBytes: number): string {
    const length = this.#memory.word(reference - EntryOffset.Payload + EntryOffset.KeyLength)
    return this.#texts.read(reference + payloadBytes, length)
  }

  first(table: number): number {
    return referenceOf(this.#memory.word(table + TableOffset.First))
  }

  last(table: number): number {
    return referenceOf(this.#memory.word(table + TableOffset.Last))
  }

  next(reference: number): number {
    return referenceOf(this.#memory.word(reference - EntryOffset.Payload + EntryOffset.Next))
  }

  #isKey(entry: number, payloadBytes: number, key: string): boolean {
    const { bytes } = this.#memory
    const length = this.#memory.word(entry + EntryOffset.KeyLength)
    const at = entry + EntryOffset.Payload + payloadBytes
    if (length !== key.length) return length > key.length && this.#texts.read(at, length) === key
    for (let index = 0; index < length; index += 1) if (bytes[at + index] !== key.charCodeAt(index)) return false
    return true
  }

  /** Put the newest entry into its bucket, and give the table one more. */
  #index(table: number, entry: number): void {
    const buckets = this.#memory.word(table + TableOffset.Buckets)
    if (buckets === 0) {
      this.#addSegment(table)
      this.#memory.setWord(table + TableOffset.Buckets, 1)
      for (let each = this.#memory.word(table + TableOffset.First); each !== 0; ) {
        this.#chain(this.#bucket(table, 1, 0), each)
        each = this.#memory.word(each + EntryOffset.Next)
      }
      while (this.#memory.word(table + TableOffset.Buckets) < SMALL_MAX) this.#split(table)
      return
    }
    this.#chain(this.#bucket(table, buckets, this.#memory.word(entry + EntryOffset.Hash)), entry)
    if (this.count(table) > buckets) this.#split(table)
  }

  #chain(bucket: number, entry: number): void {
    this.#memory.setWord(entry + EntryOffset.Chain, this.#memory.word(bucket))
    this.#memory.setWord(bucket, entry)
  }

  #unchain(table: number, entry: number): void {
    const memory = this.#memory
    const hash = memory.word(entry + EntryOffset.Hash)
    let place = this.#bucket(table, memory.word(table + TableOffset.Buckets), hash)
    while (memory.word(place) !== entry) place = memory.word(place) + EntryOffset.Chain
    memory.setWord(place, memory.word(entry + EntryOffset.Chain))
  }

  /** Move the entries of one bucket that belong into a new one there. */
  #split(table: number): void {
    const memory = this.#memory
    const buckets = memory.word(table + TableOffset.Buckets)
    if (buckets === memory.word(table + TableOffset.Segments) * SEGMENT_BUCKETS) this.#addSegment(table)
    const old = this.#place(table, buckets - 2 ** (31 - Math.clz32(buckets)))
    const moved = this.#place(table, buckets)
    memory.setWord(table + TableOffset.Buckets, buckets + 1)
    let entry = memory.word(old)
    memory.setWord(old, 0)
    while (entry !== 0) {
      const next = memory.word(entry + EntryOffset.Chain)
      const place = this.#bucket(table, buckets + 1, memory.word(entry + EntryOffset.Hash))
      this.#chain(place === moved ? moved : old, entry)
      entry = next
    }
  }

  /** Where the bucket of a hash is. */
  #bucket(table: number, buckets: number, hash: number): number {
    return this.#place(table, bucketOf(hash, buckets))
  }

  #place(table: number, bucket: number): number {
    const directory = this.#memory.word(table + TableOffset.Directory)
    return this.#memory.word(directory + ((bucket / SEGMENT_BUCKETS) | 0) * 4) + (bucket % SEGMENT_BUCKETS) * 4
  }

  #addSegment(table: number): void {
    const memory = this.#memory
    const segments = memory.word(table + TableOffset.Segments)
    // The directory doubles when it is full: at 1, 2, 4, 8, … segments.
    if ((segments & (segments - 1)) === 0) this.#growDirectory(table, segments)
    const segment = this.#allocator.allocate(SEGMENT_BYTES)
    memory.freshZeros(segment, SEGMENT_BYTES)
    memory.setWord(memory.word(table + TableOffset.Directory) + segments * 4, segment)
    memory.setWord(table + TableOffset.Segments, segments + 1)
  }

  #growDirectory(table: number, segments: number): void {
    const memory = this.#memory
    const directory = this.#allocator.allocate(Math.max(1, segments * 2) * 4)
    const old = memory.word(table + TableOffset.Directory)
    for (let at = 0; at < segments * 4; at += 4) memory.freshWord(directory + at, memory.word(old + at))
    this.#texts.free(old)
    memory.setWord(table + TableOffset.Directory, directory)
  }

  #freeBuckets(table: number): void {
    const memory = this.#memory
    const directory = memory.word(table + TableOffset.Directory)
    if (directory === 0) return
    for (let at = 0; at < memory.word(table + TableOffset.Segments); at += 1)
      this.#allocator.free(memory.word(directory + at * 4))
    this.#allocator.free(directory)
    for (const word of [TableOffset.Buckets, TableOffset.Directory, TableOffset.Segments])
      memory.setWord(table + word, 0)
  }
}

function referenceOf(entry: number): number {
  return entry === 0 ? 0 : entry + EntryOffset.Payload
}

/** Which of its buckets a table has a hash in. */
export function bucketOf(hash: number, buckets: number): number {
  const size = 2 ** (31 - Math.clz32(buckets))
  const wide = (hash >>> 0) & (size * 2 - 1)
  return wide < buckets ? wide : wide - size
}

/** Mixed once more: tables take the lowest bits. */
export function hashName(text: string): number {
  const hash = hashText(text)
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return mixed ^ (mixed >>> 13)
}
