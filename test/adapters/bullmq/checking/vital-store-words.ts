import {
  ChildTable,
  DEDUPLICATION_BYTES,
  EventOffset,
  JOB_BYTES,
  JobOffset,
  jobTexts,
  METRICS_BYTES,
  QUEUE_BYTES,
  QueueOffset,
  states,
  VALUE_BYTES,
} from '../../../../src/adapters/bullmq/queue/layout.ts'
import { MetricsOffset } from '../../../../src/adapters/bullmq/queue/metrics.ts'
import { BlockAllocator } from '../../../../src/adapters/bullmq/store/block-allocator.ts'
import { HeaderOffset } from '../../../../src/adapters/bullmq/store/layout.ts'
import { NodeOffset } from '../../../../src/adapters/bullmq/store/ordered-sets.ts'
import { EntryOffset, SEGMENT_BUCKETS, TableOffset, Tables } from '../../../../src/adapters/bullmq/store/tables.ts'
import { Texts } from '../../../../src/adapters/bullmq/store/texts.ts'
import type { UndoMemory } from '../../../../src/adapters/bullmq/store/undo-memory.ts'
import { FREE_BLOCK, StoreBlockOffset, StoreHead } from '../../../../src/structures/index.ts'
import type { VitalWord } from '../../../structures/checking/vital-words.ts'

const ALL = -1
const { Next, Previous, Size, SizeBefore } = StoreBlockOffset

export interface VitalStoreWord extends VitalWord {
  /** With another value, which no check can know better, the store may hold the same. */
  readonly isAsGood?: () => boolean
}

/** The words that a check must know better, of a store between two transactions. Holds a walk of its own. */
export function vitalStoreWords(memory: UndoMemory): readonly VitalStoreWord[] {
  const words: VitalStoreWord[] = []
  const allocator = new BlockAllocator(memory)
  const tables = new Tables(memory, allocator, new Texts(memory, allocator))
  const vital = (what: string, offset: number, bits: number = ALL) => words.push({ what, offset, bits })
  const follow = (what: string, place: number): number => {
    vital(what, place)
    return memory.word(place)
  }

  const text = (what: string, place: number) => {
    const at = follow(what, place)
    // A text that is a little shorter is a text.
    if (at !== 0) vital(`length of ${what}`, at, ~0xff)
  }

  const buckets = (table: number) => {
    const [count, segments] = [memory.word(table + TableOffset.Buckets), memory.word(table + TableOffset.Segments)]
    for (let segment = 0; segment < segments; segment += 1) {
      const at = follow('segment', memory.word(table + TableOffset.Directory) + segment * 4)
      const used = Math.min(SEGMENT_BUCKETS, count - segment * SEGMENT_BUCKETS)
      for (let bucket = 0; bucket < used; bucket += 1) vital('bucket', at + bucket * 4)
    }
  }

  /** Few entries may lie where they would with more or fewer buckets. */
  const findsAll = (at: number, payloadBytes: number): boolean => {
    for (let entry = memory.word(at + TableOffset.First); entry !== 0; entry = memory.word(entry + EntryOffset.Next)) {
      const keyAt = entry + EntryOffset.Payload + payloadBytes
      const key = memory.bytes.subarray(keyAt, keyAt + memory.word(entry + EntryOffset.KeyLength)).toString()
      // What could not be written as UTF-8 is found by what it was before, which is not here.
      if (!key.includes('\ufffd') && tables.find(at, key, payloadBytes) !== entry + EntryOffset.Payload) return false
    }
    return true
  }

  const table = (at: number, payloadBytes: number, visit: (payload: number) => void) => {
    const isIndexed = memory.word(at + TableOffset.Buckets) !== 0
    for (const offset of Object.values(TableOffset))
      if (!isIndexed || offset !== TableOffset.Buckets) vital('table', at + offset)
      else words.push({ what: 'buckets', offset: at + offset, bits: ALL, isAsGood: () => findsAll(at, payloadBytes) })
    if (isIndexed) buckets(at)
    for (let entry = memory.word(at + TableOffset.First); entry !== 0; ) {
      const next = follow('next entry', entry + EntryOffset.Next)
      for (const offset of [EntryOffset.Previous, EntryOffset.Hash, EntryOffset.KeyLength])
        vital('entry', entry + offset)
      if (isIndexed) vital('chain', entry + EntryOffset.Chain)
      const keyAt = entry + EntryOffset.Payload + payloadBytes
      for (let byte = 0; byte + 4 <= memory.word(entry + EntryOffset.KeyLength); byte += 4) vital('key', keyAt + byte)
      visit(entry + EntryOffset.Payload)
      entry = next
    }
  }

  const values = (at: number) => table(at, VALUE_BYTES, (entry) => text('value', entry))

  const set = (node: number) => {
    if (node === 0) return
    vital('item', node + NodeOffset.Item)
    vital('parent', node + NodeOffset.Parent)
    vital('count', node + NodeOffset.Count)
    set(follow('left', node + NodeOffset.Left))
    set(follow('right', node + NodeOffset.Right))
  }

  const job = (at: number) => {
    for (const mark of [JobOffset.Exists, JobOffset.Stalled, JobOffset.AttachmentFailed]) vital('mark', at + mark, ~1)
    for (const place of [...jobTexts, JobOffset.LockToken, JobOffset.Scheduler]) text('text of a job', at + place)
    for (const state of states.keys()) vital('node of a job', at + JobOffset.Nodes + state * 4)
    const children = follow('children', at + JobOffset.Children)
    if (children !== 0) for (const offset of Object.values(ChildTable)) values(children + offset)
    const logs = follow('logs', at + JobOffset.Logs)
    if (logs !== 0) values(logs)
  }

  const queue = (at: number) => {
    table(at + QueueOffset.Jobs, JOB_BYTES, job)
    for (const state of states.keys()) set(follow('root', at + QueueOffset.Sets + state * 4))
    for (const place of [QueueOffset.Meta, QueueOffset.Next]) values(at + place)
    table(at + QueueOffset.Deduplication, DEDUPLICATION_BYTES, (entry) => text('deduplication', entry))
    for (const metrics of [0, METRICS_BYTES]) text('points', at + QueueOffset.Metrics + metrics + MetricsOffset.Points)
    vital('flags', at + QueueOffset.Flags, ~7)
    vital('last event', at + QueueOffset.EventLast)
    vital('count of events', at + QueueOffset.EventCount)
    for (let event = follow('first event', at + QueueOffset.EventFirst); event !== 0; ) {
      vital('event', event + EventOffset.Previous)
      vital('event', event + EventOffset.Length, ~0xff)
      event = follow('next event', event + EventOffset.Next)
    }
  }

  vital('magic', StoreHead.Magic)
  vital('restored', StoreHead.Restored, ~1)
  for (const half of [0, 4]) vital('bytes in use', HeaderOffset.UsedBytes + half)
  for (let at = HeaderOffset.Doublings as number; at < HeaderOffset.Classes + 32 * 4; at += 4) vital('classes', at)
  for (let at = HeaderOffset.FreeBlocks as number; at < HeaderOffset.Bells; at += 4) vital('list of free blocks', at)
  for (let at = memory.header.blocksBegin; at <= memory.header.blocksEnd - 16; ) {
    const size = follow('size of a block', at + Size)
    vital('size of the block before', at + SizeBefore)
    if ((size & FREE_BLOCK) !== 0) for (const place of [Next, Previous]) vital('free block', at + place)
    if (size === 0) break
    at += size & ~FREE_BLOCK
  }
  table(HeaderOffset.Queues, QUEUE_BYTES, queue)
  return words
}
