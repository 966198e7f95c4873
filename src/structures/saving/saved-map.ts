import { bytes } from '../../codecs/index.ts'
import { offsetOf } from '../heap/heap.ts'
import { HEAP_BYTES_MAX } from '../heap/layout.ts'
import { MapCore } from '../map/core.ts'
import { Key, type MapKey } from '../map/key.ts'
import { EntryOffset, keyRoom, MAP_BODY_BYTES } from '../map/layout.ts'
import { SharedMap } from '../map/shared-map.ts'
import { isDeleted } from '../map/table.ts'
import type { SavedBody, SavedClock, SavedKind } from './saved-kind.ts'

/**
 * A record is an entry.
 *
 * ```
 *  0 key: length, and kind from bit 16 on   4 end of life, Float64, 0: none   12 key   then the value
 * ```
 */
const RECORD_HEAD = 12

/** The parts of a record. */
export interface SavedEntry {
  readonly key: MapKey
  /** Milliseconds that are left; 0: without end. Undefined: its life is over. */
  readonly ttlMs: number | undefined
  readonly value: Uint8Array
}

export function entryOf(record: Uint8Array, { heap, clock }: Pick<SavedBody, 'heap' | 'clock'>): SavedEntry {
  const view = new DataView(record.buffer, record.byteOffset, record.length)
  const meta = view.getUint32(0, true)
  const endOfLife = view.getFloat64(4, true)
  const at = RECORD_HEAD + (meta & 0xffff)
  const key = new Key(heap.seed)
  key.copyFrom(meta, record.subarray(RECORD_HEAD, at))
  const leftMs = endOfLife === 0 ? 0 : clock.toHeap(endOfLife) - heap.nowMs()
  const isOver = endOfLife !== 0 && leftMs <= 0
  return { key: key.value(), ttlMs: isOver ? undefined : leftMs, value: record.subarray(at) }
}

const HASHES = 2 ** 32

/** An entry that stays during the whole dump is in it once. */
export const savedMap: SavedKind = {
  bodyBytes: () => MAP_BODY_BYTES,

  *dump({ heap, offset, clock }: SavedBody) {
    const core = new MapCore(heap, offset)
    for (let from = 0; from < HASHES; ) {
      const part = new Map<string, Uint8Array>()
      from = core.visit(from, (entry) => gather(part, core, entry, clock))
      if (part.size === 0) yield undefined
      yield* part.values()
    }
  },

  restore(body: SavedBody) {
    const { heap, name, offset, parameters } = body
    const [, maxEntries = 0] = parameters
    const map = new SharedMap(name, heap, offset, { codec: bytes, valueBytesMax: HEAP_BYTES_MAX, ttlMs: 0, maxEntries })
    return (record) => {
      const { key, ttlMs, value } = entryOf(record, body)
      if (ttlMs !== undefined) map.setSync(key, value, { ttlMs })
    }
  },
}

/** Within a part, some entries are met twice, while their table is being moved. */
function gather(part: Map<string, Uint8Array>, core: MapCore, entry: number, clock: SavedClock): void {
  const { heap } = core
  if (entry === 0 || isDeleted(heap, entry)) return
  const { memory } = heap
  const at = offsetOf(entry)
  const endOfLife = memory.peekFloat(at + EntryOffset.EndOfLife)
  if (endOfLife !== 0 && endOfLife <= heap.nowMs()) return
  const meta = memory.peek(at + EntryOffset.Key)
  const keyBytes = meta & 0xffff
  const valueBytes = memory.peek(at + EntryOffset.ValueLength)
  const record = Buffer.allocUnsafe(RECORD_HEAD + keyBytes + valueBytes)
  record.writeUInt32LE(meta, 0)
  record.writeDoubleLE(endOfLife === 0 ? 0 : clock.toWall(endOfLife), 4)
  record.set(memory.view(at + EntryOffset.Bytes, keyBytes), RECORD_HEAD)
  record.set(memory.view(at + EntryOffset.Bytes + keyRoom(meta), valueBytes), RECORD_HEAD + keyBytes)
  const name = `${meta} ${record.toString('latin1', RECORD_HEAD, RECORD_HEAD + keyBytes)}`
  if (!part.has(name)) part.set(name, record)
}
