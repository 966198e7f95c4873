import { Buffer } from 'node:buffer'
import type { Records } from '../memory/records.ts'
import type { Databases } from './databases.ts'
import { packDump } from './dump-format.ts'
import { keyOfRecord, spaceOfRecord } from './record-format.ts'
import { SnapshotReader, SnapshotWriter } from './snapshot-stream.ts'

/**
 * What a backup of a shard consists of, in the order in which it is restored. Numbers are as in snapshots.
 *
 * ```
 *  begin    0 kind: 1                                                   what came before counts no more
 *  key      0 kind: 2   1 database   key   expires at (Float64; 0: never)   dump, as DUMP answers it
 *  gone     0 kind: 3   1 database   key                                a key that came before is not there
 *  end      0 kind: 4   1 count                                         how many keys there are
 * ```
 */
const Kind = { Begin: 1, Key: 2, Gone: 3, End: 4 } as const

export interface KeyOfDatabase {
  readonly db: number
  readonly key: Uint8Array
}

export type BackupItem =
  | { readonly kind: 'begin' }
  | ({ readonly kind: 'key'; readonly expireAtMs: number; readonly dump: Uint8Array } & KeyOfDatabase)
  | ({ readonly kind: 'gone' } & KeyOfDatabase)
  | { readonly kind: 'end'; readonly keys: number }

/** Records that are looked at in a row. */
const SCANNED = 8
/** A part ends when it is so long. */
const PART_BYTES = 256 * 1024

/** Keys from a place of the table on, until there are enough; 0 begins, 0 ends. */
export function backupPart(
  databases: Databases,
  records: Records,
  from: number,
): { readonly cursor: number; readonly items: Uint8Array } {
  const writer = new SnapshotWriter()
  const parts: Uint8Array[] = []
  let cursor = from
  let lengthBytes = 0
  if (from === 0) writer.u8(Kind.Begin)
  do {
    const scanned = records.scan(cursor, SCANNED)
    cursor = scanned.cursor
    for (const record of scanned.keys) {
      const space = spaceOfRecord(record)
      if (space !== undefined) writeKey(writer, databases, { db: databases.dbOf(space), key: keyOfRecord(record) })
    }
    const full = writer.takeFull()
    for (const chunk of full) lengthBytes += chunk.length
    parts.push(...full)
  } while (cursor !== 0 && lengthBytes < PART_BYTES)
  return { cursor, items: Buffer.concat([...parts, ...writer.takeAll()]) }
}

/** What has become of keys; and `isLast` says that this is all. */
export function backupOfKeys(databases: Databases, keys: readonly KeyOfDatabase[], isLast: boolean): Uint8Array {
  const writer = new SnapshotWriter()
  for (const key of keys) writeKey(writer, databases, key)
  if (isLast) {
    writer.u8(Kind.End)
    writer.count(databases.size)
  }
  return Buffer.concat(writer.takeAll())
}

function writeKey(writer: SnapshotWriter, databases: Databases, { db, key }: KeyOfDatabase): void {
  const keyspace = databases.at(db)
  const expireAtMs = keyspace.expiryOf(key)
  writer.u8(expireAtMs === undefined ? Kind.Gone : Kind.Key)
  writer.u8(db)
  writer.bytes(key)
  if (expireAtMs === undefined) return
  writer.f64(expireAtMs)
  writer.bytes(packDump(keyspace.valueOf(key)!))
}

/** @throws RangeError if these are no whole items. */
export function* backupItems(items: Uint8Array): Generator<BackupItem> {
  const reader = new SnapshotReader([items])
  while (reader.left > 0) yield itemOf(reader)
}

function itemOf(reader: SnapshotReader): BackupItem {
  const kind = reader.u8()
  switch (kind) {
    case Kind.Begin:
      return { kind: 'begin' }
    case Kind.Key:
      return { kind: 'key', db: reader.u8(), key: reader.bytes(), expireAtMs: reader.finite(), dump: reader.bytes() }
    case Kind.Gone:
      return { kind: 'gone', db: reader.u8(), key: reader.bytes() }
    case Kind.End:
      return { kind: 'end', keys: reader.count() }
    default:
      throw new RangeError(`an item of a backup has the unknown kind ${kind}`)
  }
}
