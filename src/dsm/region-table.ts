import { DIRECTORY_ENTRY_BYTES, DIRECTORY_OFFSET, EXTENTS_OFFSET, REGIONS_MAX } from '../cluster/index.ts'
import { alignUp } from './size.ts'

/** Names of regions cannot contain this character: regions with it in their name are hidden. */
const HIDDEN = '\u0001'

/** Whether the name is one of a region that keeps books. */
export const isHiddenName = (name: string): boolean => name.startsWith(HIDDEN)

/** The name of the region that keeps the allocations of region `name`. */
export const bookName = (name: string): string => `${HIDDEN}${name}`

/**
 * `Creating` and `Freeing` are seen only if a holder of the lock was killed: the next one undoes the first and finishes
 * the second.
 */
export const RegionState = { Free: 0, Creating: 1, Ready: 2, Deleted: 3, Freeing: 4 } as const

/** Where a region's bytes are in the arena. */
export interface Extent {
  readonly offset: number
  /** Whole pages. */
  readonly length: number
}

/** An entry's fields, fixed once it is `Ready` (but for `reserved` and `grows`, which may become true). */
export interface RegionEntry extends Extent {
  readonly name: string
  readonly size: number
  /** A number of `COHERENCE_NUMBERS`. */
  readonly coherence: number
  readonly pageSize: number
  /** 1 block, 2 cyclic. */
  readonly placement: number
  readonly reserved: boolean
  /** Its first part was taken; those who open it take the rest as they need it. False once all is taken. */
  readonly grows: boolean
}

/**
 * ```
 * word  0  state; written last
 *       1  generation: raised whenever the entry is used again
 *       2  coherence
 *       3  placement
 *       4  reserved: 1 when all pages were taken, 2 when it grows
 *       5  length of the name in bytes
 * byte 24  size        Float64
 *      32  offset      Float64   of the extent in the arena
 *      40  length      Float64   of the extent
 *      48  page size   Float64
 *     128  name        128 B of UTF-8
 * ```
 */
const Word = { State: 0, Generation: 1, Coherence: 2, Placement: 3, Reserved: 4, NameLength: 5 } as const
const Float = { Size: 3, Offset: 4, Length: 5, PageSize: 6 } as const
const NAME_OFFSET = 128
const NAME_BYTES_MAX = 128
const WORDS = DIRECTORY_ENTRY_BYTES / 4
const FLOATS = DIRECTORY_ENTRY_BYTES / 8

/** What the word `Reserved` says; a version that knows no other takes what is not 1 for 0. */
const Reserved = { AsTouched: 0, All: 1, Grows: 2 } as const

/** Extents begin at multiples of this. */
const EXTENT_ALIGNMENT = 65_536

/** The region directory of an arena, as a table. All changes are made under the space's lock. */
export class RegionTable {
  readonly #control: ArrayBuffer
  readonly #words: Int32Array
  readonly #floats: Float64Array

  constructor(control: ArrayBuffer) {
    this.#control = control
    this.#words = new Int32Array(control, DIRECTORY_OFFSET, REGIONS_MAX * WORDS)
    this.#floats = new Float64Array(control, DIRECTORY_OFFSET, REGIONS_MAX * FLOATS)
  }

  stateOf(index: number): number {
    return Atomics.load(this.#words, index * WORDS + Word.State)
  }

  setState(index: number, state: number): void {
    Atomics.store(this.#words, index * WORDS + Word.State, state)
  }

  generationOf(index: number): number {
    return Atomics.load(this.#words, index * WORDS + Word.Generation)
  }

  /** All pages are taken. */
  setReserved(index: number): void {
    Atomics.store(this.#words, index * WORDS + Word.Reserved, Reserved.All)
  }

  isReserved(index: number): boolean {
    return Atomics.load(this.#words, index * WORDS + Word.Reserved) === Reserved.All
  }

  setGrows(index: number): void {
    Atomics.store(this.#words, index * WORDS + Word.Reserved, Reserved.Grows)
  }

  /** The `Ready` entry of that name. */
  find(name: string): number | undefined {
    for (let index = 0; index < REGIONS_MAX; index += 1) {
      if (this.stateOf(index) === RegionState.Ready && this.nameOf(index) === name) return index
    }
    return undefined
  }

  /** Indexes of all entries in one of these states. */
  inState(...states: readonly number[]): readonly number[] {
    const indexes: number[] = []
    for (let index = 0; index < REGIONS_MAX; index += 1) if (states.includes(this.stateOf(index))) indexes.push(index)
    return indexes
  }

  read(index: number): RegionEntry {
    const word = (at: number) => Atomics.load(this.#words, index * WORDS + at)
    const float = (at: number) => this.#floats[index * FLOATS + at]!
    return {
      name: this.nameOf(index),
      size: float(Float.Size),
      offset: float(Float.Offset),
      length: float(Float.Length),
      coherence: word(Word.Coherence),
      pageSize: float(Float.PageSize),
      placement: word(Word.Placement),
      reserved: word(Word.Reserved) === Reserved.All,
      grows: word(Word.Reserved) === Reserved.Grows,
    }
  }

  /** Fill a free entry and mark it `Creating`. */
  write(index: number, entry: RegionEntry): void {
    const word = index * WORDS
    const float = index * FLOATS
    const name = Buffer.from(entry.name)
    this.#words[word + Word.Coherence] = entry.coherence
    this.#words[word + Word.Placement] = entry.placement
    this.#words[word + Word.Reserved] = entry.reserved ? Reserved.All : Reserved.AsTouched
    this.#words[word + Word.NameLength] = name.length
    this.#floats[float + Float.Size] = entry.size
    this.#floats[float + Float.Offset] = entry.offset
    this.#floats[float + Float.Length] = entry.length
    this.#floats[float + Float.PageSize] = entry.pageSize
    this.#nameBytes(index).set(name)
    Atomics.add(this.#words, word + Word.Generation, 1)
    this.setState(index, RegionState.Creating)
  }

  nameOf(index: number): string {
    const length = Math.min(NAME_BYTES_MAX, Math.max(0, Atomics.load(this.#words, index * WORDS + Word.NameLength)))
    // Copied before it is decoded: another process may be writing it.
    return Buffer.from(this.#nameBytes(index).slice(0, length)).toString()
  }

  /**
   * The first gap between extents that holds `length` bytes. There is no list of free space that could be wrong: it is
   * what no entry has.
   */
  gapFor(length: number): Extent {
    const taken = this.inState(RegionState.Creating, RegionState.Ready, RegionState.Deleted, RegionState.Freeing)
      .map((index) => this.read(index))
      .filter((entry) => entry.length > 0)
      .sort((a, b) => a.offset - b.offset)
    let offset = EXTENTS_OFFSET
    for (const extent of taken) {
      if (extent.offset - offset >= length) break
      offset = Math.max(offset, alignUp(extent.offset + extent.length, EXTENT_ALIGNMENT))
    }
    return { offset, length }
  }

  #nameBytes(index: number): Uint8Array {
    return new Uint8Array(this.#control, DIRECTORY_OFFSET + index * DIRECTORY_ENTRY_BYTES + NAME_OFFSET, NAME_BYTES_MAX)
  }
}
