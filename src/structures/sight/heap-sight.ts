import { BlockKind, kindOf } from '../heap/block-state.ts'
import {
  GRANULE_BYTES,
  GRANULES_PER_SLAB,
  HEAP_BYTES_MIN,
  HEAP_MAGIC,
  HEAP_VERSION,
  HeaderOffset,
  type HeapLayout,
  heapBytesOf,
  layoutOf,
  PARTICIPANTS_MAX,
  SLAB_BYTES,
  SLAB_RECORD_BYTES,
} from '../heap/layout.ts'
import { blocksPerSlab, CLASS_GRANULES } from '../heap/size-classes.ts'
import { SlabKind, slabDetail, slabKind } from '../heap/slab-word.ts'
import { nowMs } from '../now.ts'

/** How often something is read again while it changes. */
const ATTEMPTS_MAX = 8

/** A block in use, as it was when it was looked at. */
export interface BlockSight {
  readonly reference: number
  /** Its state word, whose generation tells it from an earlier or later block at its place. */
  readonly state: number
  /** Where it begins, in bytes. */
  readonly offset: number
  readonly lengthBytes: number
}

/** What a region's first bytes say. */
export type HeapIdentity = 'heap' | 'other version' | 'none'

/** Bytes of a region that {@link identifyHeap} looks at. */
export const HEAP_IDENTITY_BYTES = 16

/** Whether the region whose first bytes are these holds structures. */
export function identifyHeap(first: Uint8Array, lengthBytes: number): HeapIdentity {
  if (first.length < HEAP_IDENTITY_BYTES || lengthBytes < HEAP_BYTES_MIN) return 'none'
  const view = new DataView(first.buffer, first.byteOffset, HEAP_IDENTITY_BYTES)
  if (view.getInt32(HeaderOffset.Magic, true) !== HEAP_MAGIC) return 'none'
  if (view.getInt32(HeaderOffset.Version, true) !== HEAP_VERSION) return 'other version'
  return view.getInt32(HeaderOffset.Slabs, true) === layoutOf(heapBytesOf(lengthBytes)).slabs ? 'heap' : 'none'
}

/**
 * A heap that is read by a process which is no participant. It enters no epoch, so nothing waits for it. A block that
 * it looks at may be freed and used for something else at any moment. Therefore:
 *
 * 1. Every number that comes from the heap is checked before it is used as a place or a length. The memory may also be
 *    garbage: another program may have written it.
 * 2. A block is looked at only while its state says that it is in use. The state is read again afterwards. If it is the
 *    same word, what was read in between belonged to this block: a block that is used again has another generation.
 * 3. The word that named the block is read between the two. A block in use whose word still names it has been filled,
 *    for it was filled before it was linked.
 * 4. Reading is tried {@link ATTEMPTS_MAX} times. Then the answer is that it changes.
 *
 * It reads only memory that was taken, of slabs below `Backed` that are not holes: reading a hole of a shared mapping
 * would fill it. If a slab becomes a hole between a look at a block's state and the reading, a page of it is taken. It
 * stays so until the slab is used again.
 */
export class HeapSight {
  readonly layout: HeapLayout
  readonly #words: Int32Array
  readonly #longs: BigInt64Array
  readonly #floats: Float64Array
  readonly #bytes: Uint8Array
  readonly #clockShiftMs: number
  /** It is never read. A store to it keeps the loads before it from being done after the next one. */
  readonly #fence = new Int32Array(1)

  /**
   * `bytes`: the region, from a multiple of 8; at least {@link HEAP_BYTES_MIN}. `clockShiftMs`: of its space.
   */
  constructor(bytes: Uint8Array, clockShiftMs: number = 0) {
    const { buffer, byteOffset } = bytes
    const lengthBytes = heapBytesOf(bytes.length)
    this.layout = layoutOf(lengthBytes)
    this.#words = new Int32Array(buffer, byteOffset, lengthBytes / 4)
    this.#longs = new BigInt64Array(buffer, byteOffset, lengthBytes / 8)
    this.#floats = new Float64Array(buffer, byteOffset, lengthBytes / 8)
    this.#bytes = bytes
    this.#clockShiftMs = clockShiftMs
  }

  /** Milliseconds of the clock by which times are kept in the heap. */
  nowMs(): number {
    return nowMs() + this.#clockShiftMs
  }

  /** The word at a place; 0 beyond the end. */
  word(offset: number): number {
    const index = offset >>> 2
    return index < this.#words.length ? Atomics.load(this.#words, index) : 0
  }

  long(offset: number): bigint {
    const index = offset >>> 3
    return index < this.#longs.length ? Atomics.load(this.#longs, index) : 0n
  }

  /** Not a number beyond the end. */
  float(offset: number): number {
    return this.#floats[offset >>> 3] ?? Number.NaN
  }

  /** A copy of up to `lengthBytes` bytes. */
  copy(offset: number, lengthBytes: number): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#bytes, offset, offset + Math.max(0, lengthBytes))
  }

  /** Participants have slots below this. */
  get participantsHigh(): number {
    return Math.min(PARTICIPANTS_MAX, Math.max(0, this.word(HeaderOffset.ParticipantsHigh)))
  }

  /** Slabs below this have had memory. */
  get backed(): number {
    return Math.min(this.layout.slabs, Math.max(0, this.word(HeaderOffset.Backed)))
  }

  /** The block that a word names; undefined if it names none that is in use. */
  block(reference: number): BlockSight | undefined {
    const granule = reference - this.layout.firstReference
    if (!(granule >= 0 && granule < this.backed * GRANULES_PER_SLAB)) return undefined
    const lengthBytes = this.#lengthOf(granule)
    const state = this.#stateOf(reference)
    if (lengthBytes === 0 || kindOf(state) !== BlockKind.Live) return undefined
    return { reference, state, offset: reference * GRANULE_BYTES, lengthBytes }
  }

  /**
   * The block that the word at `place` names, which `read` looks at. Undefined if the block or the word was another
   * afterwards, or `read` returns undefined.
   */
  through<T>(place: number, read: (block: BlockSight) => T | undefined): T | undefined {
    const reference = this.word(place)
    const block = this.block(reference)
    if (block === undefined || this.word(place) !== reference) return undefined
    const found = read(block)
    return this.isStill(block) ? found : undefined
  }

  /** Whether a block is still the one that was looked at, so that everything read of it since then was its own. */
  isStill({ reference, state }: BlockSight): boolean {
    Atomics.store(this.#fence, 0, 0)
    return this.#stateOf(reference) === state
  }

  /** The first result of `read` that is not undefined; undefined if it changes all the time. */
  settled<T>(read: () => T | undefined): T | undefined {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const found = read()
      if (found !== undefined) return found
    }
    return undefined
  }

  /** The record of a slab: what it is used for. */
  slabWord(slab: number): number {
    return this.word(this.layout.recordsOffset + slab * SLAB_RECORD_BYTES)
  }

  /** How many bytes of a slab are in blocks that are in use or retired. */
  usedIn(slab: number): number {
    const word = this.slabWord(slab)
    const granules = CLASS_GRANULES[slabDetail(word)]
    const kind = slabKind(word)
    if (kind === SlabKind.Head || kind === SlabKind.Tail) return SLAB_BYTES
    if ((kind !== SlabKind.Sized && kind !== SlabKind.Closing) || granules === undefined) return 0
    const head = this.layout.firstReference + slab * GRANULES_PER_SLAB
    let used = 0
    for (let at = 0; at < blocksPerSlab(slabDetail(word)); at += 1) {
      const state = kindOf(this.#stateOf(head + at * granules))
      if (state === BlockKind.Live || state === BlockKind.Retired) used += granules * GRANULE_BYTES
    }
    return used
  }

  #stateOf(reference: number): number {
    return this.word(this.layout.statesOffset + (reference - this.layout.firstReference) * 4)
  }

  /** Of the block that begins at this granule of the slabs; 0 if none begins there. */
  #lengthOf(granule: number): number {
    const slab = Math.floor(granule / GRANULES_PER_SLAB)
    const within = granule % GRANULES_PER_SLAB
    const word = this.slabWord(slab)
    const detail = slabDetail(word)
    if (slabKind(word) === SlabKind.Head) return within === 0 && slab + detail <= this.backed ? detail * SLAB_BYTES : 0
    const granules = CLASS_GRANULES[detail]
    if (slabKind(word) !== SlabKind.Sized || granules === undefined) return 0
    const isStart = within % granules === 0 && within / granules < blocksPerSlab(detail)
    return isStart ? granules * GRANULE_BYTES : 0
  }
}
