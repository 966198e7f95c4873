/**
 * A map: its body, its tables, its entries.
 *
 * ```
 *  body    0 reference of the table    4 hand of the eviction    8 whether anything ever expires
 *         64 how many entries each participant added, less those it took away: 256 words
 *  table   0 linked   4 log2 of the slots   8 the larger table that takes its place   12 next chunk to move
 *         16 slots ever used   64 a word a chunk: moved   then the slots
 *  entry   0 linked   4 hash   8 key: length, and kind from bit 16 on   12 length of the value, -1: deleted
 *         16 end of life, Float64   24 read recently   32 key   then the value
 * ```
 *
 * Key and value of an entry never change. A slot is one word:
 *
 * ```
 *   bits 0-25   the entry's reference; 0: none yet; 1: moved
 *        26     frozen: look in the next table
 *        27-31  five bits of the hash
 *
 *             insert            replace, delete (a deleted entry has a key, too)
 *   empty ───────────► entry ◄─────────────► entry              when the table is moved, for good:
 *     │                  │ ╲ deleted
 *     └──► frozen, empty └──► frozen, entry ──► frozen, moved
 * ```
 *
 * An entry may be replaced in the next table, and its memory be another's, only when its slot here says *moved*.
 */
export const BodyOffset = { Table: 0, Hand: 4, Expires: 8, Counts: 64 } as const
export const MAP_BODY_BYTES: number = 64 + 256 * 4

export const TableOffset = { Linked: 0, Log2: 4, Next: 8, Cursor: 12, Used: 16, Chunks: 64 } as const
export const EntryOffset = {
  Linked: 0,
  Hash: 4,
  Key: 8,
  ValueLength: 12,
  EndOfLife: 16,
  Touched: 24,
  Bytes: 32,
} as const

export const DELETED = -1

export const REFERENCE_MASK = 0x3ffffff
export const FROZEN: number = 1 << 26
const FINGERPRINT_SHIFT = 27

/**
 * In place of a reference: the entry that was here is in the next table, or was a deleted one. Do not look at it here
 * any more. Not the reference of any block.
 */
export const MOVED = 1

/** Slots that are moved at a time. */
export const CHUNK_SLOTS = 64
export const LOG2_MIN = 6
/** 64 million slots. */
export const LOG2_MAX = 26

/** The word of a slot with an entry. */
export function slotOf(reference: number, hash: number): number {
  return reference | (hash << FINGERPRINT_SHIFT)
}

/** The word of a slot whose entry is not to be looked at any more. */
export function movedFrom(word: number): number {
  return (word & ~REFERENCE_MASK) | FROZEN | MOVED
}

/** Whether a slot may hold an entry of this hash. */
export function mayHold(word: number, hash: number): boolean {
  return word >>> FINGERPRINT_SHIFT === (hash & 31)
}

export function slotsOffset(log2: number): number {
  return TableOffset.Chunks + ((1 << log2) / CHUNK_SLOTS) * 4
}

export function tableBytes(log2: number): number {
  return slotsOffset(log2) + (1 << log2) * 4
}

/** Of the key in the entry, in bytes, rounded up to words. */
export function keyRoom(meta: number): number {
  return ((meta & 0xffff) + 3) & ~3
}
