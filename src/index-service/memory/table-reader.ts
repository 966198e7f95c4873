import { hashBytes } from '../../codecs/index.ts'
import { copyOf } from './copy.ts'
import {
  BUCKET_BYTES,
  BUCKETS_PER_SEGMENT,
  BucketWord,
  bucketOf,
  CHUNK_SHIFT,
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
import { MappedTable, type TableMemory } from './table-memory.ts'
import { UseCounts } from './use-counts.ts'
import { UseMarks } from './use-marks.ts'

/** A chain that is longer is none: its links were read while they changed. */
const CHAIN_MAX = 64

/** What a look found: the value, `undefined` for no such key, `'unknown'` if the table could not be read. */
export type Found = Uint8Array | undefined | 'unknown'

/** A word of 32 bits of the table. */
interface TableWord {
  readonly chunk: number
  /** Bytes from the start of the chunk. */
  readonly offset: number
  readonly value: number
}

/** Where the value of a record lies. */
export interface RecordPlace {
  readonly chunk: number
  /** Bytes from the start of the chunk. */
  readonly offset: number
  readonly length: number
  /**
   * What is read there is the whole value as long as these words have these values afterwards. They are the slot that
   * names the record, how often segments were used again and spaces swapped, and which table it is. See the rules of
   * `layout.ts`.
   */
  readonly unchanged: readonly TableWord[]
}

/**
 * The table of another process, read while that one writes it. It never returns a value that is torn or was freed; see
 * the numbered rules of `layout.ts`. Everything that it reads may be anything, so every place and length is checked.
 */
export class TableReader {
  readonly #memory: TableMemory
  readonly #seed: number
  /** Undefined where memory cannot be written from here. */
  readonly #marks: UseMarks | undefined
  readonly #counts: UseCounts | undefined
  /** The slot that was found last, in bytes, and the record that it named. */
  #slot = { place: 0, word: 0 }
  #record = 0

  constructor(memory: TableMemory) {
    this.#memory = memory
    const { before } = memory
    this.#seed = before[HeaderWord.Seed]!
    if (!(memory instanceof MappedTable)) return
    const chunkOf = (place: number) => memory.part(place, SEGMENT_BYTES)
    this.#marks = new UseMarks(before, chunkOf)
    this.#counts = new UseCounts(before, chunkOf)
  }

  /** Undefined if it cannot be reached from here. */
  static open(processId: number, descriptor: number): TableReader | undefined {
    const memory = MappedTable.open(processId, descriptor)
    if (memory === undefined) return undefined
    if (isTable(memory.before) && memory.before[HeaderWord.Process] === processId) return new TableReader(memory)
    memory.close()
    return undefined
  }

  /** Of a table of this machine. */
  get processId(): number {
    return this.#memory.before[HeaderWord.Process]!
  }

  /** The descriptor of a chunk in that process. */
  descriptorOf(chunk: number): number {
    return this.#memory.before[HeaderWord.Descriptors + chunk]!
  }

  /** How far its owner has applied the log, at least, before what is looked at next. */
  get applied(): number {
    return appliedOf(this.#memory.before)
  }

  /** The same, after what was looked at. */
  get appliedAfter(): number {
    return appliedOf(this.#memory.after)
  }

  /** Spaces are what they were if this is even, and the same {@link swapsAfter what was looked at}. */
  get swaps(): number {
    return Atomics.load(this.#memory.before, HeaderWord.Swaps)
  }

  get swapsAfter(): number {
    return Atomics.load(this.#memory.after, HeaderWord.Swaps)
  }

  /** The space of a database. */
  spaceOf(db: number): number {
    return Atomics.load(this.#memory.before, HeaderWord.Spaces + db)
  }

  /** The value of a key, as a copy. */
  get(key: Uint8Array): Found {
    const hash = hashBytes(key, key.length, this.#seed)
    const { before, after, tries } = this.#memory
    for (let each = 0; each < tries; each += 1) {
      const reused = Atomics.load(before, HeaderWord.Reused)
      const buckets = Atomics.load(before, HeaderWord.Buckets)
      const together = Atomics.load(before, HeaderWord.Together)
      if (together % 2 !== 0) continue
      const found = this.#look(hash, key, buckets)
      // Nothing that was alive at the beginning was written over meanwhile, and no change was seen in its middle.
      if (Atomics.load(after, HeaderWord.Reused) !== reused) continue
      if (Atomics.load(after, HeaderWord.Together) !== together) continue
      if (found === 'again' || Atomics.load(after, HeaderWord.Buckets) !== buckets) continue
      if (found !== undefined) this.#used(hash)
      return found
    }
    return 'unknown'
  }

  /** The value of a key, and where it lies. */
  find(key: Uint8Array): { readonly value: Uint8Array; readonly place: RecordPlace } | undefined | 'unknown' {
    const { before, after, tries } = this.#memory
    for (let each = 0; each < tries; each += 1) {
      const reused = Atomics.load(before, HeaderWord.Reused)
      const { swaps } = this
      const value = this.get(key)
      if (!(value instanceof Uint8Array)) return value
      const { place, word } = this.#slot
      const part = this.#memory.again(place, BUCKET_BYTES)
      if (part === undefined) continue
      // What the slot names now is the same record, or it has been replaced.
      const isNamed = Atomics.load(part.words, (place - part.place) * 2 + word) === this.#record
      const isReused = Atomics.load(after, HeaderWord.Reused) !== reused
      if (!isNamed || isReused || swaps % 2 !== 0 || this.swapsAfter !== swaps) continue
      const offset = (this.#record & UNIT_MASK) * UNIT_BYTES + RECORD_HEAD_BYTES + key.length
      const ofSlot = { chunk: place >>> CHUNK_SHIFT, offset: (place & UNIT_MASK) * UNIT_BYTES + word * 4 }
      const unchanged = [
        { ...ofSlot, value: this.#record },
        { chunk: 0, offset: HeaderWord.Reused * 4, value: reused },
        { chunk: 0, offset: HeaderWord.Swaps * 4, value: swaps },
        { chunk: 0, offset: HeaderWord.Identity * 4, value: before[HeaderWord.Identity]! },
      ]
      return { value, place: { chunk: this.#record >>> CHUNK_SHIFT, offset, length: value.length, unchanged } }
    }
    return 'unknown'
  }

  close(): void {
    if (this.#memory instanceof MappedTable) this.#memory.close()
  }

  #used(hash: number): void {
    if (this.#marks?.mode !== undefined) this.#marks.use(hash, Date.now())
    this.#counts?.use(hash)
  }

  #look(hash: number, key: Uint8Array, buckets: number): Uint8Array | undefined | 'again' {
    const memory = this.#memory
    const first = buckets === 0 ? undefined : this.#bucketPlace(bucketOf(hash, buckets))
    // Bytes that were fetched together were read in any order. So the version comes before the slots, by itself.
    const head = first === undefined ? undefined : memory.part(first, UNIT_BYTES)
    if (first === undefined || head === undefined) return 'again'
    const headWord = (first - head.place) * 2
    const version = Atomics.load(head.words, headWord + BucketWord.Version)
    const next = Atomics.load(head.words, headWord + BucketWord.Next)
    if ((version & 1) !== 0) return 'again'
    let place = first
    for (let length = 0; place !== 0; length += 1) {
      const part = length === 0 ? memory.again(place, BUCKET_BYTES) : memory.part(place, BUCKET_BYTES)
      if (part === undefined || length === CHAIN_MAX) return 'again'
      const bucket = (place - part.place) * 2
      for (let slot = 0; slot < SLOTS_PER_BUCKET; slot += 1) {
        const word = bucket + BucketWord.Slots + slot * 2
        if (part.words[word] !== hash) continue
        const value = this.#valueOf(Atomics.load(part.words, word + 1), hash, key)
        if (value === 'again') return value
        if (value !== undefined) {
          this.#slot.place = place
          this.#slot.word = word - bucket + 1
          return value
        }
      }
      place = Atomics.load(part.words, bucket + BucketWord.Next)
    }
    const after = memory.again(first, UNIT_BYTES)
    if (after === undefined) return 'again'
    const word = (first - after.place) * 2
    // The link of the bucket that was walked may be later than the one beside the version: it has to be the same, too.
    const isSame = Atomics.load(after.words, word + BucketWord.Version) === version
    return isSame && Atomics.load(after.words, word + BucketWord.Next) === next ? undefined : 'again'
  }

  /** Undefined if the record is of another key. */
  #valueOf(place: number, hash: number, key: Uint8Array): Uint8Array | undefined | 'again' {
    if (place === 0) return undefined
    const head = this.#memory.part(place, RECORD_HEAD_BYTES)
    if (head === undefined) return 'again'
    const at = (place - head.place) * 2
    if (head.words[at + RecordWord.Hash] !== hash || head.words[at + RecordWord.KeyBytes] !== key.length)
      return undefined
    const lengthBytes = RECORD_HEAD_BYTES + key.length + head.words[at + RecordWord.ValueBytes]!
    const part = this.#memory.part(place, lengthBytes)
    if (part === undefined) return 'again'
    const { bytes } = part
    const begin = (place - part.place) * UNIT_BYTES
    const ofKey = begin + RECORD_HEAD_BYTES
    for (let each = 0; each < key.length; each += 1) if (bytes[ofKey + each] !== key[each]) return undefined
    this.#record = place
    return copyOf(bytes, ofKey + key.length, begin + lengthBytes)
  }

  #bucketPlace(bucket: number): number | undefined {
    const word = HeaderWord.BucketSegments + Math.floor(bucket / BUCKETS_PER_SEGMENT)
    const place = word >>> 1
    const known = this.#memory.part(place, UNIT_BYTES)
    // What was read before there was such a bucket is of no use.
    const part = known?.words[word - known.place * 2] === 0 ? this.#memory.again(place, UNIT_BYTES) : known
    const segment = part?.words[word - part.place * 2]
    if (segment === undefined || segment === 0) return undefined
    return segment + ((bucket % BUCKETS_PER_SEGMENT) * BUCKET_BYTES) / UNIT_BYTES
  }
}

/** Whether a table begins with these words. */
export function isTable(header: Uint32Array): boolean {
  return Atomics.load(header, HeaderWord.Magic) === LAYOUT_MAGIC && header[HeaderWord.Version] === LAYOUT_VERSION
}

function appliedOf(header: Uint32Array): number {
  for (;;) {
    const high = Atomics.load(header, HeaderWord.Applied + 1)
    const low = Atomics.load(header, HeaderWord.Applied)
    if (Atomics.load(header, HeaderWord.Applied + 1) === high) return high * 2 ** 32 + low
  }
}
