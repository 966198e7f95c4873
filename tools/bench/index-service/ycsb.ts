import type { Lane } from '../lanes.ts'
import { keySequence, SEQUENCE_LENGTH, writeSequence } from '../structures/key-sequence.ts'
import { inParts } from './filling.ts'
import type { Fields, KeyStore } from './key-store.ts'

/** The core workloads of the Yahoo cloud serving benchmark. */
export const mixNames = ['a', 'b', 'c', 'd', 'e', 'f'] as const
export type MixName = (typeof mixNames)[number]

interface Mix {
  /** Percentage of operations that write. */
  readonly writes: number
  /** Replace a field; store a further record; or read a record and replace a field. */
  readonly write: 'update' | 'insert' | 'rewrite'
  /** Otherwise all fields of a record, one of those that came last, or values in order. */
  readonly read: 'record' | 'latest' | 'range'
}

const mixes: Readonly<Record<MixName, Mix>> = {
  a: { writes: 50, write: 'update', read: 'record' },
  b: { writes: 5, write: 'update', read: 'record' },
  c: { writes: 0, write: 'update', read: 'record' },
  d: { writes: 5, write: 'insert', read: 'latest' },
  e: { writes: 5, write: 'insert', read: 'range' },
  f: { writes: 50, write: 'rewrite', read: 'record' },
}

const FIELDS = 10
const FIELD_BYTES = 100
/** Of a record. */
export const RECORD_BYTES: number = FIELDS * FIELD_BYTES
/** Values in a range, at most. */
const RANGE_MAX = 100
/** An odd number: it maps numbers of records one to one to places, far from each other. */
const SCATTER = 2_654_435_761

/** Whether records of a workload lie in an order; else they are hashes. */
export function isOrdered(mix: MixName): boolean {
  return mixes[mix].read === 'range'
}

export interface MixPlan {
  readonly mix: MixName
  /** How many there are at the beginning. */
  readonly records: number
  /** The first number of records that are stored meanwhile, which no other client uses. */
  readonly firstNew: number
}

const nameOf = (record: number): string => `user${record}`
const placeOf = (record: number): number => Math.imul(record, SCATTER) >>> 0

function fieldValue(seed: number): Buffer {
  return Buffer.alloc(FIELD_BYTES, 1 + (seed % 255))
}

function wholeRecord(seed: number): Fields {
  return Object.fromEntries(Array.from({ length: FIELDS }, (_, field) => [`field${field}`, fieldValue(seed + field)]))
}

/** Store the records that a workload begins with. */
export async function fillMix(store: KeyStore, ordered: boolean, records: number): Promise<void> {
  const record = wholeRecord(0)
  const value = Buffer.alloc(RECORD_BYTES, 1)
  await inParts(records, (numbers) =>
    Promise.all(
      numbers.map((each) => (ordered ? store.insert!(placeOf(each), value) : store.setFields!(nameOf(each), record))),
    ),
  )
}

/** One operation of a workload after the other; `seed` tells clients apart. */
export function mixLane(store: KeyStore, { mix, records, firstNew }: MixPlan, seed: number): Lane {
  const { writes, write, read } = mixes[mix]
  const keys = keySequence('zipf', records, seed)
  const isWrite = writeSequence(writes, seed)
  const lengths = keySequence('uniform', RANGE_MAX, seed)
  const record = wholeRecord(seed)
  const value = Buffer.alloc(RECORD_BYTES, 1 + (seed % 255))
  const fields = Array.from({ length: FIELDS }, (_, field) => ({ [`field${field}`]: fieldValue(seed + field) }))
  let added = 0
  let step = 0
  /** The k-th of those that came last, of which this client knows its own. */
  const latest = (back: number): number => (back < added ? firstNew + added - 1 - back : records - 1 - (back - added))
  const insert = (): unknown => {
    const number = firstNew + added
    added += 1
    return read === 'range' ? store.insert!(placeOf(number), value) : store.setFields!(nameOf(number), record)
  }
  return async () => {
    const at = step & (SEQUENCE_LENGTH - 1)
    step += 1
    const key = keys[at]!
    const isRead = isWrite[at] === 0
    if (!isRead && write === 'insert') return await insert()
    if (read === 'range') return await store.range!(placeOf(key), lengths[at]! + 1)
    const name = nameOf(read === 'latest' ? Math.max(0, latest(key)) : key)
    if (isRead) return await store.record!(name)
    if (write === 'rewrite') await store.record!(name)
    return await store.setFields!(name, fields[at % FIELDS]!)
  }
}
