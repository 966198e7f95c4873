import { BlockKind, kindOf, slotOf } from '../heap/block-state.ts'
import { HeaderOffset, STRUCTURES_MAX } from '../heap/layout.ts'
import { ParticipantState } from '../heap/participant.ts'
import { type CheckedName, checkName } from './check-names.ts'
import { checkCommits } from './check-objects.ts'
import { checkHeader, checkSlabs } from './check-slabs.ts'
import { checkStructure } from './check-structure.ts'
import { CheckedHeap, type CheckedSpace } from './checked-heap.ts'
import { Damage } from './damage.ts'
import { Unfinished } from './unfinished.ts'

/** What is wrong with a structure, or with what structures share. */
interface HeapDamage {
  /** Undefined: what is damaged belongs to no structure, such as the list of blocks. */
  readonly structure?: string
  readonly kind: string
  readonly reason: string
}

/** A block that nothing names. */
export interface LostBlock {
  readonly reference: number
  readonly state: number
}

/** What was found in a heap. */
export interface HeapReport {
  readonly structures: number
  /** Entries of all of them. What is one number or word counts as one. */
  readonly entries: number
  readonly damaged: readonly HeapDamage[]
  /** Structures of which only a part could be looked at. */
  readonly partly: readonly string[]
  /** Blocks that nothing names. Undefined if that cannot be told: after damage, and with `mv-rlu`. */
  readonly lost: readonly LostBlock[] | undefined
  readonly lostBytes: number
}

/**
 * Check a heap, of which `bytes` is a private copy (heap-image.ts). It may be what processes have left that were killed
 * at any instruction: what they had begun is not damage. Nothing else in it is believed:
 *
 * 1. What the heap says of itself, of its slabs and blocks, is what can be.
 * 2. Every structure that has a name is where the name leads to, and its inside fits together.
 * 3. A block in use is reached once: from one structure, from one place in it, or by what a killed member was doing.
 *
 * The first damage of a structure ends the look at it.
 */
export function checkHeap(bytes: Uint8Array, space: CheckedSpace): HeapReport {
  const heap = new CheckedHeap(bytes, space)
  const damaged: HeapDamage[] = []
  const check = <T>(of: Omit<HeapDamage, 'reason'>, run: () => T): T | undefined => {
    try {
      return run()
    } catch (error) {
      if (!(error instanceof Damage)) throw error
      damaged.push({ ...of, reason: error.message })
      return undefined
    }
  }
  check({ kind: 'memory' }, () => checkHeader(heap))
  check({ kind: 'memory' }, () => checkSlabs(heap))
  const unfinished = new Unfinished(heap)
  const names: CheckedName[] = []
  for (let at = 0; at < STRUCTURES_MAX; at += 1) {
    const named = check({ kind: 'directory' }, () => checkName(heap, at))
    if (named !== undefined) names.push(named)
  }
  let entries = 0
  for (const named of names)
    entries += check({ structure: named.name, kind: named.kind }, () => checkStructure(named, unfinished)) ?? 0
  check({ kind: 'mv-rlu' }, () => checkCommits(heap))
  const partly = names.filter(({ kind }) => kind === 'mv-rlu').map(({ name }) => name)
  const mayTell = damaged.length === 0 && heap.sight.word(HeaderOffset.CommitHead) === 0
  const lost = mayTell ? lostBlocks(heap, unfinished) : undefined
  const lostBytes = (lost ?? []).reduce((sum, { reference }) => sum + heap.blocks.lengthOf(reference), 0)
  return { structures: names.length, entries, damaged, partly, lost, lostBytes }
}

/** In use, and reached by nothing; or retired by a member whose entry says that it has nothing left to free. */
function lostBlocks(
  { blocks, claims, participants, sight }: CheckedHeap,
  unfinished: Unfinished,
): readonly LostBlock[] {
  const lost: LostBlock[] = []
  for (let slab = 0; slab < sight.backed; slab += 1)
    blocks.eachBlock(slab, (reference, state) => {
      const kind = kindOf(state)
      const isLive = kind === BlockKind.Live && !claims.isClaimed(reference) && !unfinished.names(reference, state)
      const isLeft = kind === BlockKind.Retired && participants[slotOf(state)]?.state === ParticipantState.Vacant
      if (isLive || isLeft) lost.push({ reference, state })
    })
  return lost
}
