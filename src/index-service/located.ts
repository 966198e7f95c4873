import { setTimeout as sleep } from 'node:timers/promises'
import { isThere } from './looked.ts'
import type { RecordPlace, TableReader } from './memory/table-reader.ts'
import type { CallLimits } from './port.ts'
import { expireAtOf, HEAD_BYTES, type RecordKeys, RecordType, typeOf, versionOf } from './state/record-format.ts'

/** Where a value lies in the memory of a process of this machine. */
interface Located extends RecordPlace {
  readonly processId: number
  /** Of the key. */
  readonly version: number
  /** 0: it does not expire. */
  readonly expireAtMs: number
}

/** What a search for a place has found; undefined if it cannot be told. */
export type LocatedOrNot = Located | null | 'other type' | undefined

/** Find the string at a key, or a field of the hash there. The caller sees to it that the table has what is decided. */
export function locate(
  table: TableReader,
  keys: RecordKeys,
  { key, field, space }: { key: Uint8Array; field: Uint8Array | undefined; space: number },
): LocatedOrNot {
  const found = table.find(keys.ofKey(key, space))
  if (found === 'unknown') return undefined
  if (found === undefined || !isThere(found.value)) return null
  const { value: record, place } = found
  const head = { processId: table.processId, version: versionOf(record), expireAtMs: expireAtOf(record) }
  if (typeOf(record) !== (field === undefined ? RecordType.String : RecordType.Hash)) return 'other type'
  if (field === undefined)
    return { ...head, ...place, offset: place.offset + HEAD_BYTES, length: place.length - HEAD_BYTES }
  const ofField = table.find(keys.ofField(key, field, space))
  if (ofField === 'unknown') return undefined
  // If the key has changed meanwhile, it may not have been there at any moment.
  const after = table.get(keys.ofKey(key, space))
  if (!(after instanceof Uint8Array) || versionOf(after) !== head.version) return undefined
  return ofField === undefined ? null : { ...head, ...ofField.place }
}

/** While a leader changes, memory cannot be read. */
const KNOWN_MS_MAX = 2000
const AGAIN_MS = 20

/** Look again until it can be told, for a while. */
export async function againUntilKnown(
  { timeoutMs, signal }: CallLimits,
  look: () => LocatedOrNot,
): Promise<LocatedOrNot> {
  const endMs = performance.now() + Math.min(timeoutMs, KNOWN_MS_MAX)
  for (;;) {
    signal?.throwIfAborted()
    const located = look()
    if (located !== undefined || performance.now() > endMs) return located
    await sleep(AGAIN_MS)
  }
}
