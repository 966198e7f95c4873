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

/** Write all keys, and give the chunks that are full. `write` gets the key of a record, which may be a field's. */
export function* encodeRecords(
  records: Records,
  writer: SnapshotWriter,
  write: (record: Uint8Array) => void,
): Generator<Uint8Array> {
  for (let cursor = 0, isOver = false; !isOver; ) {
    const { lengthBytes, count, stop, ...packed } = records.packStrings?.(cursor, writer.room) ?? nonePacked(cursor)
    writer.filled(lengthBytes)
    cursor = packed.cursor
    isOver = stop === 'end'
    // One that a whole chunk has no room for is long.
    const isAgain = stop === 'room' && writer.cut()
    yield* writer.takeFull()
    if (isOver || isAgain) continue
    const scanned = records.scan(cursor, count < FAST_MIN ? SLOW_COUNT : 1)
    for (const record of scanned.keys) {
      write(record)
      yield* writer.takeFull()
    }
    cursor = scanned.cursor
    isOver = cursor === 0
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
