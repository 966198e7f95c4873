import { hashBytes } from '../../codecs/index.ts'
import { type Chunk, openChunk } from './chunk.ts'
import { copyOf } from './copy.ts'
import {
  BUCKET_BYTES,
  BUCKETS_PER_SEGMENT,
  BucketWord,
  bucketOf,
  CHUNK_BYTES,
  CHUNK_SHIFT,
  CHUNKS_MAX,
  HeaderWord,
  LAYOUT_MAGIC,
  LAYOUT_VERSION,
  RECORD_HEAD_BYTES,
  RecordWord,
  SEGMENT_BYTES,
  SLOTS_PER_BUCKET,
  UNIT_BYTES,
  UNIT_MASK,
} from './layout.ts'
import { UseCounts } from './use-counts.ts'
import { UseMarks } from './use-marks.ts'

/** A table that changes faster than it is read is asked for by other means. */
const TRIES_MAX = 64
/** A chain that is longer is none: its links were read while they changed. */
const CHAIN_MAX = 64

/** What a look found: the value, `undefined` for no such key, `'unknown'` if the table could not be read. */
export type Found = Uint8Array | undefined | 'unknown'

/** A word of 32 bits in a chunk of the owner's process. */
interface TableWord {
  readonly descriptor: number
  /** Bytes from the start of the chunk. */
  readonly offset: number
  readonly value: number
}

/** Where the value of a record lies. */
export interface RecordPlace {
  /** Of its chunk, in the owner's process. */
  readonly descriptor: number
  /** Bytes from the start of the chunk. */
  readonly offset: number
  readonly length: number
  /**
   * What is read there is the whole value as long as these words have these values afterwards. They are the slot that
   * names the record, and how often segments were used again and spaces swapped. See the rules of `layout.ts`.
   */
  readonly unchanged: readonly TableWord[]
}

/**
 * The table of another process, read while that one writes it. It never returns a value that is torn or was freed; see
 * the numbered rules of `layout.ts`. Everything that it reads may be anything, so every place and length is checked.
 */
export class TableReader {
  readonly processId: number
  readonly #chunks: Chunk[]
  readonly #seed: number
  readonly #marks: UseMarks
  readonly #counts: UseCounts
  /** The slot that was found last, and the record that it named. */
  #slot = { chunk: 0, word: 0 }
  #record = 0

  private constructor(processId: number, header: Chunk) {
    this.processId = processId
    this.#chunks = [header]
    this.#seed = header.words[HeaderWord.Seed]!
    const chunkOf = (place: number): Chunk | undefined => this.#chunkOf(place, SEGMENT_BYTES)
    this.#marks = new UseMarks(header.words, chunkOf)
    this.#counts = new UseCounts(header.words, chunkOf)
  }

  /** Undefined if it cannot be reached from here. */
  static open(processId: number, descriptor: number): TableReader | undefined {
    const header = openChunk(processId, descriptor)
    if (header === undefined) return undefined
    const { words } = header
    const isTable = Atomics.load(words, HeaderWord.Magic) === LAYOUT_MAGIC
    if (isTable && words[HeaderWord.Version] === LAYOUT_VERSION && words[HeaderWord.Process] === processId)
      return new TableReader(processId, header)
    header.close()
    return undefined
  }

  /** How far its owner has applied the log, at least. */
  get applied(): number {
    const { words } = this.#chunks[0]!
    for (;;) {
      const high = Atomics.load(words, HeaderWord.Applied + 1)
      const low = Atomics.load(words, HeaderWord.Applied)
      if (Atomics.load(words, HeaderWord.Applied + 1) === high) return high * 2 ** 32 + low
    }
  }

  /** Spaces are what they were if this is the same and even. */
  get swaps(): number {
    return Atomics.load(this.#chunks[0]!.words, HeaderWord.Swaps)
  }

  /** The space of a database. */
  spaceOf(db: number): number {
    return Atomics.load(this.#chunks[0]!.words, HeaderWord.Spaces + db)
  }

  /** The value of a key, as a copy. */
  get(key: Uint8Array): Found {
    const hash = hashBytes(key, key.length, this.#seed)
    const { words } = this.#chunks[0]!
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const reused = Atomics.load(words, HeaderWord.Reused)
      const buckets = Atomics.load(words, HeaderWord.Buckets)
      const found = this.#look(hash, key, buckets)
      // Nothing that was alive at the beginning was written over meanwhile.
      if (Atomics.load(words, HeaderWord.Reused) !== reused) continue
      if (found === 'again' || Atomics.load(words, HeaderWord.Buckets) !== buckets) continue
      if (found !== undefined) this.#used(hash)
      return found
    }
    return 'unknown'
  }

  /** The value of a key, and where it lies. */
  find(key: Uint8Array): { readonly value: Uint8Array; readonly place: RecordPlace } | undefined | 'unknown' {
    const { words } = this.#chunks[0]!
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const reused = Atomics.load(words, HeaderWord.Reused)
      const { swaps } = this
      const value = this.get(key)
      if (!(value instanceof Uint8Array)) return value
      const { chunk, word } = this.#slot
      // What the slot names now is the same record, or it has been replaced.
      const isNamed = Atomics.load(this.#chunks[chunk]!.words, word) === this.#record
      if (!isNamed || Atomics.load(words, HeaderWord.Reused) !== reused || swaps % 2 !== 0 || this.swaps !== swaps)
        continue
      const offset = (this.#record & UNIT_MASK) * UNIT_BYTES + RECORD_HEAD_BYTES + key.length
      const unchanged = [
        { descriptor: this.#descriptorOf(chunk), offset: word * 4, value: this.#record },
        { descriptor: this.#descriptorOf(0), offset: HeaderWord.Reused * 4, value: reused },
        { descriptor: this.#descriptorOf(0), offset: HeaderWord.Swaps * 4, value: swaps },
      ]
      const descriptor = this.#descriptorOf(this.#record >>> CHUNK_SHIFT)
      return { value, place: { descriptor, offset, length: value.length, unchanged } }
    }
    return 'unknown'
  }

  #descriptorOf(chunk: number): number {
    return this.#chunks[0]!.words[HeaderWord.Descriptors + chunk]!
  }

  close(): void {
    for (const chunk of this.#chunks) chunk.close()
  }

  #used(hash: number): void {
    this.#marks.use(hash, Date.now())
    this.#counts.use(hash)
  }

  #look(hash: number, key: Uint8Array, buckets: number): Uint8Array | undefined | 'again' {
    if (buckets === 0) return 'again'
    const first = this.#bucketPlace(bucketOf(hash, buckets))
    const head = this.#chunkOf(first, BUCKET_BYTES)
    if (head === undefined) return 'again'
    const versionWord = (first & UNIT_MASK) * 2 + BucketWord.Version
    const version = Atomics.load(head.words, versionWord)
    if ((version & 1) !== 0) return 'again'
    let place = first
    for (let length = 0; place !== 0; length += 1) {
      const chunk = this.#chunkOf(place, BUCKET_BYTES)
      if (chunk === undefined || length === CHAIN_MAX) return 'again'
      const bucket = (place & UNIT_MASK) * 2
      for (let slot = 0; slot < SLOTS_PER_BUCKET; slot += 1) {
        const word = bucket + BucketWord.Slots + slot * 2
        if (chunk.words[word] !== hash) continue
        const value = this.#valueOf(Atomics.load(chunk.words, word + 1), hash, key)
        if (value === 'again') return value
        if (value !== undefined) {
          this.#slot.chunk = place >>> CHUNK_SHIFT
          this.#slot.word = word + 1
          return value
        }
      }
      place = Atomics.load(chunk.words, bucket + BucketWord.Next)
    }
    return Atomics.load(head.words, versionWord) === version ? undefined : 'again'
  }

  /** Undefined if the record is of another key. */
  #valueOf(place: number, hash: number, key: Uint8Array): Uint8Array | undefined | 'again' {
    if (place === 0) return undefined
    const chunk = this.#chunkOf(place, RECORD_HEAD_BYTES)
    if (chunk === undefined) return 'again'
    const { words, bytes } = chunk
    const word = (place & UNIT_MASK) * 2
    if (words[word + RecordWord.Hash] !== hash || words[word + RecordWord.KeyBytes] !== key.length) return undefined
    const begin = word * 4 + RECORD_HEAD_BYTES
    const valueBytes = words[word + RecordWord.ValueBytes]!
    const end = begin + key.length + valueBytes
    if (end > CHUNK_BYTES) return 'again'
    for (let at = 0; at < key.length; at += 1) if (bytes[begin + at] !== key[at]) return undefined
    this.#record = place
    return copyOf(bytes, begin + key.length, end)
  }

  #bucketPlace(bucket: number): number {
    const segment = this.#chunks[0]!.words[HeaderWord.BucketSegments + Math.floor(bucket / BUCKETS_PER_SEGMENT)]!
    return segment + ((bucket % BUCKETS_PER_SEGMENT) * BUCKET_BYTES) / UNIT_BYTES
  }

  /** The chunk that a place is in, if it is one, and `length` bytes are there. */
  #chunkOf(place: number, length: number): Chunk | undefined {
    const number = place >>> CHUNK_SHIFT
    if ((place & UNIT_MASK) * UNIT_BYTES + length > CHUNK_BYTES) return undefined
    return this.#chunks[number] ?? this.#open(number)
  }

  #open(number: number): Chunk | undefined {
    const { words } = this.#chunks[0]!
    if (number >= Math.min(Atomics.load(words, HeaderWord.Chunks), CHUNKS_MAX)) return undefined
    while (this.#chunks.length <= number) {
      const chunk = openChunk(this.processId, words[HeaderWord.Descriptors + this.#chunks.length]!)
      if (chunk === undefined) return undefined
      this.#chunks.push(chunk)
    }
    return this.#chunks[number]
  }
}
