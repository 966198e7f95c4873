import { CompareExchangeCommand } from '../memory/command.ts'
import { BUCKET_BYTES, BUCKET_SLOTS } from './body.ts'

/**
 * The eighth word of a bucket of a map with a bound: when each of its entries was read or written last, in 9 bits for
 * each slot.
 *
 * ```
 *   62 … 54 slot 6   …   17 … 9 slot 1   8 … 0 slot 0        a moment of count.ts, modulo 512
 * ```
 *
 * It comes with every look at the bucket, and says nothing that has to be true: a mark that is lost, late, or of the
 * entry that was in the slot before makes an entry look older or younger.
 */
const AGE_BITS = 9n
const AGE_MASK = 511n
/** Moments that are told apart. */
export const MOMENTS = 512

const AGES_OFFSET = BUCKET_SLOTS * 8

/** Where the word of the bucket of a slot is. */
export function agesPlace(slot: number): number {
  return slot - (slot % BUCKET_BYTES) + AGES_OFFSET
}

function shiftOf(slot: number): bigint {
  return BigInt((slot % BUCKET_BYTES) / 8) * AGE_BITS
}

/** How many moments ago it was that the entry in `slot` was used. */
export function ageOf(ages: bigint, slot: number, moment: number): number {
  const used = Number((ages >> shiftOf(slot)) & AGE_MASK)
  return (moment - used + MOMENTS) % MOMENTS
}

/** The word once the entry in `slot` is used. */
export function usedAt(ages: bigint, slot: number, moment: number): bigint {
  const shift = shiftOf(slot)
  return (ages & ~(AGE_MASK << shift)) | (BigInt(moment) << shift)
}

/** Marks the entry in `slot` as used; undefined where it is. */
export function markUsed(ages: bigint, slot: number, moment: number): CompareExchangeCommand | undefined {
  const marked = usedAt(ages, slot, moment)
  return marked === ages ? undefined : new CompareExchangeCommand(agesPlace(slot), ages, marked)
}
