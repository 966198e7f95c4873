/**
 * What is where in a heap. A region that was never written is a heap with nothing in it, so making one takes no step
 * that could be cut off.
 *
 * ```
 *  0         header         4 KiB    magic and version, size, seed, the global epoch
 *  4 KiB     participants   64 KiB   256 entries of 256 B, by member slot
 *  68 KiB    directory      4 KiB    1024 references: the structures by name
 *  72 KiB    slab records            8 B a slab: what the slab is, and how often a block of it was freed
 *            block states            4 B for each 64 B of slabs: the one truth about every block
 *            slabs                   64 KiB each
 * ```
 *
 * A block is named by its *reference*: its offset divided by 64, which fits 26 bits.
 *
 * What comes before the block states, the *head*, has memory from the start. Memory was taken for slabs below `Backed`
 * and for their block states (growth.ts). Nothing beyond is touched, not even to be read. Slabs that are holes have
 * given theirs back (shrinking.ts); their states have not.
 *
 * Slabs begin at multiples of 64 KiB, in files too. What a file system caches in larger pages is then given back whole.
 */

/** Reads 'STRU' in a dump of memory. */
export const HEAP_MAGIC = 0x55525453
/** Raised whenever anything in the layout of heaps or structures changes. */
export const HEAP_VERSION = 4

export const HeaderOffset = {
  Magic: 0,
  Version: 4,
  Slabs: 8,
  Seed: 12,
  /** How many slabs have had memory, from the first on. It only rises. */
  Backed: 16,
  /** See gate.ts. It shares its cache line with words that hardly change. */
  Gate: 20,
  Epoch: 64,
  ParticipantsHigh: 128,
  /** A bell, rung when a member leaves an operation or a section. */
  LeftBell: 192,
  /** The chain of what MV-RLU has committed. */
  CommitHead: 256,
  CommitTail: 260,
} as const

export const PARTICIPANTS_OFFSET = 4096
export const PARTICIPANT_BYTES = 256
export const PARTICIPANTS_MAX = 254

export const DIRECTORY_OFFSET = 0x11000
/** The most names that a heap ever has. */
export const STRUCTURES_MAX = 1024

const SLABS_OFFSET_MIN = 0x12000
export const SLAB_BYTES = 65_536
export const GRANULE_BYTES = 64
export const GRANULES_PER_SLAB: number = SLAB_BYTES / GRANULE_BYTES
export const GRANULES_PER_SLAB_LOG2: number = Math.log2(GRANULES_PER_SLAB)
export const SLAB_RECORD_BYTES = 8
/** Of the block states of a slab. */
export const SLAB_STATES_BYTES: number = GRANULES_PER_SLAB * 4
const PAGE_BYTES = 4096

/** The largest heap: what references reach. */
export const HEAP_BYTES_MAX: number = 2 ** 32
/** The smallest: one process with a few kinds of blocks. */
export const HEAP_BYTES_MIN: number = 2 ** 20

/** What a heap uses of a region: whole words of 8 bytes. `& ~7` would cut a length of 2 GiB or more to 32 bits. */
export function heapBytesOf(regionBytes: number): number {
  return regionBytes - (regionBytes % 8)
}

/** Where the parts of a heap of `lengthBytes` are. */
export interface HeapLayout {
  readonly slabs: number
  readonly recordsOffset: number
  readonly statesOffset: number
  readonly slabsOffset: number
  /** Reference of the first block. */
  readonly firstReference: number
}

export function layoutOf(lengthBytes: number): HeapLayout {
  const perSlab = SLAB_BYTES + SLAB_RECORD_BYTES + SLAB_STATES_BYTES
  const slabsMax = Math.floor((lengthBytes - SLABS_OFFSET_MIN) / perSlab)
  // All but one or two of them fit beside what aligning takes.
  for (let slabs = slabsMax; ; slabs -= 1) {
    const layout = layoutWith(slabs)
    if (slabs === 0 || layout.slabsOffset + slabs * SLAB_BYTES <= lengthBytes) return layout
  }
}

function layoutWith(slabs: number): HeapLayout {
  const recordsOffset = SLABS_OFFSET_MIN
  const statesOffset = alignUp(recordsOffset + slabs * SLAB_RECORD_BYTES, PAGE_BYTES)
  const slabsOffset = alignUp(statesOffset + slabs * SLAB_STATES_BYTES, SLAB_BYTES)
  return { slabs, recordsOffset, statesOffset, slabsOffset, firstReference: slabsOffset / GRANULE_BYTES }
}

function alignUp(offset: number, unit: number): number {
  return Math.ceil(offset / unit) * unit
}
