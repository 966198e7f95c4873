import { CHUNK_BYTES } from '../memory/layout.ts'

/**
 * Multi-version read-log-update (../../mvrlu/layout.ts) among the ranks of a group. Objects, versions and commits are
 * words and blocks at one home, and every step is a READ, a WRITE or a compare-and-swap there.
 *
 * ```
 *   body: last ──► write set, clock 7: object, version before, version after; …          the commit clock
 *         table ─► slots of 16 bytes: lock, head ──► version, clock 7 ──► version, clock 5
 *                                                        older             older: 0
 * ```
 *
 * **An object** is a slot in a table, and stays one. Its number is that of the slot and a generation; the generation is
 * in the head word while the slot is empty. So a late compare-and-swap on a slot meets nothing but a slot. Each word of
 * a slot occurs only once: names of blocks have a tag, locks a number, empty heads the generation.
 *
 * **The commit clock is the word of the last write set.**
 * 1. A section fills versions that nothing names yet, and a write set. For each of its objects the write set says which
 *    version was the newest when it was locked, and which one is to be.
 * 2. One compare-and-swap puts the write set in place of the last one; its clock is that one's plus one. So one access
 *    commits all of it, gives it its time, and advances the clock.
 * 3. The word also says whether that write set is *finished*: all heads are changed, then all locks opened. Another
 *    write set can be put only behind a finished one.
 * 4. A rank that wants to commit, or begins a section, first finishes an unfinished write set, which holds all that
 *    this takes. Heads are changed from the version before to the one after, locks from the section's own word to its
 *    own word and `done`.
 * 5. Each of these words occurs only once, and many ranks can do it at once; a late one does nothing.
 *
 * Hence a committer that dies or is stopped delays no one. Of the log of commits only the last entry is ever needed,
 * and it is one block.
 *
 * **A section** records in this rank's own memory that it has begun (rcu/read-sections.ts) and then reads the clock:
 * its snapshot. Everything up to that is finished, so it does not have to look at locks. From the head down, the first
 * version that is not newer than the snapshot is the one that it reads.
 *
 * **Locks** are words with rank and number of the section. To lock is one compare-and-swap, and a look at the head:
 * another section may have changed the object since the snapshot. A rank that meets the lock of a dead rank takes it
 * over:
 * 1. It takes the lock.
 * 2. It puts a *fence*, which is an empty write set.
 * 3. It looks at the head.
 *
 * A commit expects a word of the clock that it saw while it had its locks. So the fence refuses what a dead rank had on
 * its way, or that was committed before the fence, and then the head says so. A rank that was given up but is not dead
 * has to read the clock again after the fence. It then sees that its lock has another owner. When a rank is out, the
 * home looks at all slots and opens its locks.
 *
 * **Watermark.** A version is named by its slot's head, or by the version above it. Take the sections that had begun
 * when a commit was finished. Once they have ended (a grace period, rcu/grace-periods.ts), all others have that commit
 * in their snapshot, and none needs what it replaced. So the `older` of its versions becomes 0, slots of what it freed
 * are emptied, and its `done` locks become 0. This is done
 *
 * 1. by the committer, for 32 commits at a time;
 * 2. by the home, for those of a dead rank, and for a locked slot once the lock is released;
 * 3. by a rank that is short of memory, for all.
 *
 * Blocks that nothing names any more are found by their owners (../census.ts). The lock of a slot is not 0 as long as a
 * version below the head may be needed. So the census reads a chain only there. That gives the two grace periods of
 * MV-RLU: one until no section needs a version, and for the block the census that misses it. Within a section no block
 * that it can reach is used again: the cut that would take it away waits for the section.
 *
 * When a rank dies, what it was filling are blocks of its own that nothing names. What it had locked and not committed
 * is locked, and nothing else.
 *
 * What is asserted:
 * 1. Clocks fall from version to version.
 * 2. No section is given a version that is newer than its snapshot.
 * 3. What is cut off is not newer than the watermark.
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

/** The rank whose commit has it as its done word; undefined if it is not a done word. */
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
