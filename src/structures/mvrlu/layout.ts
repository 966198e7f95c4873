/**
 * Multi-version read-log-update (Kim, Mathew, Kashyap, Ramanathan, Min, "MV-RLU: scaling read-log-update with
 * multi-versioning", ASPLOS 2019), among processes that may be killed: objects with several versions, sections that all
 * see one moment, and changes to several objects that are there together or not at all.
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
 * **The commit clock is the commit log.** A write set's clock is that of the last one before it plus one, and a write
 * set is committed where it is linked. So one access commits all of it, gives it its time, and advances the clock;
 * whoever commits may do that, and nobody else has to. There is no moment at which a clock was taken and is not yet in
 * use, so nobody who was killed has one.
 *
 * Whoever takes a snapshot (the clock of the last write set), and whoever links behind it, first *notes* in that one
 * that it is linked. Hence, for a section with snapshot s: every write set with a clock up to s was noted before the
 * section read anything; one that is not noted is not committed, or was after. A lock names its write set, so a reader
 * that meets one knows at once which side it is on, and waits for nobody.
 *
 * **Who helps.** A committed write set can be finished by anybody, many times at once: a head is changed from the
 * version that was found under the lock to the new one, a lock from this write set to none, and both happen once, for
 * no block is used again while one who entered before is inside (../heap/epochs.ts). Whoever wants an object that a
 * committed write set has locked, collects, or recovers its owner, finishes it. One that was not committed is undone,
 * after its owner's death, by who recovers that.
 *
 * **Watermark.** Each participant publishes the snapshot of its oldest section; the watermark is the lowest of these,
 * and no section needs anything that was superseded at or before it. The log is collected from its begin up to the
 * watermark: of each version there, what is older is retired, and what was freed with it; retired blocks wait for the
 * epochs in turn. These are the two grace periods of MV-RLU: the first until nobody may want a version, the second
 * until nobody is looking at it.
 *
 * What is asserted: clocks fall from version to version; no section is given a version that is newer than its snapshot;
 * what is collected is not newer than the watermark.
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
  /** Owner word of who fills it. */
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
