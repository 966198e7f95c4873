import { LogOffset, RecordOffset } from '../log/log-core.ts'
import { BELL_BYTES } from '../waiting/bell.ts'
import { checkChain } from './check-list.ts'
import { checkValue } from './check-value.ts'
import type { CheckedStructure } from './checked-heap.ts'
import { isWhole, must } from './damage.ts'

/** Indexes and bytes rise from record to record. Returns the number of records. @throws Damage */
export function checkLog(structure: CheckedStructure, codec: number | undefined): number {
  const { heap, body } = structure
  const { sight } = heap
  const head = body + BELL_BYTES + LogOffset.Head
  const ends = { head, tail: body + BELL_BYTES + LogOffset.Tail, nodeBytes: RecordOffset.Value }
  return checkChain(structure, ends, ({ offset, lengthBytes }, before) => {
    const [index, bytes] = [sight.float(offset + RecordOffset.Index), sight.float(offset + RecordOffset.Bytes)]
    const length = sight.word(offset + RecordOffset.Length)
    must(length >= 0 && RecordOffset.Value + length <= lengthBytes, 'a value is longer than its block')
    must(isWhole(index, -1, Number.MAX_SAFE_INTEGER), 'the index of an entry is not one')
    must(isWhole(bytes, 0, Number.MAX_SAFE_INTEGER), 'the bytes of an entry are not counted')
    if (before === undefined) return
    must(index === sight.float(before.offset + RecordOffset.Index) + 1, 'its entries are not numbered in a row')
    must(bytes === sight.float(before.offset + RecordOffset.Bytes) + length, 'its bytes are not counted in a row')
    must(
      sight.word(offset + RecordOffset.Previous) === before.reference,
      'an entry does not lead back to the one before',
    )
    checkValue(heap, offset + RecordOffset.Value, length, codec, `entry ${index}`)
  })
}
