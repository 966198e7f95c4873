import { SLOT_COUNT, slotOf } from './slot.ts'

export const SHARDS_MAX = 256

/** The shard that a key belongs to: consecutive slots belong to one shard. */
export function shardOf(key: Uint8Array, shards: number): number {
  return shards === 1 ? 0 : Math.floor((slotOf(key) * shards) / SLOT_COUNT)
}
