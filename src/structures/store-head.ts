/**
 * How a region begins that a store of transactions keeps for itself (`adapters/bullmq/store/`). Saves know no more of
 * it than this. Its bytes make sense only while its mutex is held, or with the store's own undo log.
 *
 * ```
 *   0  magic and version   4  entries in the undo log   8  …   16  process of the latest transaction
 *  20  1 after a restore  24  shift of its clock       32  …
 * ```
 */
export const StoreHead = {
  /** Set last: the memory is ready for use. */
  Magic: 0,
  /** Entries in the undo log; 0 outside of a transaction. */
  UndoLength: 4,
  /** Process of the transaction that is open, or was last; or of the save that has the store's mutex. */
  Holder: 16,
  /** 1: it comes from a save, and names members of another life as holders of locks. */
  Restored: 20,
  /** Milliseconds to be added to the space's clock for times that are kept in the store, a Float64. */
  ClockShift: 24,
} as const

/** What {@link StoreHead} is in: written last by a restore, so that one that was cut off leaves no store. */
export const STORE_HEAD_BYTES = 4096

/** Name of the region, and of the mutex in {@link STORE_GUARDS_REGION} that guards it. */
export const STORE_NAME = 'bullmq'
export const STORE_GUARDS_REGION = 'structures'

/** The first word of the region: magic, and the version of everything in it. */
export const STORE_MAGIC = 0x42_4d_51_01
const VERSION_MASK = 0xff

/**
 * A block of the store: its size, plus 1 if it is free; the size of the block before. The last one has no size. A free
 * one is followed by its neighbours in the list of its class.
 */
export const StoreBlockOffset = { Size: 0, SizeBefore: 4, Next: 8, Previous: 12 } as const
export const FREE_BLOCK = 1
/** What a free block has in use. The last block of a store is as long, and begins at a multiple of it. */
export const FREE_BLOCK_BYTES = 16

/**
 * The end of what is used in a store of `sizeBytes`. The free block that follows says nothing beyond its own head.
 * After it come {@link FREE_BLOCK_BYTES} that end the store. Between two transactions only.
 */
export function usedEnd(sizeBytes: number, word: (offset: number) => number): number {
  const last = (sizeBytes & ~(FREE_BLOCK_BYTES - 1)) - FREE_BLOCK_BYTES
  const block = last - word(last + StoreBlockOffset.SizeBefore)
  return (word(block + StoreBlockOffset.Size) & FREE_BLOCK) === 0 ? sizeBytes : block + FREE_BLOCK_BYTES
}

/** Whether the region of this name, whose first bytes are these, belongs to such a store. */
export function identifyStore(name: string, first: Uint8Array): 'store' | 'other version' | undefined {
  if (name !== STORE_NAME || first.length < 4) return undefined
  const magic = new DataView(first.buffer, first.byteOffset).getInt32(StoreHead.Magic, true)
  if (magic === STORE_MAGIC) return 'store'
  return (magic & ~VERSION_MASK) === (STORE_MAGIC & ~VERSION_MASK) ? 'other version' : undefined
}
