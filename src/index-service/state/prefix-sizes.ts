import { type PartsOfKeys, prefixOf } from '../keys/key-prefix.ts'
import { recordTakes } from '../memory/layout.ts'
import type { Records } from '../memory/records.ts'
import { latin1Of } from '../values/latin1.ts'
import type { Databases } from './databases.ts'
import { isOfKey, ownerOfRecord } from './record-format.ts'

/** Records that are looked at in a row. */
const SCANNED = 8
/** A part ends when as many were looked at: a shard does nothing else meanwhile. */
const RECORDS_MAX = 512

export interface SizesRequest extends PartsOfKeys {
  /** 0 begins. */
  readonly cursor: number
}

/** Keys of a database with the same prefix. */
export interface PrefixSize {
  readonly db: number
  readonly prefix: Uint8Array
  readonly keys: number
  readonly bytes: number
}

export interface SizesPart {
  /** 0 ends. */
  readonly cursor: number
  readonly sizes: readonly PrefixSize[]
}

type Sum = { -readonly [Name in keyof PrefixSize]: PrefixSize[Name] }

/**
 * What keys from a place of the table on take, by their prefixes. Each field of a hash is a record of its own, and is
 * looked at by itself. So a large hash takes no longer than as many keys.
 */
export function prefixSizes(databases: Databases, records: Records, request: SizesRequest): SizesPart {
  const sums = new Map<string, Sum>()
  let { cursor } = request
  for (let looked = 0; looked < RECORDS_MAX; ) {
    const scanned = records.scan(cursor, SCANNED)
    cursor = scanned.cursor
    looked += Math.max(1, scanned.keys.length)
    for (const record of scanned.keys) add(sums, databases, records, record, request)
    if (cursor === 0) break
  }
  return { cursor, sizes: [...sums.values()] }
}

function add(
  sums: Map<string, Sum>,
  databases: Databases,
  records: Records,
  record: Uint8Array,
  parts: PartsOfKeys,
): void {
  const { space, key } = ownerOfRecord(record)
  const value = records.get(record)!
  const db = databases.dbOf(space)
  const sum = sumOf(sums, db, prefixOf(key, parts))
  sum.bytes += recordTakes(record.length, value.length)
  if (!isOfKey(record[0]!)) return
  sum.keys += 1
  sum.bytes += databases.at(db).besideBytesOf(key, value)
}

function sumOf(sums: Map<string, Sum>, db: number, prefix: Uint8Array): Sum {
  const name = `${db} ${latin1Of(prefix)}`
  const known = sums.get(name)
  if (known !== undefined) return known
  const sum = { db, prefix, keys: 0, bytes: 0 }
  sums.set(name, sum)
  return sum
}
