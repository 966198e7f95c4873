import type { CompletionOwner } from '../soft/completion-owner.ts'
import { MAX_MESSAGE_BYTES } from '../soft/limits.ts'
import type { ShmCompletionQueue } from './completion-queue.ts'
import { RESULT_WORDS, ResultWord } from './layout.ts'
import type { PairBlock } from './pair-block.ts'

/**
 * Append the completion of the receive in `slot`, and return its status. What the sender wrote is checked, since the
 * sender may be broken.
 */
export function completeReceive(
  block: PairBlock,
  slot: number,
  id: number,
  owner: CompletionOwner,
  queue: ShmCompletionQueue,
  covered: number,
): number {
  const { results } = block
  const at = slot * RESULT_WORDS
  const status = results[at + ResultWord.Status]! & 0xff
  const opcode = results[at + ResultWord.Opcode]! & 0xff
  const row = queue.push(owner, covered, id, status, opcode, lengthOf(block, slot))
  queue.annotate(
    row,
    results[at + ResultWord.Flags]!,
    results[at + ResultWord.Immediate]! >>> 0,
    results[at + ResultWord.SourceNumber]! >>> 0,
    results[at + ResultWord.VendorError]!,
  )
  return status
}

/** How many bytes a message had, as its sender says; 0 if that is impossible. */
export function lengthOf(block: PairBlock, slot: number): number {
  const length = block.resultDoubles[(slot * RESULT_WORDS + ResultWord.ByteLength) / 2]!
  return length >= 0 && length <= MAX_MESSAGE_BYTES ? length : 0
}
