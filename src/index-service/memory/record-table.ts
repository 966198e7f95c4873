import { randomFillSync } from 'node:crypto'
import { hashBytes } from '../../codecs/index.ts'
import { AddNumber, DefectError, native, PackNumber, SetNumber } from '../../native/index.ts'
import type { Chunk } from './chunk.ts'
import {
  BUCKET_BYTES,
  BUCKET_SEGMENTS_MAX,
  BUCKETS_PER_SEGMENT,
  BucketWord,
  bucketOf,
  CHUNK_BYTES,
  CHUNK_SHIFT,
  HeaderWord,
  IDENTITY_WORDS,
  KEYS_PER_BUCKET,
  LAYOUT_MAGIC,
  LAYOUT_VERSION,
  RECORD_BYTES_MAX,
  RECORD_HEAD_BYTES,
  RecordWord,
  recordBytes,
  SLOTS_PER_BUCKET,
  SPACES,
  UNIT_BYTES,
  UNIT_MASK,
} from './layout.ts'
import type {
  PackOptions,
  RecordSample,
  RecordSampler,
  Records,
  SampleOptions,
  StringsAdded,
  StringsPacked,
  StringsSet,
  Unpacked,
} from './records.ts'
import { Segments } from './segments.ts'
import { UseCounts, type UseWindow } from './use-counts.ts'
import { type MarkModeNumber, UseMarks } from './use-marks.ts'

/** Places of records that strings which are set together have replaced. */
const released = new Int32Array(1024)

/** Where records are added together, buckets are split for as many before. */
const SPLIT_AHEAD = 512

/** As the addon numbers them. */
const STOPS: readonly StringsPacked['stop'][] = ['other', 'room', 'end', 'buckets']

const UNITS_PER_BUCKET = BUCKET_BYTES / UNIT_BYTES

/**
 * Bytes by key, in memory that other processes read while this one writes: see `layout.ts`. A table never refuses what
 * its caller has room for by its own count; the memory that it takes for that follows `usedBytes`.
 */
export class RecordTable implements Records, RecordSampler {
  nowMs = 0
  unpacked: Unpacked | undefined
  readonly #segments: Segments
  readonly #seed: number
  readonly #marks: UseMarks
  readonly #counts: UseCounts
  #size = 0
  #applied = 0
  /** How many changes are under way that readers are not to see in between, one within the other. */
  #changes = 0
  /** Since then nothing was published. */
  #isEmptied = false
  #buckets = 0
  /** Places of the segments that hold buckets. */
  #bucketSegments: number[] = []
  /** Buckets of a segment for those that overflow. */
  #overflow = { place: 0, left: 0 }
  #freeBuckets: number[] = []
  /** Where the last search ended: a bucket, its chunk and the slot. */
  #foundChunk: Chunk | undefined
  #foundWord = 0
  readonly #setNumbers = new Float64Array(SetNumber.Count)
  readonly #addNumbers = new Float64Array(AddNumber.Count)
  readonly #packNumbers = new Float64Array(PackNumber.Count)

  constructor(seed = 0) {
    this.#seed = seed >>> 0
    this.#segments = new Segments((place) => this.#moved(place))
    const { words } = this.#segments.header
    this.#marks = new UseMarks(words, (place) => this.#chunkOf(place))
    this.#counts = new UseCounts(words, (place) => this.#chunkOf(place))
    words[HeaderWord.Version] = LAYOUT_VERSION
    words[HeaderWord.Seed] = this.#seed
    words[HeaderWord.Process] = process.pid
    randomFillSync(words, HeaderWord.Identity, IDENTITY_WORDS)
    for (let db = 0; db < SPACES; db += 1) words[HeaderWord.Spaces + db] = db
    this.#addBuckets(1)
    Atomics.store(words, HeaderWord.Magic, LAYOUT_MAGIC)
  }

  get size(): number {
    return this.#size
  }

  get usedBytes(): number {
    return this.#segments.liveBytes + this.#size * (BUCKET_BYTES / KEYS_PER_BUCKET)
  }

  get figures(): Segments['figures'] {
    return this.#segments.figures
  }

  /** The memory of all chunks, also of those that come later. */
  get chunks(): readonly Uint8Array[] {
    return this.#segments.chunkBytes
  }

  /** The descriptor by which other processes find the first chunk. */
  get descriptor(): number {
    return this.#segments.header.words[HeaderWord.Descriptors]!
  }

  /** Tells it from other tables. */
  get identity(): readonly number[] {
    return [...this.#segments.header.words.subarray(HeaderWord.Identity, HeaderWord.Identity + IDENTITY_WORDS)]
  }

  /** How far the log is applied, as was published last. */
  get applied(): number {
    return this.#applied
  }

  /** Say how far the log is applied here. What was changed before can be seen by those who see this. */
  publish(index: number): void {
    this.#applied = index
    const { words } = this.#segments.header
    Atomics.store(words, HeaderWord.Applied + 1, Math.floor(index / 2 ** 32))
    Atomics.store(words, HeaderWord.Applied, index >>> 0)
    if (!this.#isEmptied || index === 0) return
    this.#isEmptied = false
    this.#endChange()
  }

  /** The space of a database. */
  spaceOf(db: number): number {
    return this.#segments.header.words[HeaderWord.Spaces + db]!
  }

  swapSpaces(one: number, other: number): void {
    const { words } = this.#segments.header
    const [ofOne, ofOther] = [this.spaceOf(one), this.spaceOf(other)]
    Atomics.add(words, HeaderWord.Swaps, 1)
    Atomics.store(words, HeaderWord.Spaces + one, ofOther)
    Atomics.store(words, HeaderWord.Spaces + other, ofOne)
    Atomics.add(words, HeaderWord.Swaps, 1)
  }

  together<T>(change: () => T): T {
    this.#beginChange()
    try {
      return change()
    } finally {
      this.#endChange()
    }
  }

  #beginChange(): void {
    this.#changes += 1
    if (this.#changes === 1) Atomics.add(this.#segments.header.words, HeaderWord.Together, 1)
  }

  #endChange(): void {
    this.#changes -= 1
    if (this.#changes === 0) Atomics.add(this.#segments.header.words, HeaderWord.Together, 1)
  }

  get(key: Uint8Array): Uint8Array | undefined {
    if (!this.#isFound(key) && !this.#find(hashBytes(key, key.length, this.#seed), key)) return undefined
    const { words } = this.#foundChunk!
    if (this.nowMs !== 0) this.#marks.use(words[this.#foundWord]!, this.nowMs)
    return this.#valueAt(words[this.#foundWord + 1]!)
  }

  set(key: Uint8Array, value: Uint8Array): void {
    if (key.length + value.length + RECORD_HEAD_BYTES > RECORD_BYTES_MAX)
      throw new DefectError(`a record of ${value.length} bytes is longer than its writer may make it`)
    const isFound = this.#isFound(key)
    const hash = isFound ? this.#foundChunk!.words[this.#foundWord]! : hashBytes(key, key.length, this.#seed)
    // Only where room has to be made, records move.
    const mayMove = !this.#segments.hasRoom(recordBytes(key.length, value.length))
    const place = mayMove ? this.#write(hash, outside(key), outside(value)) : this.#write(hash, key, value)
    // What is in use may have moved to make room.
    if ((isFound && !mayMove) || this.#find(hash, key)) this.#swap(this.#foundChunk!, this.#foundWord, place)
    else this.#add(hash, place)
  }

  setStrings(
    calls: Uint8Array,
    { from, count }: { readonly from: number; readonly count: number },
    version: number,
  ): StringsSet {
    const numbers = this.#setNumbers
    numbers[SetNumber.Added] = this.#roomForMore()
    const { place, end } = this.#segments.room
    numbers[SetNumber.Offset] = from
    numbers[SetNumber.Calls] = count
    numbers[SetNumber.Version] = version
    numbers[SetNumber.NowMs] = this.nowMs
    numbers[SetNumber.Place] = place
    numbers[SetNumber.End] = end
    numbers[SetNumber.SparePlace] = this.#overflow.place
    numbers[SetNumber.Spares] = this.#overflow.left
    numbers[SetNumber.Cut] = this.unpacked?.versionMax ?? -1
    numbers[SetNumber.Cursor] = this.unpacked?.cursor ?? 0
    const done = native.setStrings(this.#segments.chunkBytes, calls, released, numbers)
    this.#segments.filled(numbers[SetNumber.Place]!)
    this.#overflow = { place: numbers[SetNumber.SparePlace]!, left: numbers[SetNumber.Spares]! }
    const added = numbers[SetNumber.Added]!
    this.#added(added)
    for (let at = 0; at < numbers[SetNumber.Released]!; at += 1) this.#release(released[at]! >>> 0)
    return { calls: done, added, offset: numbers[SetNumber.Offset]! }
  }

  reserve(records: number): void {
    if (this.#size > 0) return
    const buckets = Math.min(Math.ceil(records / KEYS_PER_BUCKET), BUCKET_SEGMENTS_MAX * BUCKETS_PER_SEGMENT)
    while (this.#bucketSegments.length * BUCKETS_PER_SEGMENT < buckets) this.#addBuckets(0)
    // All of them are empty.
    this.#buckets = Math.max(this.#buckets, buckets)
    Atomics.store(this.#segments.header.words, HeaderWord.Buckets, this.#buckets)
  }

  addStrings(bytes: Uint8Array): StringsAdded {
    const numbers = this.#addNumbers
    numbers[AddNumber.Most] = this.#roomForMore()
    const { place, end } = this.#segments.room
    numbers[AddNumber.From] = 0
    numbers[AddNumber.NowMs] = this.nowMs
    numbers[AddNumber.Place] = place
    numbers[AddNumber.End] = end
    numbers[AddNumber.SparePlace] = this.#overflow.place
    numbers[AddNumber.Spares] = this.#overflow.left
    const count = native.addStrings(this.#segments.chunkBytes, bytes, numbers)
    this.#segments.filled(numbers[AddNumber.Place]!)
    this.#overflow = { place: numbers[AddNumber.SparePlace]!, left: numbers[AddNumber.Spares]! }
    this.#added(count)
    return { end: numbers[AddNumber.From]!, count, counts: numbers.subarray(AddNumber.Added) }
  }

  /** How many records may come before a bucket is to be split. */
  #roomForMore(): number {
    if (this.#overflow.left === 0) this.#overflow = { place: this.#segments.fix(), left: BUCKETS_PER_SEGMENT }
    const least = this.#size + Math.min(this.#size, SPLIT_AHEAD)
    while (this.#buckets * KEYS_PER_BUCKET < least) this.#split()
    return Math.max(0, this.#buckets * KEYS_PER_BUCKET - this.#size)
  }

  #added(records: number): void {
    if (records === 0) return
    this.#size += records
    this.#marks.grow(this.#size, () => this.#segments.fix())
  }

  packStrings(cursor: number, target: Uint8Array, options: PackOptions): StringsPacked {
    const numbers = this.#packNumbers
    numbers[PackNumber.From] = 0
    numbers[PackNumber.Cursor] = cursor
    numbers[PackNumber.Version] = options.versionMax
    numbers[PackNumber.Buckets] = options.bucketsMax
    numbers.set(options.numbers, PackNumber.Spaces)
    const count = native.packStrings(this.#segments.chunkBytes, target, numbers)
    const stop = STOPS[numbers[PackNumber.Stop]!]!
    return { lengthBytes: numbers[PackNumber.From]!, count, cursor: numbers[PackNumber.Cursor]!, stop }
  }

  /** Note from now on when or how often records are used; undefined: do not. */
  mark(mode: MarkModeNumber | undefined, nowMs: number): void {
    if (mode === undefined) this.#marks.end()
    else if (mode !== this.#marks.mode) this.#marks.begin(mode, this.#size, nowMs, () => this.#segments.fix())
  }

  /** Count from now on how often records are used, also by those who read from outside. */
  countUses(): UseWindow {
    return this.#counts.begin(() => this.#segments.fix())
  }

  /** Uses are counted. */
  get isCounting(): boolean {
    return this.#counts.isOn
  }

  /** The owner uses a record: its own looks do not count by themselves. */
  use(key: Uint8Array): void {
    this.#counts.use(hashBytes(key, key.length, this.#seed))
  }

  /** Of about `count` records from a cursor on: keys (copies) that were used more than `above` times. */
  usedMore(
    window: UseWindow,
    cursor: number,
    { count, above, accepts }: { count: number; above: () => number; accepts: (firstByte: number) => boolean },
    found: (key: Uint8Array, uses: number) => void,
  ): number {
    let at = cursor >>> 0
    let looked = 0
    do {
      const bucket = bucketOf(at, this.#buckets)
      this.#walk(bucket, ({ words }, word) => {
        looked += 1
        const uses = window.usesOf(words[word]!)
        const place = words[word + 1]!
        if (uses > above() && accepts(this.#firstByteAt(place))) found(this.#keyAt(place).slice(), uses)
      })
      at = nextInReverse(at, this.#maskOf(bucket))
    } while (at !== 0 && looked < count)
    return at
  }

  idleMs(key: Uint8Array, nowMs: number): number | undefined {
    return this.#marks.idleMs(hashBytes(key, key.length, this.#seed), nowMs)
  }

  frequency(key: Uint8Array, nowMs: number): number | undefined {
    return this.#marks.frequency(hashBytes(key, key.length, this.#seed), nowMs)
  }

  delete(key: Uint8Array): boolean {
    if (!this.#find(hashBytes(key, key.length, this.#seed), key)) return false
    this.#swap(this.#foundChunk!, this.#foundWord, 0)
    this.#size -= 1
    return true
  }

  /** Readers find nothing until the next {@link publish}. */
  clear(): void {
    this.publish(0)
    if (!this.#isEmptied) this.#beginChange()
    this.#isEmptied = true
    for (let bucket = 0; bucket < this.#buckets; bucket += 1)
      this.#walk(bucket, (chunk, word) => this.#swap(chunk, word, 0))
    this.#size = 0
  }

  /**
   * In the order of the reversed bits of the hash, in which both halves of a bucket that was split are next to each
   * other. So a cursor goes on in a table that has grown since, and in that of another replica with the same seed.
   */
  scan(cursor: number, count: number): { readonly cursor: number; readonly keys: Uint8Array[] } {
    const keys: Uint8Array[] = []
    let at = cursor >>> 0
    do {
      const bucket = bucketOf(at, this.#buckets)
      this.#walk(bucket, (chunk, word) => keys.push(this.#keyAt(chunk.words[word + 1]!).slice()))
      at = nextInReverse(at, this.#maskOf(bucket))
    } while (at !== 0 && keys.length < count)
    return { cursor: at, keys }
  }

  isPassed(key: Uint8Array, cursor: number): boolean {
    return reversed(hashBytes(key, key.length, this.#seed)) < reversed(cursor)
  }

  sample(from: number, count: number, options: SampleOptions): readonly RecordSample[] {
    const { accepts, score, recordsMax, nowMs } = options
    const samples: RecordSample[] = []
    let at = from >>> 0
    let looked = 0
    for (let rounds = 0; samples.length < count && looked < recordsMax && rounds < 2; ) {
      const bucket = bucketOf(at, this.#buckets)
      this.#walk(bucket, ({ words }, word) => {
        looked += 1
        const place = words[word + 1]!
        if (accepts(this.#firstByteAt(place))) samples.push({ place, score: this.#scoreOf(words[word]!, score, nowMs) })
      })
      at = nextInReverse(at, this.#maskOf(bucket))
      if (at === 0) rounds += 1
    }
    return samples
  }

  keyAt(place: number): Uint8Array {
    return this.#keyAt(place).slice()
  }

  #scoreOf(hash: number, score: SampleOptions['score'], nowMs: number): number {
    if (score === 'idle') return this.#marks.idleMs(hash, nowMs) ?? 0
    return score === 'frequency' ? (this.#marks.frequency(hash, nowMs) ?? 0) : 0
  }

  close(): void {
    // Those who still have it mapped find nothing in it.
    this.publish(0)
    this.#segments.close()
  }

  // ---- records
  // ---------------------------------------------------------------------------------------------------------------

  #write(hash: number, key: Uint8Array, value: Uint8Array): number {
    const place = this.#segments.allocate(recordBytes(key.length, value.length))
    const chunk = this.#chunkOf(place)
    const word = (place & UNIT_MASK) * 2
    const { words, bytes } = chunk
    const begin = word * 4 + RECORD_HEAD_BYTES
    words[word + RecordWord.Hash] = hash
    words[word + RecordWord.KeyBytes] = key.length
    words[word + RecordWord.ValueBytes] = value.length
    copy(bytes, begin, key)
    copy(bytes, begin + key.length, value)
    return place
  }

  #chunkOf(place: number): Chunk {
    return this.#segments.chunks[place >>> CHUNK_SHIFT]!
  }

  #keyAt(place: number): Uint8Array {
    const { words, bytes } = this.#chunkOf(place)
    const word = (place & UNIT_MASK) * 2
    const begin = word * 4 + RECORD_HEAD_BYTES
    return bytes.subarray(begin, begin + words[word + RecordWord.KeyBytes]!)
  }

  #firstByteAt(place: number): number {
    return this.#chunkOf(place).bytes[(place & UNIT_MASK) * UNIT_BYTES + RECORD_HEAD_BYTES]!
  }

  #valueAt(place: number): Uint8Array {
    const { words, bytes } = this.#chunkOf(place)
    const word = (place & UNIT_MASK) * 2
    const begin = word * 4 + RECORD_HEAD_BYTES + words[word + RecordWord.KeyBytes]!
    return bytes.subarray(begin, begin + words[word + RecordWord.ValueBytes]!)
  }

  #bytesAt(place: number): number {
    const { words } = this.#chunkOf(place)
    const word = (place & UNIT_MASK) * 2
    return recordBytes(words[word + RecordWord.KeyBytes]!, words[word + RecordWord.ValueBytes]!)
  }

  /** A slot names another record from here on, or none. */
  #swap(chunk: Chunk, word: number, place: number): void {
    const before = chunk.words[word + 1]!
    Atomics.store(chunk.words, word + 1, place)
    this.#release(before)
  }

  /** No slot names it any more. */
  #release(before: number): void {
    this.#segments.release(before, this.#bytesAt(before))
  }

  /** Copy a record to where its segment's survivors go. False if no slot names it. */
  #moved(place: number): boolean {
    const { words, bytes } = this.#chunkOf(place)
    const word = (place & UNIT_MASK) * 2
    if (!this.#findPlace(words[word + RecordWord.Hash]!, place)) return false
    const { words: slots } = this.#foundChunk!
    const slot = this.#foundWord
    const size = this.#bytesAt(place)
    const target = this.#segments.allocate(size)
    const to = this.#chunkOf(target)
    to.bytes.set(bytes.subarray(word * 4, word * 4 + size), (target & UNIT_MASK) * UNIT_BYTES)
    Atomics.store(slots, slot + 1, target)
    this.#segments.release(place, size)
    return true
  }

  // ---- buckets
  // ---------------------------------------------------------------------------------------------------------------

  /** The place of a bucket. */
  #placeOf(bucket: number): number {
    const segment = this.#bucketSegments[Math.floor(bucket / BUCKETS_PER_SEGMENT)]!
    return segment + (bucket % BUCKETS_PER_SEGMENT) * UNITS_PER_BUCKET
  }

  #find(hash: number, key: Uint8Array): boolean {
    for (let place = this.#placeOf(bucketOf(hash, this.#buckets)); place !== 0; ) {
      const chunk = this.#chunkOf(place)
      const { words } = chunk
      const bucket = (place & UNIT_MASK) * 2
      for (let slot = 0; slot < SLOTS_PER_BUCKET; slot += 1) {
        const word = bucket + BucketWord.Slots + slot * 2
        const record = words[word + 1]!
        if (record === 0 || words[word] !== hash || !this.#hasKey(record, key)) continue
        this.#foundChunk = chunk
        this.#foundWord = word
        return true
      }
      place = words[bucket + BucketWord.Next]!
    }
    return false
  }

  /** Whether the slot that was found last names the record of this key: commands look at one key several times. */
  #isFound(key: Uint8Array): boolean {
    const record = this.#foundChunk?.words[this.#foundWord + 1] ?? 0
    return record !== 0 && this.#hasKey(record, key)
  }

  #hasKey(place: number, key: Uint8Array): boolean {
    const { words, bytes } = this.#chunkOf(place)
    const word = (place & UNIT_MASK) * 2
    if (words[word + RecordWord.KeyBytes] !== key.length) return false
    const begin = word * 4 + RECORD_HEAD_BYTES
    for (let at = 0; at < key.length; at += 1) if (bytes[begin + at] !== key[at]) return false
    return true
  }

  #findPlace(hash: number, record: number): boolean {
    let isFound = false
    this.#walk(bucketOf(hash, this.#buckets), (chunk, word) => {
      if (chunk.words[word + 1] !== record) return
      isFound = true
      this.#foundChunk = chunk
      this.#foundWord = word
    })
    return isFound
  }

  #add(hash: number, record: number): void {
    this.#insert(this.#placeOf(bucketOf(hash, this.#buckets)), hash, record)
    this.#size += 1
    this.#marks.grow(this.#size, () => this.#segments.fix())
    if (this.nowMs !== 0) this.#marks.start(hash, this.nowMs)
    if (this.#size > this.#buckets * KEYS_PER_BUCKET) this.#split()
  }

  /** Into the first free slot of a chain. */
  #insert(first: number, hash: number, record: number): void {
    for (let place = first; ; ) {
      const { words } = this.#chunkOf(place)
      const bucket = (place & UNIT_MASK) * 2
      for (let slot = 0; slot < SLOTS_PER_BUCKET; slot += 1) {
        const word = bucket + BucketWord.Slots + slot * 2
        if (words[word + 1] !== 0) continue
        words[word] = hash
        Atomics.store(words, word + 1, record)
        return
      }
      place = words[bucket + BucketWord.Next]!
      if (place === 0) {
        place = this.#overflowBucket()
        Atomics.store(words, bucket + BucketWord.Next, place)
      }
    }
  }

  /** For each slot in use of a bucket and of what overflows from it. */
  #walk(bucket: number, visit: (chunk: Chunk, word: number) => void): void {
    for (let place = this.#placeOf(bucket); place !== 0; ) {
      const chunk = this.#chunkOf(place)
      const word = (place & UNIT_MASK) * 2
      for (let slot = 0; slot < SLOTS_PER_BUCKET; slot += 1) {
        const at = word + BucketWord.Slots + slot * 2
        if (chunk.words[at + 1] !== 0) visit(chunk, at)
      }
      place = chunk.words[word + BucketWord.Next]!
    }
  }

  /** The next bucket of the linear order is divided in two. Readers who miss meanwhile look again. */
  #split(): void {
    const { words } = this.#segments.header
    const added = this.#buckets
    const half = 1 << (31 - Math.clz32(added))
    const source = added - half
    if (added % BUCKETS_PER_SEGMENT === 0) this.#addBuckets(0)
    const first = this.#placeOf(source)
    const target = this.#placeOf(added)
    this.#change(first)
    this.#walk(source, (chunk, word) => {
      const hash = chunk.words[word]!
      if (bucketOf(hash, added + 1) !== added) return
      this.#insert(target, hash, chunk.words[word + 1]!)
      Atomics.store(chunk.words, word + 1, 0)
    })
    this.#buckets = added + 1
    Atomics.store(words, HeaderWord.Buckets, this.#buckets)
    this.#change(first)
    this.#compact(first)
  }

  /** Give back what overflowed from a bucket and is empty now. */
  #compact(first: number): void {
    for (let before = first; ; ) {
      const { words } = this.#chunkOf(before)
      const link = (before & UNIT_MASK) * 2 + BucketWord.Next
      const place = words[link]!
      if (place === 0) return
      const next = this.#chunkOf(place).words
      const bucket = (place & UNIT_MASK) * 2
      let isEmpty = true
      for (let slot = 0; slot < SLOTS_PER_BUCKET; slot += 1)
        if (next[bucket + BucketWord.Slots + slot * 2 + 1] !== 0) isEmpty = false
      if (!isEmpty) {
        before = place
        continue
      }
      this.#change(first)
      Atomics.store(words, link, next[bucket + BucketWord.Next]!)
      next[bucket + BucketWord.Next] = 0
      this.#freeBuckets.push(place)
      this.#change(first)
    }
  }

  /** Odd while a bucket is changed, even after. */
  #change(place: number): void {
    Atomics.add(this.#chunkOf(place).words, (place & UNIT_MASK) * 2 + BucketWord.Version, 1)
  }

  #addBuckets(count: number): void {
    if (this.#bucketSegments.length === BUCKET_SEGMENTS_MAX) throw new DefectError('all segments of buckets are in use')
    const { words } = this.#segments.header
    const place = this.#segments.fix()
    words[HeaderWord.BucketSegments + this.#bucketSegments.length] = place
    this.#bucketSegments.push(place)
    if (count === 0) return
    this.#buckets = count
    Atomics.store(words, HeaderWord.Buckets, count)
  }

  #overflowBucket(): number {
    const free = this.#freeBuckets.pop()
    if (free !== undefined) return free
    if (this.#overflow.left === 0) this.#overflow = { place: this.#segments.fix(), left: BUCKETS_PER_SEGMENT }
    const { place } = this.#overflow
    this.#overflow = { place: place + UNITS_PER_BUCKET, left: this.#overflow.left - 1 }
    return place
  }

  /** Of a bucket among those that there are: how many bits of a hash say that it is this one. */
  #maskOf(bucket: number): number {
    const half = 1 << (31 - Math.clz32(this.#buckets))
    const isSplit = bucket >= half || bucket < this.#buckets - half
    return isSplit ? half * 2 - 1 : half - 1
  }
}

/** A view into the table may be written over by making room. */
function outside(bytes: Uint8Array): Uint8Array {
  return bytes.buffer.byteLength >= CHUNK_BYTES ? bytes.slice() : bytes
}

/** Shorter than a call of `set` for what is usual. */
const COPIED_BY_LOOP_MAX = 48

function copy(to: Uint8Array, begin: number, from: Uint8Array): void {
  if (from.length > COPIED_BY_LOOP_MAX) to.set(from, begin)
  else for (let at = 0; at < from.length; at += 1) to[begin + at] = from[at]!
}

/** The next number if its bits are read from the lowest on, where only those of `mask` count; 0 after the last. */
function nextInReverse(cursor: number, mask: number): number {
  return reversed((reversed((cursor | ~mask) >>> 0) + 1) >>> 0)
}

function reversed(value: number): number {
  let bits = value
  bits = ((bits >>> 1) & 0x55555555) | ((bits & 0x55555555) << 1)
  bits = ((bits >>> 2) & 0x33333333) | ((bits & 0x33333333) << 2)
  bits = ((bits >>> 4) & 0x0f0f0f0f) | ((bits & 0x0f0f0f0f) << 4)
  bits = ((bits >>> 8) & 0x00ff00ff) | ((bits & 0x00ff00ff) << 8)
  return ((bits >>> 16) | (bits << 16)) >>> 0
}
