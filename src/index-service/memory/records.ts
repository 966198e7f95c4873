/** A record among which one is chosen. */
export interface RecordSample {
  /** Where it is, until the next change. */
  readonly place: number
  /** As the caller has asked: for how long it was not used, how often it is, or 0. */
  readonly score: number
}

/** Chooses among records without looking at them closely. */
export interface RecordSampler {
  /**
   * Records from a cursor on, until there are `count` whose keys begin with an accepted byte. It gives up after
   * `recordsMax`. `score`: how long each was not used, how often it is, or 0. One may be there twice.
   */
  sample(from: number, count: number, options: SampleOptions): readonly RecordSample[]
  /** The key of a sample: a copy. */
  keyAt(place: number): Uint8Array
}

export interface SampleOptions {
  readonly accepts: (firstByte: number) => boolean
  readonly score: 'idle' | 'frequency' | undefined
  readonly recordsMax: number
  readonly nowMs: number
}

/** Strings that were set together, see {@link Records.setStrings}. */
export interface StringsSet {
  readonly calls: number
  /** Keys that were not there before, also of a call that is left. */
  readonly added: number
  /** Where the calls begin that are left. */
  readonly offset: number
}

/** Strings out of a snapshot that were added together, see {@link Records.addStrings}. */
export interface StringsAdded {
  /** Where what is left begins. */
  readonly end: number
  readonly count: number
  /** By database. Valid until more are added. */
  readonly counts: Float64Array
}

/** Strings that were written together for a snapshot, see {@link Records.packStrings}. */
export interface StringsPacked {
  /** The bytes written. */
  readonly lengthBytes: number
  readonly count: number
  /** Behind them. */
  readonly cursor: number
  /** Why it stopped: no more records, no room for the next, one that is no string, or enough buckets. */
  readonly stop: 'end' | 'room' | 'other' | 'buckets'
}

/** Which strings are written together for a snapshot, see {@link Records.packStrings}. */
export interface PackOptions {
  /** Those with a higher version are left out. */
  readonly versionMax: number
  /** How many buckets are looked at. */
  readonly bucketsMax: number
  /** For each space, the number of its database plus 1. */
  readonly numbers: readonly number[]
}

/** What a snapshot that is being taken has not yet of what was there when it began. */
export interface Unpacked {
  /** Newer records were not there. */
  readonly versionMax: number
  /** A scan at this cursor has passed what it has. */
  cursor: number
}

/** Where a shard keeps bytes by key. */
export interface Records {
  /** The time, since 1970, at which records are used from now on. 0: what follows is no use of them. */
  nowMs: number
  /** A view into the memory, valid until the next change. */
  get(key: Uint8Array): Uint8Array | undefined
  set(key: Uint8Array, value: Uint8Array): void
  delete(key: Uint8Array): boolean
  /**
   * Do each `SET` and `MSET` at the start of calls of the log. It stops at a key that holds something else than a
   * string, or one that expires, at a new tuple, and at what is {@link unpacked}. Keys are of database 0. `from`: where
   * the first of at most `count` calls begins. Absent: it cannot.
   */
  setStrings?(calls: Uint8Array, part: { readonly from: number; readonly count: number }, version: number): StringsSet
  /** Where nothing is: as many records come. */
  reserve?(records: number): void
  /**
   * Add keys at the start of a part of a snapshot, none of which is there. It stops at a key that is not a string
   * without expiry, or is a tuple. Absent: it cannot.
   */
  addStrings?(bytes: Uint8Array): StringsAdded
  /** Write keys from a cursor on, as snapshots have them. It stops at one that is no string, or without room. */
  packStrings?(cursor: number, target: Uint8Array, options: PackOptions): StringsPacked
  /** Set while a snapshot is taken. */
  unpacked?: Unpacked | undefined
  /** A scan at that cursor has passed the key, whether it is there or not. Absent: no change may come during a scan. */
  isPassed?(key: Uint8Array, cursor: number): boolean
  /** Readers from outside see what `change` does as one change. Absent: there are none. */
  together?<T>(change: () => T): T
  readonly size: number
  /** What keys and values in use take. */
  readonly usedBytes: number
  /** How long ago a record was used; undefined if that is not noted. */
  idleMs(key: Uint8Array, nowMs: number): number | undefined
  /** How often a record is used: from 0 to 255, by the logarithm; undefined if that is not noted. */
  frequency(key: Uint8Array, nowMs: number): number | undefined
  clear(): void
  /** Readers from outside find the records of one database where those of the other one were. */
  swapSpaces(one: number, other: number): void
  /** Keys (copies) from a cursor on, for SCAN: every key that stays is visited; 0 begins, 0 ends. */
  scan(cursor: number, count: number): { readonly cursor: number; readonly keys: readonly Uint8Array[] }
}
