import type { Member } from '../cluster/index.ts'

/**
 * The members that share a heap, as the structures need to know them. A member is a slot and an epoch; slots are used
 * again, both together are unique. In a space this is its membership; tests and simulators have their own.
 */
export interface Peers {
  /** This member. */
  readonly slot: number
  readonly epoch: number
  /** Milliseconds by which the clock of what they share is ahead of the machine's. Default 0. */
  readonly clockShiftMs?: number
  /** Whether that very member is there, as far as is known; a few instructions. */
  isPresent(slot: number, epoch: number): boolean
  /** The same after asking the operating system; microseconds. */
  isAlive(slot: number, epoch: number): boolean
  /** It as a member of a space, where that is known: for people who ask who holds something. */
  memberOf?(slot: number, epoch: number): Member | undefined
  /** Wake the event loop of the member that is in `slot`. */
  ring(slot: number): void
  /** Have `listener` called whenever this member was rung or a member ended, until the returned function is called. */
  onRing(listener: () => void): () => void
  /** The same when members have come or gone only. */
  onChange(listener: () => void): () => void
}

const EPOCH_BITS = 24
const EPOCH_MASK = 2 ** EPOCH_BITS - 1

/**
 * The most members that a space may have had in its life when structures are opened in it. It keeps the word of a
 * holder from ever being another's.
 */
export const EPOCH_MAX: number = EPOCH_MASK

/**
 * A member in one word that is never 0 and never -1: what a lock holds. Slot 255 is kept out by the number of members
 * that a heap has.
 */
export function ownerWord(slot: number, epoch: number): number {
  return ((slot + 1) << EPOCH_BITS) | (epoch & EPOCH_MASK)
}

export function ownerSlot(word: number): number {
  return (word >>> EPOCH_BITS) - 1
}

export function ownerEpoch(word: number): number {
  return word & EPOCH_MASK
}
