import {
  BUCKET_BYTES,
  CHUNK_BYTES,
  CHUNK_SHIFT,
  HEADER_BYTES,
  HeaderWord,
  RECORD_HEAD_BYTES,
  SEGMENT_BYTES,
  UNIT_BYTES,
  UNIT_MASK,
} from '../memory/layout.ts'
import type { TableMemory, TablePart } from '../memory/table-memory.ts'
import { isTable } from '../memory/table-reader.ts'
import type { ShardMemory } from '../node/index-contract.ts'
import { BUFFER_BYTES, type ReadBuffer, type ReadPiece, type ReadPort } from './read-line.ts'

/** A record is fetched with what is likely to be its key and value. */
const RECORD_GUESS_BYTES = 1024
/** Behind both headers. */
const PARTS_BEGIN = 2 * HEADER_BYTES
/** What lies behind that in a buffer is for heads of voters. */
export const PARTS_END: number = BUFFER_BYTES - 1024

/** What is fetched: a place and how much there. */
export interface WantedPart {
  readonly place: number
  readonly lengthBytes: number
}

/** Parts that were fetched: which READ of the call it was tells the order. */
interface FetchedPart extends TablePart {
  readonly from: number
  readonly end: number
  readonly order: number
}

/** Places of segments of buckets, which stay: words of the header, by their place. */
export type KnownSegments = Map<number, TablePart>

/**
 * The memory of a table of another machine, as far as one call has READ it. What is looked at was read in the order in
 * which it is looked at:
 *
 * 1. READs of a connection are carried out one after the other. A tcp device takes the lock of its keys for each, and
 *    copies under it. So what it loads for one READ, it has loaded before anything of the next.
 * 2. The header `before` comes first, then parts, then the header `after`, which is read again with more parts.
 * 3. A part counts only if it was read with, or after, the part that was asked for before it. Otherwise it is wanted,
 *    and read once more. So a wrong guess of what to fetch costs a round trip, and nothing else.
 * 4. Bytes of one READ may have been read in any order. So `again` takes a later READ.
 * 5. Both headers have the identity that the node has told. So keys that its device has given to other memory
 *    meanwhile are found out, as is a table that was emptied.
 */
export class FetchedTable implements TableMemory {
  readonly before: Uint32Array
  readonly after: Uint32Array
  readonly tries = 1
  /** What the last look has missed. */
  readonly wanted: WantedPart[] = []
  /** Something that is wanted is too long, or nonsense. */
  isBeyond = false
  /** Or in a chunk that the node has taken since it told. */
  isUnknown = false
  readonly #line: ReadPort
  readonly #buffer: ReadBuffer
  readonly #memory: ShardMemory
  readonly #segments: KnownSegments
  #parts: FetchedPart[] = []
  #used: WantedPart[] = []
  #reads = 0
  #end = PARTS_BEGIN
  /** Of the part that was looked at last. */
  #order = 0

  constructor(line: ReadPort, buffer: ReadBuffer, memory: ShardMemory, segments: KnownSegments) {
    this.#line = line
    this.#buffer = buffer
    this.#memory = memory
    this.#segments = segments
    const word = buffer.begin / 4
    this.before = line.words.subarray(word, word + HEADER_BYTES / 4)
    this.after = line.words.subarray(word + HEADER_BYTES / 4, word + PARTS_BEGIN / 4)
  }

  /** At the beginning and at the end it is the table that the node has told of. */
  get isTold(): boolean {
    const { identity } = this.#memory
    return [this.before, this.after].every(
      (header) => isTable(header) && identity.every((word, number) => header[HeaderWord.Identity + number] === word),
    )
  }

  /** Someone wants to know what is used. One that only READs cannot say so. */
  get isMarked(): boolean {
    return this.after[HeaderWord.MarkSegments] !== 0 || this.after[HeaderWord.UseCounts] !== 0
  }

  /** What the last look has used, in order. */
  get used(): readonly WantedPart[] {
    return this.#used
  }

  /** The next look begins. */
  begin(): void {
    this.#order = 0
    this.#used = []
    this.wanted.length = 0
  }

  /**
   * READ `parts` and the header behind them. With `isFirst`, the other header comes before, and no earlier part counts.
   * `also`: what is READ beside that.
   */
  fetch(parts: readonly WantedPart[], isFirst: boolean, also: readonly ReadPiece[] = []): Promise<boolean> {
    const { begin } = this.#buffer
    if (isFirst) {
      this.#parts = []
      this.#end = PARTS_BEGIN
    }
    const header = this.#memory.chunks[0]!
    const pieces: ReadPiece[] = [...also]
    if (isFirst) pieces.push({ from: header, lengthBytes: HEADER_BYTES, to: begin })
    for (const { place, lengthBytes } of parts) {
      const chunk = this.#memory.chunks[place >>> CHUNK_SHIFT]
      const rounded = (lengthBytes + UNIT_BYTES - 1) & -UNIT_BYTES
      if (chunk === undefined || this.#end + rounded > PARTS_END) {
        this.isBeyond = true
        break
      }
      const to = begin + this.#end
      const offset = (place & UNIT_MASK) * UNIT_BYTES
      pieces.push({ from: { address: chunk.address + offset, key: chunk.key }, lengthBytes: rounded, to })
      this.#reads += 1
      const { bytes, words } = this.#line
      const end = place + rounded / UNIT_BYTES
      this.#parts.push({ bytes, words, place: place - to / UNIT_BYTES, from: place, end, order: this.#reads })
      this.#end += rounded
    }
    pieces.push({ from: header, lengthBytes: HEADER_BYTES, to: begin + HEADER_BYTES })
    return this.#line.read(this.#buffer, pieces)
  }

  part(place: number, lengthBytes: number): TablePart | undefined {
    if (place < SEGMENT_BYTES / UNIT_BYTES) return this.#segment(place)
    const found = this.#find(place, lengthBytes, this.#order)
    if (found === undefined) return undefined
    const last = this.#used.at(-1)
    if (last?.place === place) this.#used.pop()
    this.#use(found, place, Math.max(lengthBytes, last?.place === place ? last.lengthBytes : 0))
    return found
  }

  again(place: number, lengthBytes: number): TablePart | undefined {
    const found = this.#find(place, lengthBytes, this.#order + 1)
    if (found === undefined) return undefined
    this.#use(found, place, lengthBytes)
    return place < SEGMENT_BYTES / UNIT_BYTES ? this.#keep(place, found) : found
  }

  #use({ order }: FetchedPart, place: number, lengthBytes: number): void {
    this.#order = order
    this.#used.push({ place, lengthBytes })
  }

  #find(place: number, lengthBytes: number, order: number): FetchedPart | undefined {
    if (this.wanted.length > 0) return undefined
    const end = place + lengthBytes / UNIT_BYTES
    const found = this.#parts.find((part) => part.order >= order && part.from <= place && end <= part.end)
    if (found === undefined) this.#want(place, lengthBytes)
    return found
  }

  /** The header names it for good once there is such a bucket. Before, the word is 0. */
  #segment(place: number): TablePart | undefined {
    const known = this.#segments.get(place)
    if (known !== undefined) return known
    const part = this.#find(place, UNIT_BYTES, 0)
    return part && this.#keep(place, part)
  }

  #keep(place: number, part: TablePart): TablePart {
    const word = (place - part.place) * 2
    const words = part.words.slice(word, word + 2)
    const kept = { bytes: new Uint8Array(words.buffer), words, place }
    this.#segments.set(place, kept)
    return kept
  }

  #want(place: number, lengthBytes: number): void {
    const offset = (place & UNIT_MASK) * UNIT_BYTES
    if (offset + lengthBytes > CHUNK_BYTES || lengthBytes > PARTS_END) this.isBeyond = true
    else if (this.#memory.chunks[place >>> CHUNK_SHIFT] === undefined) this.isUnknown = true
    else if (lengthBytes !== RECORD_HEAD_BYTES) this.wanted.push({ place, lengthBytes })
    else this.wanted.push({ place, lengthBytes: Math.min(RECORD_GUESS_BYTES, CHUNK_BYTES - offset) })
  }
}

/** The READs for a bucket. `mayLack`: it may not have the key, so its version is looked at again. */
export function partsOfBucket(place: number, mayLack: boolean): readonly WantedPart[] {
  const version = { place, lengthBytes: UNIT_BYTES }
  const parts = [version, { place, lengthBytes: BUCKET_BYTES }]
  return mayLack ? [...parts, version] : parts
}
