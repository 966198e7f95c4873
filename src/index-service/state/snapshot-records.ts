import { native } from '../../native/index.ts'
import type { Records, StringsPacked } from '../memory/records.ts'
import { RecordType } from './record-format.ts'
import type { SnapshotReader, SnapshotWriter } from './snapshot-stream.ts'

/**
 * The keys of a shard in a snapshot. Almost all of them are strings, which come and go many at a time: see
 * `native/snapshots.cc`. Others, and what lies in two chunks, are read and written one by one.
 *
 * ```
 *  key   number of its database + 1   length (varint), key   version (Float64)   expires at (Float64)
 *        type: 1 (a string)   length (varint), bytes
 *        any other type       what `stored-value.ts` writes
 *  end   0
 * ```
 */

/** If fewer went together, this number goes one by one before that is tried again. */
const FAST_MIN = 4
const SLOW_COUNT = 8

/** Records that buckets count as which were looked at in a row. */
const BUCKETS_COUNT = 64

export interface RecordWalkOptions {
  readonly records: Records
  readonly writer: SnapshotWriter
  /** Newer strings are left out. */
  readonly versionMax: number
  /** Buckets that are looked at in a row. */
  readonly bucketsMax: number
  /** For each space, the number of its database plus 1. */
  readonly numbers: readonly number[]
  /** Gets the key of a record that is not written together with others. It may be that of a field. */
  readonly write: (record: Uint8Array) => void
}

/** Goes through the records of a shard, a few at a time, and writes their keys. They may change meanwhile. */
export class RecordWalk {
  readonly #options: RecordWalkOptions
  #cursor = 0
  #isOver = false

  constructor(options: RecordWalkOptions) {
    this.#options = options
  }

  /** It has passed all. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** It has passed what a scan at this cursor has passed. */
  get cursor(): number {
    return this.#cursor
  }

  /** Go on. Returns about how many records were looked at one by one. */
  step(): number {
    const { records, writer, write, ...options } = this.#options
    const packed = records.packStrings?.(this.#cursor, writer.room, options) ?? nonePacked(this.#cursor)
    writer.filled(packed.lengthBytes)
    this.#cursor = packed.cursor
    this.#isOver = packed.stop === 'end'
    // One that a whole chunk has no room for is long.
    const isAgain = packed.stop === 'buckets' || (packed.stop === 'room' && writer.cut())
    if (this.#isOver || isAgain) return packed.stop === 'buckets' ? BUCKETS_COUNT : 0
    const scanned = records.scan(this.#cursor, packed.count < FAST_MIN ? SLOW_COUNT : 1)
    for (const record of scanned.keys) write(record)
    this.#cursor = scanned.cursor
    this.#isOver = scanned.cursor === 0
    return scanned.keys.length
  }
}

function nonePacked(cursor: number): StringsPacked {
  return { lengthBytes: 0, count: 0, cursor, stop: 'other' }
}

/** How the keys of a snapshot are read. */
interface KeyReading {
  /** Strings without expiry were added to a database. */
  added(db: number, strings: number): void
  /** Read a key. False at the end. */
  next(): boolean
}

/** Read all keys into records, where nothing is. @throws RangeError if it is not what was written. */
export function decodeRecords(records: Records, reader: SnapshotReader, { added, next }: KeyReading): void {
  records.reserve?.(countOf(reader.copy()))
  let slow = 0
  do {
    while (slow === 0 && records.addStrings !== undefined && reader.left > 0) {
      const { part } = reader
      const { count, counts, end } = records.addStrings(part)
      for (const [db, strings] of counts.entries()) if (strings > 0) added(db, strings)
      reader.skip(end)
      if (count < FAST_MIN) slow = SLOW_COUNT
      if (end < part.length) break
    }
    slow = Math.max(0, slow - 1)
  } while (next())
}

/** How many keys there are at least. */
function countOf(reader: SnapshotReader): number {
  let keys = 0
  while (reader.left > 0) {
    const { part } = reader
    const from = Float64Array.of(0)
    keys += native.countStrings(part, from)
    reader.skip(from[0]!)
    if (from[0]! === part.length) continue
    if (!isStringSkipped(reader)) break
    keys += 1
  }
  return keys
}

/** It may be in two chunks. */
function isStringSkipped(reader: SnapshotReader): boolean {
  if (reader.u8() === 0) return false
  reader.bytes()
  reader.f64()
  reader.f64()
  if (reader.u8() !== RecordType.String) return false
  reader.bytes()
  return true
}
