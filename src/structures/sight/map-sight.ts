import { KEY_BYTES_MAX, Key } from '../map/key.ts'
import {
  BodyOffset,
  DELETED,
  EntryOffset,
  FROZEN,
  keyRoom,
  LOG2_MAX,
  LOG2_MIN,
  MOVED,
  REFERENCE_MASK,
  slotsOffset,
  TableOffset,
  tableBytes,
} from '../map/layout.ts'
import { boundText, type ContentItem, type StructureContents, type StructureOptions } from './contents.ts'
import type { StructureFigures } from './figures.ts'
import type { BlockSight, HeapSight } from './heap-sight.ts'
import type { NamedStructure } from './named-structures.ts'
import { SAMPLE_MAX, scaled } from './sample.ts'
import { codecName, textOf } from './value-text.ts'

/** A table, and the one that takes its place. */
const TABLES_MAX = 2
/** Slots that are looked at for keys. */
const LOOKED_MAX = 65_536

interface TableSight {
  readonly block: BlockSight
  readonly slots: number
  readonly count: number
}

/**
 * The entries are counted exactly as `size()` does: one word for each participant. The bytes are those of the table,
 * and of the entries in the first {@link SAMPLE_MAX} slots, times the slots. Keys are spread over the slots by their
 * hash, so these are a fair sample.
 */
export function mapSight(heap: HeapSight, { body, block }: Pick<NamedStructure, 'body' | 'block'>): StructureFigures {
  let entries = 0
  for (let slot = 0; slot < heap.participantsHigh; slot += 1) entries += heap.word(body + BodyOffset.Counts + slot * 4)
  const tables = tablesOf(heap, body)
  if (tables === undefined) return { entries: Math.max(0, entries), isChanging: true }
  let bytes = block.lengthBytes
  let isEstimate = false
  for (const table of tables) {
    const looked = Math.min(SAMPLE_MAX, table.count)
    let inSlots = 0
    for (let index = 0; index < looked; index += 1) inSlots += heap.block(entryIn(heap, table, index))?.lengthBytes ?? 0
    bytes += table.block.lengthBytes + (scaled(inSlots, looked, table.count) ?? 0)
    isEstimate ||= looked < table.count
  }
  return { entries: Math.max(0, entries), bytes, isEstimate }
}

/** A value in words. `copy` copies its first bytes, up to a number. */
export type ValueWords = (lengthBytes: number, copy: (lengthBytesMax: number) => Uint8Array) => string

/** Up to `most` keys, each with what `words` says of its value: by default its length. */
export function mapContents(
  heap: HeapSight,
  structure: Pick<NamedStructure, 'body'>,
  most: number,
  words: ValueWords = (lengthBytes) => `${lengthBytes} bytes`,
): StructureContents {
  const { body } = structure
  const found = new Map<string, ContentItem>()
  const key = new Key(0)
  let left = LOOKED_MAX
  let isWhole = true
  for (const table of tablesOf(heap, body) ?? [])
    for (let index = 0; index < table.count; index += 1) {
      if (found.size >= most || left === 0) {
        isWhole = false
        break
      }
      left -= 1
      if (entryIn(heap, table, index) === 0) continue
      const item = heap.settled(() => keyIn(heap, table, index, key, words))
      if (item === undefined || item === 'none') continue
      found.set(item.label, { label: item.label, text: item.text })
    }
  return { title: 'keys', items: [...found.values()], isWhole }
}

/**
 * Calls `see` with what `words` says of each value in the first `slotsMax` slots of each table. Returns how many times
 * as many slots there are: 1 if all were looked at. What changes all the time is left out.
 */
export function sampleValues(
  heap: HeapSight,
  { body }: Pick<NamedStructure, 'body'>,
  slotsMax: number,
  words: ValueWords,
  see: (text: string) => void,
): number {
  const key = new Key(0)
  let [looked, all] = [0, 0]
  for (const table of tablesOf(heap, body) ?? []) {
    const count = Math.min(slotsMax, table.count)
    for (let index = 0; index < count; index += 1) {
      if (entryIn(heap, table, index) === 0) continue
      const item = heap.settled(() => keyIn(heap, table, index, key, words))
      if (item !== undefined && item !== 'none') see(item.said)
    }
    looked += count
    all += table.count
  }
  return looked === 0 ? 1 : all / looked
}

export function mapOptions(_heap: HeapSight, { parameters }: NamedStructure): StructureOptions {
  const [ttlMs, maxEntries, codec] = parameters
  return [
    ['time to live', boundText(ttlMs, ' ms')],
    ['most entries', boundText(maxEntries)],
    ['codec', codecName(codec)],
  ]
}

/** Undefined if they change all the time. */
function tablesOf(heap: HeapSight, body: number): readonly TableSight[] | undefined {
  const place = body + BodyOffset.Table
  if (heap.word(place) === 0) return []
  return heap.settled(() =>
    heap.through(place, (block) => {
      const first = tableOf(heap, block)
      if (first === undefined) return undefined
      const tables = [first]
      while (tables.length < TABLES_MAX) {
        const next = tables.at(-1)!.block.offset + TableOffset.Next
        if (heap.word(next) === 0) break
        const table = heap.through(next, (successor) => tableOf(heap, successor))
        if (table === undefined) return undefined
        tables.push(table)
      }
      return tables
    }),
  )
}

function tableOf(heap: HeapSight, block: BlockSight): TableSight | undefined {
  const log2 = heap.word(block.offset + TableOffset.Log2)
  const isOne = log2 >= LOG2_MIN && log2 <= LOG2_MAX && tableBytes(log2) <= block.lengthBytes
  return isOne ? { block, slots: block.offset + slotsOffset(log2), count: 2 ** log2 } : undefined
}

/** 0 if there is none. A frozen slot's entry counts where it stands until its slot says that it was moved. */
function entryIn(heap: HeapSight, table: TableSight, index: number): number {
  const reference = heap.word(table.slots + index * 4) & REFERENCE_MASK
  return reference === MOVED ? 0 : reference
}

/** Undefined if it changed meanwhile; `none` for what is deleted, has expired, or was moved. */
function keyIn(
  heap: HeapSight,
  table: TableSight,
  index: number,
  key: Key,
  words: ValueWords,
): (ContentItem & { readonly said: string }) | 'none' | undefined {
  const place = table.slots + index * 4
  const word = heap.word(place)
  const reference = word & REFERENCE_MASK
  if (reference === 0 || reference === MOVED || (word & FROZEN) !== 0) return 'none'
  const block = heap.block(reference)
  if (block === undefined || heap.word(place) !== word) return undefined
  const { offset, lengthBytes } = block
  const meta = heap.word(offset + EntryOffset.Key)
  const valueLength = heap.word(offset + EntryOffset.ValueLength)
  const endOfLife = heap.float(offset + EntryOffset.EndOfLife)
  const room = keyRoom(meta)
  const isSound = (meta & 0xffff) <= KEY_BYTES_MAX && EntryOffset.Bytes + room + Math.max(0, valueLength) <= lengthBytes
  if (isSound) key.copyFrom(meta, heap.copy(offset + EntryOffset.Bytes, room))
  const copy = (most: number) => heap.copy(offset + EntryOffset.Bytes + room, Math.min(most, valueLength))
  const text = isSound && valueLength !== DELETED ? words(valueLength, copy) : ''
  if (!heap.isStill(block) || !isSound) return undefined
  const leftMs = endOfLife === 0 ? undefined : endOfLife - heap.nowMs()
  if (valueLength === DELETED || (leftMs !== undefined && leftMs <= 0)) return 'none'
  const life = leftMs === undefined ? '' : `, for ${Math.ceil(leftMs / 1000)} s`
  return { label: textOf(key.value()), text: `${text}${life}`, said: text }
}
