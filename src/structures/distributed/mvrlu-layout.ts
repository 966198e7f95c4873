import { CHUNK_BYTES } from './layout.ts'

/**
 * Multi-version read-log-update (../mvrlu/layout.ts) among the ranks of a group: objects, versions and commits are
 * words and blocks at one home, and every step is a READ, a WRITE or a compare-and-swap there.
 *
 * ```
 *   body: last ──► write set, clock 7: object, version before, version after; …          the commit clock
 *         table ─► slots of 16 bytes: lock, head ──► version, clock 7 ──► version, clock 5
 *                                                        older             older: 0
 * ```
 *
 * **An object** is a slot in a table, and stays one: its number is that of the slot and a generation, which is in the
 * head word while the slot is empty. So nothing that is late with a compare-and-swap on a slot meets anything but a
 * slot, and each word of it is there once only: names of blocks have a tag, locks a number, empty heads the generation.
 *
 * **The commit clock is the word of the last write set.** A section fills versions that nothing names yet and a write
 * set that says of each of its objects which version was the newest when it was locked, and which one is to be; one
 * compare-and-swap puts the write set in the place of the last one, whose clock plus one it has. So one access commits
 * all of it, gives it its time, and advances the clock. The word says besides whether that write set is *finished*: all
 * heads are changed, then all locks opened. Only behind a finished one can another be put; whoever wants to, or begins
 * a section, and finds one that is not, finishes it, for that is in the write set: heads are changed from the version
 * before to the one after, locks from its own word to its own word and `done`. Each of these words is there once, so
 * many can do it at once, and one that is late does nothing. Hence a committer that dies or is stopped holds up nobody;
 * of the log of commits only the last entry is ever needed, and it is one block.
 *
 * **A section** says that it has begun in this rank's own memory (read-sections.ts) and then reads the clock: its
 * snapshot. Everything up to that is finished, so it needs to look at no lock: from the head down, the first version
 * that is not newer than the snapshot is its own.
 *
 * **Locks** are words with rank and number of the section. To lock is one compare-and-swap, and a look at the head:
 * another may have changed the object since the snapshot. The lock of a dead rank is taken over by whoever meets it:
 * first the lock, then a *fence*, which is an empty write set, and then the look at the head. A commit expects a word
 * of the clock that it saw while it had its locks; so what a dead rank had on its way is refused by the fence, or was
 * committed before it, and then the head says so. One that has been given up and is not dead sees that its lock is
 * another's when it reads the clock anew, which it has to after the fence. The home looks at all slots when a rank is
 * out, and opens its locks.
 *
 * **Watermark.** A version is named by its slot's head, or by the version above it. When the sections have ended that
 * had begun when a commit was finished (a grace period, grace-periods.ts), all others have that commit in their
 * snapshot, and nobody needs what it replaced: the `older` of its versions becomes 0, slots of what it freed are
 * emptied, and its `done` locks become 0. That is done by the committer for 32 commits at a time; by the home for those
 * of a dead rank, where another has the slot locked when that has let go of it; and for all by a rank that is short of
 * memory. Blocks that nothing names any more are found by their owners (census.ts): the lock of a slot is not 0 as long
 * as a version below the head may be wanted, so the census reads a chain only there. That gives the two grace periods
 * of MV-RLU: one until nobody wants a version, and for the block the census in which nothing names it. Within a section
 * no block that it can reach is used anew: the cut that would take it away waits for the section.
 *
 * What a rank was filling when it died are blocks of its own that nothing names; what it had locked and not committed
 * is locked, and nothing else.
 *
 * What is asserted: clocks fall from version to version; no section is given a version that is newer than its snapshot;
 * what is cut off is not newer than the watermark.
 */

/** A body: the word of the last write set, then the place of each table (0: not there yet). */
export const BodyOffset = { Last: 0, Tables: 8 } as const
/** Some million objects. */
export const TABLES_MAX = 256
export const MV_RLU_BYTES: number = BodyOffset.Tables + TABLES_MAX * 8

export const SLOT_BYTES = 16
export const SlotOffset = { Lock: 0, Head: 8 } as const
export const SLOTS_PER_TABLE: number = CHUNK_BYTES / SLOT_BYTES
const SLOTS = TABLES_MAX * SLOTS_PER_TABLE

/** The slot of the root. No object is slot 0, so that none has the number 0. */
export const ROOT_SLOT = 1

/** The root is an object from the begin. */
export const ROOT: number = ROOT_SLOT

const RANK_MASK = 0xffffn
const DONE = 0x10000n
const NUMBER_BITS = 17n
const LOW_HALF = 0xffffffffn

/** The lock word of a section: number, from bit 17 on; `done`, bit 16; rank + 1. */
export function lockWord(rank: number, number: number): bigint {
  return (BigInt(number) << NUMBER_BITS) | BigInt(rank + 1)
}

/** What comes in its place when its write set is finished. */
export function doneWord(lock: bigint): bigint {
  return lock | DONE
}

/** Whose section has it locked; undefined where none has. */
export function holderOf(lock: bigint): number | undefined {
  return lock === 0n || (lock & DONE) !== 0n ? undefined : Number(lock & RANK_MASK) - 1
}

/** Whose commit has it as its done word; undefined where it is none. */
export function committerOf(lock: bigint): number | undefined {
  return (lock & DONE) === 0n ? undefined : Number(lock & RANK_MASK) - 1
}

/** Whether a head names a version. */
export function namesVersion(head: bigint): boolean {
  return (head & LOW_HALF) !== 0n
}

/** Of the head of an empty slot: that of the object that is made there next. */
export function generationIn(head: bigint): number {
  return Number(head >> 32n)
}

/** The head of a slot that is empty again after an object of this generation. It comes again after 2^32. */
export function emptiedHead(generation: number): bigint {
  return BigInt((generation + 1) >>> 0) << 32n
}

export function objectOf(slot: number, generation: number): number {
  return generation * SLOTS + slot
}

export function slotOf(object: number): number {
  return object % SLOTS
}

export function generationOf(object: number): number {
  return Math.floor(object / SLOTS)
}

/** Above all objects. */
export const OBJECTS_END: number = SLOTS * 2 ** 32
