import { LogOffset, RecordOffset } from '../log/log-core.ts'
import { BELL_BYTES } from '../waiting/bell.ts'
import { ChainSight } from './chain-sight.ts'
import { boundText, type ContentItem, type StructureContents, type StructureOptions } from './contents.ts'
import type { StructureFigures } from './figures.ts'
import type { BlockSight, HeapSight } from './heap-sight.ts'
import type { NamedStructure } from './named-structures.ts'
import { SAMPLE_MAX, scaled } from './sample.ts'
import { codecName, valueText } from './value-text.ts'

/** The largest index of a record that is believed: what a number can count exactly. */
const INDEX_MAX = Number.MAX_SAFE_INTEGER

/** Where a log stands, at one moment. */
interface LogBounds {
  readonly first: number
  readonly end: number
  readonly valueBytes: number
}

/**
 * Entries and the bytes of their values are exact, by the numbers in the first and the last record. What blocks take
 * beyond the values is that of up to {@link SAMPLE_MAX} records, times the entries.
 */
export function logSight(heap: HeapSight, { body, block }: NamedStructure): StructureFigures {
  const chain = chainOf(heap, body)
  if (!chain.begun) return { entries: 0, bytes: block.lengthBytes, now: 'next index 0' }
  const bounds = boundsOf(heap, chain)
  if (bounds === undefined) return { isChanging: true }
  const { first, end, valueBytes } = bounds
  const entries = end - first
  let seen = 0
  let beyond = 0
  const isWhole = chain.walk(SAMPLE_MAX, (record) => {
    seen += 1
    // The dummy's value was dropped, but lies in its block still.
    beyond += record.lengthBytes - (seen === 1 ? 0 : Math.max(0, heap.word(record.offset + RecordOffset.Length)))
  })
  const overhead = scaled(beyond, seen, entries + 1)
  const now = `next index ${end}`
  if (overhead === undefined) return { entries, now, isChanging: true }
  return { entries, now, bytes: block.lengthBytes + valueBytes + overhead, isEstimate: !isWhole }
}

/** The newest entries, the newest first. */
export function logContents(heap: HeapSight, structure: NamedStructure, most: number): StructureContents {
  const { body, kind, parameters } = structure
  const chain = chainOf(heap, body)
  const items = chain.begun ? newest(heap, chain, most, parameters[kind === 'log' ? 2 : 1]) : []
  const bounds = chain.begun ? boundsOf(heap, chain) : undefined
  const isWhole = !chain.begun || (bounds !== undefined && bounds.end - bounds.first === items.length)
  return { title: 'newest entries', items, isWhole }
}

export function logOptions(_heap: HeapSight, { parameters }: NamedStructure): StructureOptions {
  const [capacity, capacityBytes, codec] = parameters
  return [
    ['capacity', boundText(capacity)],
    ['capacity in bytes', boundText(capacityBytes)],
    ['codec', codecName(codec)],
  ]
}

export function channelOptions(_heap: HeapSight, { parameters }: NamedStructure): StructureOptions {
  const [capacity, codec] = parameters
  return [
    ['capacity', boundText(capacity)],
    ['codec', codecName(codec)],
  ]
}

function chainOf(heap: HeapSight, body: number): ChainSight {
  return new ChainSight(heap, body + BELL_BYTES + LogOffset.Head, body + BELL_BYTES + LogOffset.Tail)
}

/** Undefined if it changes all the time. */
function boundsOf(heap: HeapSight, chain: ChainSight): LogBounds | undefined {
  return chain.atEnds(({ dummy, last }) => {
    const first = indexOf(heap, dummy) + 1
    const end = indexOf(heap, last) + 1
    const valueBytes = heap.float(last.offset + RecordOffset.Bytes) - heap.float(dummy.offset + RecordOffset.Bytes)
    const isSound = first >= 0 && end >= first && end <= INDEX_MAX && valueBytes >= 0 && valueBytes <= INDEX_MAX
    return isSound ? { first, end, valueBytes } : undefined
  })
}

/**
 * From the last record back. What comes before the dummy is not the log's any more, and may be any other block: so the
 * index must fall by one from record to record, and the dummy's is the end.
 */
function newest(heap: HeapSight, chain: ChainSight, most: number, codec: number | undefined): readonly ContentItem[] {
  const found = chain.atEnds(({ dummy, last }) => {
    const items: ContentItem[] = []
    const end = indexOf(heap, dummy)
    let record: BlockSight | undefined = last
    for (let index = indexOf(heap, last); record !== undefined && index > end && items.length < most; index -= 1) {
      if (indexOf(heap, record) !== index) break
      const length = heap.word(record.offset + RecordOffset.Length)
      const text = valueText(heap, record, RecordOffset.Value, length, codec)
      if (text === undefined) break
      items.push({ label: String(index), text })
      const before: number = heap.word(record.offset + RecordOffset.Previous)
      record = heap.isStill(record) ? heap.block(before) : undefined
    }
    return items
  })
  return found ?? []
}

function indexOf(heap: HeapSight, record: BlockSight): number {
  return heap.float(record.offset + RecordOffset.Index)
}
