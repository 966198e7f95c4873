import { setTimeout as sleep } from 'node:timers/promises'
import { isThere } from './looked.ts'
import type { RecordPlace, TableReader } from './memory/table-reader.ts'
import type { ShardMemory } from './node/index-contract.ts'
import { expireAtOf, HEAD_BYTES, type RecordKeys, RecordType, typeOf, versionOf } from './state/record-format.ts'

/** Where a value lies in the memory of a node. */
interface Located extends RecordPlace {
  /** Of the key. */
  readonly version: number
  /** 0: it does not expire. */
  readonly expireAtMs: number
}

/** What a search for a place has found; undefined if it cannot be told. */
export type LocatedOrNot = Located | null | 'other type' | undefined

/** Where a value lies, for a program. */
interface Placed {
  readonly length: number
  /** Of the key. */
  readonly version: number
  /** Milliseconds since 1970; undefined if it stays. */
  readonly expiresAtMs: number | undefined
}

interface PlaceOnMachine extends Placed {
  /** In memory of this machine. */
  readonly where: 'machine'
  /** Of the node whose memory it is. */
  readonly processId: number
  readonly path: string
  readonly offset: number
  /** Words of 32 bits, little-endian. */
  readonly unchanged: readonly { readonly path: string; readonly offset: number; readonly value: number }[]
}

interface PlaceAtNode extends Placed {
  /** At a node of another machine, which takes connections at that address of its tcp device. */
  readonly where: 'node'
  readonly node: { readonly address: string; readonly port: number }
  /** For a READ. */
  readonly remote: { readonly address: number; readonly key: number }
  /** Words of 32 bits, little-endian, to READ after it. */
  readonly unchanged: readonly { readonly address: number; readonly key: number; readonly value: number }[]
}

export type ValuePlace = PlaceOnMachine | PlaceAtNode
export type PlacedOrNot = ValuePlace | null | 'other type' | undefined

export function placeOnMachine(located: LocatedOrNot, table: TableReader): PlacedOrNot {
  if (typeof located !== 'object' || located === null) return located
  const pathOf = (chunk: number): string => `/proc/${table.processId}/fd/${table.descriptorOf(chunk)}`
  const { chunk, offset, unchanged } = located
  const words = unchanged.map((word) => ({ path: pathOf(word.chunk), offset: word.offset, value: word.value }))
  const { processId } = table
  return { where: 'machine', processId, path: pathOf(chunk), offset, ...placedOf(located), unchanged: words }
}

export function placeAtNode(located: LocatedOrNot, { place, chunks }: ShardMemory): PlacedOrNot {
  if (typeof located !== 'object' || located === null) return located
  const remoteOf = (chunk: number, offset: number) => ({
    address: chunks[chunk]!.address + offset,
    key: chunks[chunk]!.key,
  })
  const { chunk, offset, unchanged } = located
  const words = unchanged.map((word) => ({ ...remoteOf(word.chunk, word.offset), value: word.value }))
  return { where: 'node', node: place, remote: remoteOf(chunk, offset), ...placedOf(located), unchanged: words }
}

function placedOf({ length, version, expireAtMs }: Located): Placed {
  return { length, version, expiresAtMs: expireAtMs === 0 ? undefined : expireAtMs }
}

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
  const head = { version: versionOf(record), expireAtMs: expireAtOf(record) }
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
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal | undefined },
  look: () => PlacedOrNot | Promise<PlacedOrNot>,
): Promise<PlacedOrNot> {
  const endMs = performance.now() + Math.min(timeoutMs, KNOWN_MS_MAX)
  for (;;) {
    signal?.throwIfAborted()
    const located = await look()
    if (located !== undefined || performance.now() > endMs) return located
    await sleep(AGAIN_MS)
  }
}
