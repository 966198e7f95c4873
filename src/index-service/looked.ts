import { copyOf } from './memory/copy.ts'
import { expireAtOf, HEAD_BYTES, RecordType, typeOf } from './state/record-format.ts'

/** What a look at records has found: bytes of the caller's own, `null` for nothing, or a value of another type. */
export type Looked = Uint8Array | null | 'other type'

/** The same of a whole hash: its fields with their values, in the order in which the fields came. */
export type LookedHash = readonly (readonly [name: Uint8Array, value: Uint8Array])[] | null | 'other type'

/** Of the record of a key, which is a view: the string that it holds. */
export function lookedAt(record: Uint8Array | undefined): Looked {
  const looked = lookedInto(record)
  return looked instanceof Uint8Array ? copyOf(looked, 0, looked.length) : looked
}

/** Of a record that is the caller's own: a part of it. */
export function lookedInto(record: Uint8Array | undefined): Looked {
  if (record === undefined || !isThere(record)) return null
  return typeOf(record) === RecordType.String ? record.subarray(HEAD_BYTES) : 'other type'
}

/** It has not expired. All processes of a machine have the same clock. */
export function isThere(record: Uint8Array): boolean {
  const expireAtMs = expireAtOf(record)
  return expireAtMs === 0 || expireAtMs > Date.now()
}
