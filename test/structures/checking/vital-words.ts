import { NamedOffset } from '../../../src/structures/heap/directory.ts'
import { DIRECTORY_OFFSET, GRANULE_BYTES, layoutOf, STRUCTURES_MAX } from '../../../src/structures/heap/layout.ts'
import type { StructureKindName } from '../../../src/structures/heap/structure-kind.ts'
import { DONE } from '../../../src/structures/heap-holds.ts'
import { JOB_HEAD_BYTES } from '../../../src/structures/jobs/job-record.ts'
import { JobsOffset } from '../../../src/structures/jobs/layout.ts'
import { NodeOffset } from '../../../src/structures/list/node.ts'
import { LIST_WORDS_OFFSET } from '../../../src/structures/list/value-list.ts'
import { RecordOffset } from '../../../src/structures/log/log-core.ts'
import {
  BodyOffset,
  EntryOffset,
  keyRoom,
  MOVED,
  REFERENCE_MASK,
  slotsOffset,
  TableOffset,
} from '../../../src/structures/map/layout.ts'
import { LocalMemory } from '../../../src/structures/memory/local-memory.ts'
import { BELL_BYTES } from '../../../src/structures/waiting/bell.ts'

/** A word of which every bit in `bits` counts: a check must notice that it was turned. */
export interface VitalWord {
  readonly offset: number
  readonly bits: number
  readonly what: string
}

const ALL = -1

/** The words that a check must know better, of a heap with the structure `it` of a kind. Holds a walk of its own. */
export function vitalWords(kind: StructureKindName, bytes: Uint8Array): readonly VitalWord[] {
  const memory = new LocalMemory(bytes)
  const layout = layoutOf(bytes.length)
  const words: VitalWord[] = []
  const vital = (what: string, offset: number, bits: number = ALL) => words.push({ what, offset, bits })
  const block = (reference: number): number => {
    vital('kind of a block', layout.statesOffset + (reference - layout.firstReference) * 4, 3)
    return reference * GRANULE_BYTES
  }
  let body = 0
  for (let at = 0; at < STRUCTURES_MAX; at += 1) {
    const place = DIRECTORY_OFFSET + at * 4
    if (memory.load(place) === 0) continue
    vital('name', place)
    body = block(memory.load(place)) + NamedOffset.Body
    vital('name', body - NamedOffset.Body + NamedOffset.NameLength)
  }
  const chain = (head: number, node: (offset: number, before: number, after: number) => void) => {
    if (memory.load(head) === 0) return
    vital('head', head)
    // The tail may be behind, and so name any node; what it must not name is no node.
    vital('tail', head + 4, 0xff000000 | 0)
    let before = 0
    for (let reference = memory.load(head); reference !== 0; ) {
      const offset = block(reference)
      const next = memory.load(offset + NodeOffset.Next)
      vital('next', offset + NodeOffset.Next)
      node(offset, before, next)
      before = reference
      reference = next
    }
  }
  const map = (at: number, entry: (offset: number) => void) => {
    vital('table', at + BodyOffset.Table)
    for (let slot = 0; slot < 256; slot += 1) vital('count', at + BodyOffset.Counts + slot * 4)
    const root = memory.load(at + BodyOffset.Table)
    if (root === 0) return
    const table = block(root)
    vital('next table', table + TableOffset.Next)
    const log2 = memory.load(table + TableOffset.Log2)
    for (let index = 0; index < 1 << log2; index += 1) {
      const place = table + slotsOffset(log2) + index * 4
      vital('slot', place)
      const reference = memory.load(place) & REFERENCE_MASK
      // What is frozen was moved, or is: then there are two tables, whose words depend on each other.
      if (reference <= MOVED) continue
      const offset = block(reference)
      const meta = memory.load(offset + EntryOffset.Key)
      vital('hash', offset + EntryOffset.Hash)
      // Whether the bytes of a key are text is not in its hash.
      vital('key', offset + EntryOffset.Key, 0xffff)
      for (let byte = 0; byte < keyRoom(meta); byte += 4) vital('key', offset + EntryOffset.Bytes + byte)
      if (memory.load(offset + EntryOffset.ValueLength) >= 0) entry(offset + EntryOffset.Bytes + keyRoom(meta))
    }
  }
  // One node alone may have any number.
  const inList = (offset: number, before: number, after: number) => {
    if (before !== 0 || after !== 0) vital('number', offset + NodeOffset.Number)
  }
  switch (kind) {
    case 'map':
      map(body, () => {})
      break
    case 'queue':
      chain(body + LIST_WORDS_OFFSET, inList)
      break
    case 'stack':
      vital('top', body + LIST_WORDS_OFFSET)
      for (let reference = memory.load(body + LIST_WORDS_OFFSET); reference !== 0; ) {
        const offset = block(reference)
        vital('number', offset + NodeOffset.Number)
        vital('next', offset + NodeOffset.Next)
        reference = memory.load(offset + NodeOffset.Next)
      }
      break
    case 'log':
    case 'channel':
      chain(body + BELL_BYTES, (offset, before, after) => {
        if (before === 0 && after === 0) return
        for (const half of [0, 4]) vital('index', offset + RecordOffset.Index + half)
        for (const half of [0, 4]) vital('bytes', offset + RecordOffset.Bytes + half)
        if (before === 0) return
        vital('previous', offset + RecordOffset.Previous)
        vital('length', offset + RecordOffset.Length)
      })
      break
    case 'rcu cell':
      vital('version', body)
      if (memory.load(body) !== 0) block(memory.load(body))
      break
    case 'jobs':
      map(body + JobsOffset.Jobs, (value) => {
        // Phase, priority; the lengths of its parts.
        vital('state', value, 0xfc)
        for (let at = JOB_HEAD_BYTES - 16; at < JOB_HEAD_BYTES; at += 4) vital('lengths', value + at)
      })
      for (let list = JobsOffset.Ready; list < JobsOffset.Jobs; list += 8) chain(body + list, inList)
      break
    case 'flag':
      vital('flag', body + BELL_BYTES, ~1)
      break
    case 'latch':
      vital('counted', body + BELL_BYTES, ~127)
      break
    case 'once':
      // Any bit makes of "done" who is not a member.
      if (memory.load(body + BELL_BYTES) === DONE) vital('done', body + BELL_BYTES)
      break
    case 'mutex':
    case 'semaphore':
    case 'read-write lock':
      // The slot of a holder, and the epochs that no member had.
      vital('holder', body + BELL_BYTES, 0xfcfffffc | 0)
      break
    case 'sequence':
      vital('sign', body + 4, 1 << 31)
      break
    default:
      break
  }
  return words
}
