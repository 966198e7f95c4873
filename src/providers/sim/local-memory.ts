import { type EncodedRequest, RequestSlot, segmentSlot } from '../encoded-request.ts'
import { RequestFlag } from '../opcode.ts'
import type { KeyTable } from './key-table.ts'
import { MemoryBlock } from './memory-block.ts'
import { PieceList } from './piece-list.ts'

/** Where the local bytes of a request are; undefined is a local protection error. Inline bytes need no registration. */
export function gatherLocal(
  keys: KeyTable,
  domainId: number,
  request: EncodedRequest,
  writable: boolean,
): PieceList | undefined {
  const { words, sources } = request
  const list = new PieceList()
  const inline = (words[RequestSlot.Flags]! & RequestFlag.Inline) !== 0
  for (let index = 0; index < words[RequestSlot.SegmentCount]!; index += 1) {
    const at = segmentSlot(index)
    const source = sources[index]
    if (inline) {
      if (source !== undefined) list.add(new MemoryBlock(source, 0), 0, source.length)
    } else {
      const [address, length, key] = [words[at]!, words[at + 1]!, words[at + 2]!]
      if (!keys.gather(list, domainId, address, length, key, writable)) return undefined
    }
  }
  return list
}
