/**
 * Multi-version read-log-update, among processes that may be killed. Objects have several versions, sections all see
 * one moment, and changes to several objects are there together or not at all. Source: Kim, Mathew, Kashyap,
 * Ramanathan, Min, "MV-RLU: scaling read-log-update with multi-versioning", ASPLOS 2019.
 *
 * ```
 *   participant ──► open write set: which objects it has locked, and their new versions
 *                        │ commit: linked by one compare-and-swap
 *                        ▼
 *   head ──► dummy ──► write set ──► write set ──► last            the commit log: clocks 4, 5, 6, 7
 *                        │
 *                        ▼ finish: versions go to their objects, locks are opened
 *   object: lock, head ──► version, clock 5 ──► version, clock 2 ──► …
 * ```
 *
 * **The commit clock is the commit log.**
 * 1. A write set's clock is that of the last one before it plus one, and a write set is committed where it is linked.
 * 2. So one access commits all of it, gives it its time, and advances the clock. Each committer may do that, and no
 *    other process has to.
 * 3. At no moment was a clock taken that is not yet in use, so a killed process never has one.
 *
 * **Snapshots.** Before a section takes a snapshot (the clock of the last write set), it *notes* in that write set that
 * it is linked. So does a committer before it links behind it. For a section with snapshot s this means:
 * 1. Every write set with a clock up to s was noted before the section read anything.
 * 2. A write set that is not noted is not committed, or was committed after.
 * 3. A lock names its write set. So a reader that meets one knows at once which side it is on, and does not wait.
 *
 * **Helping.** Any participant can finish a committed write set, several at once:
 * 1. A head is changed from the version found under the lock to the new one, and a lock from this write set to none.
 * 2. Both happen once, for no block is used again while a participant that entered before is inside
 *    (../heap/epochs.ts).
 * 3. A participant finishes it if it wants an object that the write set has locked, collects, or recovers its owner.
 * 4. A write set that was not committed is undone, after its owner's death, by the participant that recovers the owner.
 *
 * **Watermark.** Each participant publishes the snapshot of its oldest section. The watermark is the lowest of these,
 * and no section needs anything that was superseded at or before it. The log is collected from its start up to the
 * watermark: for each version there, the older ones are retired, and objects that it freed. Retired blocks then wait
 * for the epochs.
 *
 * These are the two grace periods of MV-RLU. The first lasts until no section may need a version, the second until no
 * participant is looking at it.
 *
 * What is asserted:
 * 1. Clocks fall from version to version.
 * 2. No section is given a version that is newer than its snapshot.
 * 3. What is collected is not newer than the watermark.
 */

/** A write set: the first two words are those of every node of a chain. */
export const WriteSetOffset = {
  /** Noted: it is in the log. */
  Linked: 0,
  Next: 4,
  /** Entries that are in use. */
  Count: 8,
  /** 1 when every version is at its object and every lock is open. */
  Finished: 12,
  /** Float64. Final when it is linked. */
  Clock: 16,
  /** Owner word of the participant that fills it. */
  Owner: 24,
  Entries: 32,
} as const

/**
 * One object of a write set. States are those of the blocks when they were taken: a block in another state is not that
 * block any more.
 */
export const EntryOffset = { Object: 0, ObjectState: 4, Version: 8, VersionState: 12, Kind: 16 } as const
export const ENTRY_BYTES = 24

/**
 * `Lock`: only held. `Write`: gets a new version, if there is one. `Make`: the object is new. `Free`: its new version
 * says that it is gone.
 */
export const EntryKind = { Lock: 0, Write: 1, Make: 2, Free: 3 } as const

export const ObjectOffset = {
  Linked: 0,
  /** Reference of the write set that has it locked, or 0. */
  Lock: 4,
  /** Reference of its newest version that was committed and finished, or 0. */
  Head: 8,
} as const
export const OBJECT_BYTES = 64

/** Never changes after its write set was committed, but that `Older` becomes 0. */
export const VersionOffset = {
  Linked: 0,
  Older: 4,
  OlderState: 8,
  /** {@link GONE}: the object is freed from here on. */
  Length: 12,
  /** Float64, of its write set. */
  Clock: 16,
  Value: 24,
} as const
export const GONE = -1
