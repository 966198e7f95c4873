/**
 * The first word of a region that a store of transactions keeps for itself (`adapters/bullmq/store/`): magic and
 * version. Its bytes make sense only between two transactions, so they cannot be copied while it is in use.
 */
export const STORE_MAGIC = 0x42_4d_51_01

/** Whether the region whose first bytes are these belongs to such a store. */
export function isStore(first: Uint8Array): boolean {
  return first.length >= 4 && new DataView(first.buffer, first.byteOffset).getInt32(0, true) === STORE_MAGIC
}
