import { copyOf } from './memory/copy.ts'
import { expireAtOf, HEAD_BYTES, RecordType, typeOf } from './state/record-format.ts'

/** What a look at records has found: bytes of the caller's own, `null` for nothing, or a value of another type. */
export type Looked = Uint8Array | null | 'other type'

/** Of the record of a key: the string that it holds. */
export function lookedAt(record: Uint8Array | undefined): Looked {
  if (record === undefined || !isThere(record)) return null
  return typeOf(record) === RecordType.String ? copyOf(record, HEAD_BYTES, record.length) : 'other type'
}

/** It has not expired. All processes of a machine have the same clock. */
export function isThere(record: Uint8Array): boolean {
  const expireAtMs = expireAtOf(record)
  return expireAtMs === 0 || expireAtMs > Date.now()
}
