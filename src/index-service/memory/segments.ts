import { DefectError, native } from '../../native/index.ts'
import { type Chunk, createChunk } from './chunk.ts'
import {
  CHUNK_SHIFT,
  CHUNKS_MAX,
  HeaderWord,
  RecordWord,
  recordBytes,
  SEGMENT_BYTES,
  SEGMENTS_PER_CHUNK,
  UNIT_BYTES,
  UNIT_MASK,
  UNITS_PER_SEGMENT,
} from './layout.ts'

/** What a segment holds. A run is several for one record that is longer than a segment. */
const SegmentUse = { Fresh: 0, Free: 1, Fixed: 2, Records: 3, RunHead: 4, RunRest: 5 } as const

/** Cleaning starts when fewer are free. It needs one to move what is alive to. */
const FREE_MIN = 3
/** Segments that are fuller than this on average are not worth cleaning: another chunk is taken. */
const FULL_ENOUGH = 0.85

/** A segment is worth cleaning if more of it is dead. */
const DEAD_MIN_BYTES = 0.05 * SEGMENT_BYTES
/**
 * Or if less of it is alive: two such segments fit into one. Of one that is fuller, the end may be too short for any
 * record: three of 64 KiB fill 75 % of a segment, and moving them would gain nothing, again and again.
 */
const ALIVE_MAX_BYTES = 0.5 * SEGMENT_BYTES

/** Where records of one kind go: one behind the other. */
interface Head {
  segment: number
  /** The next free unit, and the end. */
  place: number
  end: number
}

/**
 * The segments of a shard's memory: which are free, how much of each is alive, and which one to clean next. See
 * `layout.ts`. Only its owner uses it.
 */
export class Segments {
  readonly chunks: Chunk[] = []
  /** Of each of them. */
  readonly chunkBytes: Uint8Array[] = []
  /** Of records that are alive. */
  liveBytes = 0
  readonly #descriptors: number[] = []
  #uses = new Uint8Array(0)
  /** Bytes alive in each segment; of a run, in its head. */
  #alive = new Uint32Array(0)
  /** How far each segment is filled, in units. */
  #filled = new Uint32Array(0)
  #free = 0
  /** Where the search for a free segment goes on, so that each rests for as long as can be. */
  #next = 0
  #fixed = 0
  readonly #fresh: Head = { segment: -1, place: 0, end: 0 }
  /** Records that outlived a cleaning are likely to live on, so they lie together. */
  readonly #old: Head = { segment: -1, place: 0, end: 0 }
  readonly #move: (place: number) => boolean
  #isCleaning = false

  /** `move` is told of a record that is to move; it says false if the record is dead. */
  constructor(move: (place: number) => boolean) {
    this.#move = move
    this.#grow()
    // The header.
    this.#take(0, SegmentUse.Fixed)
    this.#fixed += 1
  }

  /** What is taken from the machine. */
  get bytes(): number {
    return this.chunks.length * SEGMENTS_PER_CHUNK * SEGMENT_BYTES
  }

  get header(): Chunk {
    return this.chunks[0]!
  }

  /** Whether the next record of `bytes` goes where the last one went: nothing moves then. */
  hasRoom(bytes: number): boolean {
    return bytes <= SEGMENT_BYTES && this.#fresh.place + bytes / UNIT_BYTES <= this.#fresh.end
  }

  /** Where the next records go without anything moving: a place, and the end. */
  get room(): { readonly place: number; readonly end: number } {
    return this.#fresh
  }

  /** Records were written to the {@link room}, up to a place. */
  filled(place: number): void {
    const head = this.#fresh
    const bytes = (place - head.place) * UNIT_BYTES
    if (bytes === 0) return
    head.place = place
    this.#filled[head.segment] = place - head.segment * UNITS_PER_SEGMENT
    this.#alive[head.segment]! += bytes
    this.liveBytes += bytes
  }

  /** Room for a record of `bytes`, a multiple of 8: its place. */
  allocate(bytes: number): number {
    if (bytes > SEGMENT_BYTES) return this.#run(bytes)
    const head = this.#isCleaning ? this.#old : this.#fresh
    const units = bytes / UNIT_BYTES
    if (head.place + units > head.end) this.#fill(head)
    const { place } = head
    head.place += units
    this.#filled[head.segment] = head.place - head.segment * UNITS_PER_SEGMENT
    this.#alive[head.segment]! += bytes
    this.liveBytes += bytes
    return place
  }

  /** The record there is dead. Its bytes stay until the segment is used again. */
  release(place: number, bytes: number): void {
    const segment = Math.floor(place / UNITS_PER_SEGMENT)
    this.#alive[segment]! -= bytes
    this.liveBytes -= bytes
    if (this.#uses[segment] === SegmentUse.RunHead) {
      this.#give(segment)
      for (let rest = segment + 1; this.#uses[rest] === SegmentUse.RunRest; rest += 1) this.#give(rest)
    } else if (this.#alive[segment] === 0 && segment !== this.#fresh.segment && segment !== this.#old.segment)
      this.#give(segment)
  }

  /** A segment that is never cleaned, of zeros: its place. */
  fix(): number {
    const segment = this.#claim()
    this.#uses[segment] = SegmentUse.Fixed
    this.#fixed += 1
    const chunk = this.chunks[Math.floor(segment / SEGMENTS_PER_CHUNK)]!
    const begin = (segment % SEGMENTS_PER_CHUNK) * SEGMENT_BYTES
    chunk.bytes.fill(0, begin, begin + SEGMENT_BYTES)
    return segment * UNITS_PER_SEGMENT
  }

  /** Bytes of `layout.ts` that hold no record: how much of the memory is lost to fragments now. */
  get figures(): { readonly bytes: number; readonly fixedBytes: number; readonly liveBytes: number } {
    return { bytes: this.bytes, fixedBytes: this.#fixed * SEGMENT_BYTES, liveBytes: this.liveBytes }
  }

  close(): void {
    for (const chunk of this.chunks) chunk.close()
    for (const descriptor of this.#descriptors.splice(0)) native.closeDescriptor(descriptor)
  }

  #fill(head: Head): void {
    if (!this.#isCleaning) this.#clean()
    const segment = this.#claim()
    this.#uses[segment] = SegmentUse.Records
    const before = head.segment
    head.segment = segment
    head.place = segment * UNITS_PER_SEGMENT
    head.end = head.place + UNITS_PER_SEGMENT
    this.#filled[segment] = 0
    // It may have died while it was being filled.
    if (before >= 0 && this.#alive[before] === 0) this.#give(before)
  }

  /** Empty segments with the least that is alive, until enough are free; or take another chunk. */
  #clean(): void {
    while (this.#free < FREE_MIN) {
      const usable = this.#uses.length - this.#fixed - this.#free
      const victim = this.liveBytes > FULL_ENOUGH * usable * SEGMENT_BYTES ? -1 : this.#emptiest()
      if (victim < 0) {
        this.#grow()
        return
      }
      this.#empty(victim)
    }
  }

  #emptiest(): number {
    let found = -1
    let least = SEGMENT_BYTES
    for (let segment = 0; segment < this.#uses.length; segment += 1) {
      const alive = this.#alive[segment]!
      if (this.#uses[segment] !== SegmentUse.Records || alive >= least) continue
      if (segment === this.#fresh.segment || segment === this.#old.segment) continue
      const dead = this.#filled[segment]! * UNIT_BYTES - alive
      if (alive >= ALIVE_MAX_BYTES && dead <= DEAD_MIN_BYTES) continue
      found = segment
      least = alive
    }
    return found
  }

  #empty(segment: number): void {
    this.#isCleaning = true
    const begin = segment * UNITS_PER_SEGMENT
    const end = begin + this.#filled[segment]!
    const { words } = this.chunks[begin >>> CHUNK_SHIFT]!
    for (let place = begin; place < end; ) {
      const word = (place & UNIT_MASK) * 2
      const bytes = recordBytes(words[word + RecordWord.KeyBytes]!, words[word + RecordWord.ValueBytes]!)
      this.#move(place)
      place += bytes / UNIT_BYTES
    }
    this.#isCleaning = false
    // The last one that moved has given it back.
    if (this.#uses[segment] === SegmentUse.Records) {
      if (this.#alive[segment] !== 0) throw new DefectError(`segment ${segment} holds records that no slot names`)
      this.#give(segment)
    }
  }

  #run(bytes: number): number {
    const count = Math.ceil(bytes / SEGMENT_BYTES)
    let segment = this.#findRun(count)
    if (segment < 0) {
      this.#grow()
      segment = this.#findRun(count)
    }
    for (let each = segment; each < segment + count; each += 1)
      this.#take(each, each === segment ? SegmentUse.RunHead : SegmentUse.RunRest)
    this.#alive[segment] = bytes
    this.liveBytes += bytes
    return segment * UNITS_PER_SEGMENT
  }

  /** Free ones in a row, within a chunk. Some stay for what moves. */
  #findRun(count: number): number {
    if (this.#free < count + FREE_MIN) return -1
    let length = 0
    for (let segment = 0; segment < this.#uses.length; segment += 1) {
      if (segment % SEGMENTS_PER_CHUNK === 0) length = 0
      length = this.#uses[segment]! <= SegmentUse.Free ? length + 1 : 0
      if (length === count) return segment - count + 1
    }
    return -1
  }

  #claim(): number {
    if (this.#free === 0) this.#grow()
    const count = this.#uses.length
    while (this.#uses[this.#next % count]! > SegmentUse.Free) this.#next += 1
    const segment = this.#next % count
    this.#next = segment + 1
    this.#take(segment, SegmentUse.Records)
    return segment
  }

  #take(segment: number, use: number): void {
    // Readers that copy from it have to see that before its bytes change.
    if (this.#uses[segment] === SegmentUse.Free) Atomics.add(this.header.words, HeaderWord.Reused, 1)
    this.#uses[segment] = use
    this.#alive[segment] = 0
    this.#free -= 1
  }

  #give(segment: number): void {
    this.#uses[segment] = SegmentUse.Free
    this.#alive[segment] = 0
    this.#free += 1
  }

  #grow(): void {
    if (this.chunks.length === CHUNKS_MAX) throw new DefectError(`${CHUNKS_MAX} chunks are in use`)
    const { chunk, descriptor } = createChunk(this.chunks.length)
    this.chunks.push(chunk)
    this.chunkBytes.push(chunk.bytes)
    this.#descriptors.push(descriptor)
    const count = this.chunks.length * SEGMENTS_PER_CHUNK
    this.#uses = grown(this.#uses, count)
    this.#alive = grown(this.#alive, count)
    this.#filled = grown(this.#filled, count)
    this.#free += SEGMENTS_PER_CHUNK
    const { words } = this.header
    words[HeaderWord.Descriptors + this.chunks.length - 1] = descriptor
    Atomics.store(words, HeaderWord.Chunks, this.chunks.length)
  }
}

function grown<T extends Uint8Array | Uint32Array>(old: T, count: number): T {
  const array = new (old.constructor as new (length: number) => T)(count)
  array.set(old)
  return array
}
