import { VersionOffset } from '../rcu/cell-core.ts'
import type { BlockSight } from '../sight/heap-sight.ts'
import type { CheckedPart } from './checked-heap.ts'
import { isWhole, must } from './damage.ts'

/** The present version; undefined before the first. @throws Damage */
export function checkCell({
  heap,
  claimant,
  body,
}: CheckedPart): (BlockSight & { readonly valueLength: number }) | undefined {
  const { sight } = heap
  const reference = sight.word(body)
  if (reference === 0) return undefined
  const block = claimant.claim(reference, VersionOffset.Value, 'its version')
  const valueLength = sight.word(block.offset + VersionOffset.Length)
  must((sight.word(block.offset) & ~1) === 0, 'the mark of its version is not one')
  must(valueLength >= 0 && VersionOffset.Value + valueLength <= block.lengthBytes, 'its value is longer than its block')
  const version = sight.float(block.offset + VersionOffset.Version)
  must(isWhole(version, 1, Number.MAX_SAFE_INTEGER), 'the number of its version is not one')
  return { ...block, valueLength }
}
