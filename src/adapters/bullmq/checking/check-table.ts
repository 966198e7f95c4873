import { isUtf8 } from 'node:buffer'
import { must } from '../../../structures/index.ts'
import {
  bucketOf,
  EntryOffset,
  hashName,
  SEGMENT_BUCKETS,
  SEGMENT_BYTES,
  SMALL_MAX,
  TableOffset,
} from '../store/tables.ts'
import type { CheckedBlocks } from './checked-blocks.ts'

/** Called with each entry: where its payload begins, and its key. */
type VisitEntry = (payload: number, key: string) => void

/** Each entry is linked with its neighbours, and in the bucket of its key. Returns their number. @throws Damage */
export function checkTable(blocks: CheckedBlocks, table: number, payloadBytes: number, visit: VisitEntry): number {
  const { memory } = blocks
  const isIndexed = memory.word(table + TableOffset.Buckets) !== 0
  const keys: string[] = []
  const begin = EntryOffset.Payload + payloadBytes
  let previous = 0
  for (let entry = memory.word(table + TableOffset.First); entry !== 0; ) {
    const room = isIndexed ? blocks.claimEntry(entry, begin) : blocks.claim(entry, begin, 'an entry')
    const length = memory.word(entry + EntryOffset.KeyLength)
    must(length >= 0 && begin + length <= room, 'a key is longer than its block')
    must(memory.word(entry + EntryOffset.Previous) === previous, 'an entry does not follow the one before')
    const bytes = memory.bytes.subarray(entry + begin, entry + begin + length)
    const key = bytes.toString()
    // What could not be written as UTF-8 has the hash of what it was before.
    const isSound = hashName(key) === memory.word(entry + EntryOffset.Hash) || key.includes('\ufffd')
    must(isSound && isUtf8(bytes), 'the hash of an entry is not that of its key')
    keys.push(key)
    previous = entry
    entry = memory.word(entry + EntryOffset.Next)
  }
  const isWhole = memory.word(table + TableOffset.Last) === previous
  must(isWhole && memory.word(table + TableOffset.Count) === keys.length, 'a table has not the entries that it counts')
  checkBuckets(blocks, table, keys.length)
  let entry = memory.word(table + TableOffset.First)
  for (const key of keys) {
    visit(entry + EntryOffset.Payload, key)
    entry = memory.word(entry + EntryOffset.Next)
  }
  return keys.length
}

function checkBuckets(blocks: CheckedBlocks, table: number, entries: number): void {
  const { memory } = blocks
  const [buckets, segments] = [memory.word(table + TableOffset.Buckets), memory.word(table + TableOffset.Segments)]
  const directory = memory.word(table + TableOffset.Directory)
  const isSound = buckets === 0 ? directory === 0 && entries <= SMALL_MAX : buckets > 0
  must(isSound && segments === Math.ceil(buckets / SEGMENT_BUCKETS), 'a table has not the buckets that it should')
  if (buckets === 0) return
  blocks.claim(directory, segments * 4, 'the directory of a table')
  let left = entries
  for (let bucket = 0; bucket < buckets; bucket += 1) {
    const segment = memory.word(directory + Math.floor(bucket / SEGMENT_BUCKETS) * 4)
    const inSegment = bucket % SEGMENT_BUCKETS
    if (inSegment === 0) blocks.claim(segment, SEGMENT_BYTES, 'a segment of a table')
    for (let entry = memory.word(segment + inSegment * 4); entry !== 0; left -= 1) {
      blocks.takeEntry(entry)
      must(bucketOf(memory.word(entry + EntryOffset.Hash), buckets) === bucket, 'an entry is in another bucket')
      entry = memory.word(entry + EntryOffset.Chain)
    }
  }
  must(left === 0, 'an entry is in no bucket')
}
