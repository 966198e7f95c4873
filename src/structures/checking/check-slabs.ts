import { BlockKind, kindOf, slotOf } from '../heap/block-state.ts'
import { HEAP_MAGIC, HEAP_VERSION, HeaderOffset, PARTICIPANTS_MAX } from '../heap/layout.ts'
import { ParticipantState } from '../heap/participant.ts'
import { CLASS_GRANULES } from '../heap/size-classes.ts'
import { SlabKind, slabDetail, slabKind, slabSlot, slabWord } from '../heap/slab-word.ts'
import type { CheckedHeap } from './checked-heap.ts'
import { isWhole, must } from './damage.ts'

/** The words of the heap itself. @throws Damage */
export function checkHeader({ sight, participants }: CheckedHeap): void {
  const { slabs } = sight.layout
  must(
    sight.word(HeaderOffset.Magic) === HEAP_MAGIC &&
      sight.word(HeaderOffset.Version) === HEAP_VERSION &&
      sight.word(HeaderOffset.Slabs) === slabs,
    'it does not begin as memory of structures',
  )
  must(sight.word(HeaderOffset.Seed) > 0, 'the seed of its hashes is missing')
  const backed = sight.word(HeaderOffset.Backed)
  must(isWhole(backed, 0, slabs), `it says that ${backed} slabs have memory, of ${slabs}`)
  const high = sight.word(HeaderOffset.ParticipantsHigh)
  must(isWhole(high, 0, PARTICIPANTS_MAX), `it says that ${high} slots of members were used`)
  for (const { slot, identity, state } of participants)
    must(
      identity === 0 || state === ParticipantState.Active || state === ParticipantState.Ended,
      `the entry of member ${slot} has a state that there is not`,
    )
}

/** What each slab is, and each block in it. @throws Damage */
export function checkSlabs(heap: CheckedHeap): void {
  const { blocks, sight } = heap
  for (let slab = 0; slab < sight.backed; slab += 1) {
    checkSlab(heap, slab)
    blocks.eachBlock(slab, (reference, state) => checkState(heap, slab, reference, state))
  }
}

function checkSlab(heap: CheckedHeap, slab: number): void {
  const word = heap.blocks.word(slab)
  must(isSlab(heap, slab, word), `slab ${slab} has a word that there is not (0x${(word >>> 0).toString(16)})`)
}

function isSlab(heap: CheckedHeap, slab: number, word: number): boolean {
  const [slot, detail] = [slabSlot(word), slabDetail(word)]
  switch (slabKind(word)) {
    case SlabKind.Free:
    case SlabKind.Hole:
      return slot === 0 && detail === 0
    case SlabKind.Sized:
      return slot === 0 && detail < CLASS_GRANULES.length
    case SlabKind.Head:
      return slot === 0 && hasTails(heap, slab, detail)
    case SlabKind.Tail:
      return slot === 0 && isTail(heap, slab, detail)
    case SlabKind.Closing:
      return isAtWork(heap, slot) && detail < CLASS_GRANULES.length
    default:
      return isAtWork(heap, slot) && detail === 0
  }
}

function hasTails({ blocks, sight }: CheckedHeap, head: number, count: number): boolean {
  if (count < 1 || head + count > sight.backed) return false
  for (let at = 1; at < count; at += 1) if (blocks.word(head + at) !== slabWord(SlabKind.Tail, 0, head)) return false
  return true
}

/** Its head is there; or who makes the block, or frees it, was killed. */
function isTail({ blocks }: CheckedHeap, slab: number, head: number): boolean {
  if (head >= slab) return false
  const word = blocks.word(head)
  return slabKind(word) === SlabKind.Claimed || (slabKind(word) === SlabKind.Head && slab < head + slabDetail(word))
}

/** Whether a member is, or was killed and is not recovered, that may be in the middle of something. */
function isAtWork({ participants }: CheckedHeap, slot: number): boolean {
  return participants[slot]?.state === ParticipantState.Active
}

function checkState({ blocks, participants }: CheckedHeap, slab: number, reference: number, state: number): void {
  const [kind, slot] = [kindOf(state), slotOf(state)]
  const isClosing = slabKind(blocks.word(slab)) === SlabKind.Closing
  const isSound =
    kind === BlockKind.Live || kind === BlockKind.Retired
      ? slot < participants.length
      : slot === 0 || (isClosing && kind === BlockKind.Closed)
  must(
    isSound && (kind !== BlockKind.Closed || isClosing),
    `block ${reference} has a state that there is not (0x${(state >>> 0).toString(16)})`,
  )
}
