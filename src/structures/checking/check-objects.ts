import { HeaderOffset } from '../heap/layout.ts'
import {
  ENTRY_BYTES,
  EntryKind,
  EntryOffset,
  GONE,
  OBJECT_BYTES,
  ObjectOffset,
  VersionOffset,
  WriteSetOffset,
} from '../mvrlu/layout.ts'
import { checkChain } from './check-list.ts'
import { checkValue } from './check-value.ts'
import type { CheckedHeap, CheckedPart, CheckedStructure } from './checked-heap.ts'
import { isWhole, must } from './damage.ts'

/**
 * The write sets that are committed: their clocks rise by one. Objects are known only by these, and by the values of a
 * program. So what is found here are those that were changed recently. @throws Damage
 */
export function checkCommits(heap: CheckedHeap): void {
  const { sight, blocks } = heap
  const claimant = heap.claims.claimant('the commit log of mv-rlu')
  const ends = { head: HeaderOffset.CommitHead, tail: HeaderOffset.CommitTail, nodeBytes: WriteSetOffset.Entries }
  checkChain({ heap, claimant }, ends, ({ offset, lengthBytes }, before) => {
    const clock = sight.float(offset + WriteSetOffset.Clock)
    const isNext = before === undefined || clock === sight.float(before.offset + WriteSetOffset.Clock) + 1
    must(isWhole(clock, 0, Number.MAX_SAFE_INTEGER) && isNext, 'the clocks of its write sets do not rise by one')
    const count = sight.word(offset + WriteSetOffset.Count)
    const end = WriteSetOffset.Entries + count * ENTRY_BYTES
    must(count >= 0 && end <= lengthBytes, 'a write set is longer than its block')
    must((sight.word(offset + WriteSetOffset.Finished) & ~1) === 0, 'a write set is neither finished nor not')
    // What the dummy names may have been given back.
    for (let at = WriteSetOffset.Entries; before !== undefined && at < end; at += ENTRY_BYTES) {
      const kind = sight.word(offset + at + EntryOffset.Kind)
      must(isWhole(kind, EntryKind.Lock, EntryKind.Free), 'an entry of a write set is of a kind that there is not')
      const object = sight.word(offset + at + EntryOffset.Object)
      if (object === 0 || sight.block(object) === undefined) continue
      if (blocks.state(object) !== sight.word(offset + at + EntryOffset.ObjectState)) continue
      if (!heap.claims.isClaimed(object))
        checkObject({ heap, claimant, body: claimant.claim(object, OBJECT_BYTES, 'an object').offset }, undefined)
    }
  })
}

/** The root object. @throws Damage */
export function checkRoot({ parameters, ...structure }: CheckedStructure): number {
  checkObject(structure, parameters[0])
  return 1
}

/** Clocks fall from version to version, and each value is within its block. */
function checkObject({ heap, claimant, body }: CheckedPart, codec: number | undefined): void {
  const { sight, blocks } = heap
  const lock = sight.word(body + ObjectOffset.Lock)
  must(lock === 0 || sight.block(lock) !== undefined, 'its lock is held by what is not a write set')
  let reference = sight.word(body + ObjectOffset.Head)
  let newer = Number.POSITIVE_INFINITY
  while (reference !== 0) {
    const { offset, lengthBytes } = claimant.claim(reference, VersionOffset.Value, 'a version')
    const clock = sight.float(offset + VersionOffset.Clock)
    must(isWhole(clock, 0, Number.MAX_SAFE_INTEGER) && clock < newer, 'the clocks of its versions do not fall')
    const length = sight.word(offset + VersionOffset.Length)
    must(length >= GONE && VersionOffset.Value + Math.max(0, length) <= lengthBytes, 'a value is longer than its block')
    if (length !== GONE) checkValue(heap, offset + VersionOffset.Value, length, codec, 'a value')
    newer = clock
    reference = sight.word(offset + VersionOffset.Older)
    // It is given back, and the word that names it was not cleared.
    const isThere = reference !== 0 && sight.block(reference) !== undefined
    if (!isThere || blocks.state(reference) !== sight.word(offset + VersionOffset.OlderState)) return
  }
}
