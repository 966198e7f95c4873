import { BlockTable } from '../heap/block-table.ts'
import { HeaderOffset } from '../heap/layout.ts'
import { Participant } from '../heap/participant.ts'
import { LocalMemory } from '../memory/local-memory.ts'
import { ownerEpoch, ownerSlot } from '../peers.ts'
import { type BlockSight, HeapSight } from '../sight/heap-sight.ts'
import { type Claimant, Claims } from './claims.ts'

/** What is known of the space of a heap. */
export interface CheckedSpace {
  /** Of the member that joined last. */
  readonly lastEpoch: number
  /** The clock by which times are kept in the heap. */
  readonly nowMs: number
}

/** A copy of a heap that no process uses, for those who check its parts. Nothing in it may be believed. */
export class CheckedHeap {
  readonly memory: LocalMemory
  readonly sight: HeapSight
  readonly blocks: BlockTable
  readonly claims: Claims
  readonly nowMs: number
  readonly seed: number
  /** Those that ever were, by slot. */
  readonly participants: readonly Participant[]
  readonly #lastEpoch: number

  constructor(bytes: Uint8Array, { lastEpoch, nowMs }: CheckedSpace) {
    this.memory = new LocalMemory(bytes)
    this.sight = new HeapSight(bytes)
    this.blocks = new BlockTable(this.memory, this.sight.layout)
    this.claims = new Claims(this.sight)
    this.nowMs = nowMs
    this.seed = this.sight.word(HeaderOffset.Seed)
    this.participants = Array.from(
      { length: this.sight.participantsHigh },
      (_, slot) => new Participant(this.memory, slot),
    )
    this.#lastEpoch = lastEpoch
  }

  /** Whether a word is 0, or names a member that has been in the space. */
  isOwnerOrNone(word: number): boolean {
    return word === 0 || this.isOwner(word)
  }

  isOwner(word: number): boolean {
    const [slot, epoch] = [ownerSlot(word), ownerEpoch(word)]
    return slot >= 0 && slot < this.participants.length && epoch >= 1 && epoch <= this.#lastEpoch
  }
}

/** A structure, or a part of one, that is checked. */
export interface CheckedPart {
  readonly heap: CheckedHeap
  readonly claimant: Claimant
  /** Where its words are, in bytes. */
  readonly body: number
}

/** A named structure that is checked. */
export interface CheckedStructure extends CheckedPart {
  readonly block: BlockSight
  readonly parameters: readonly number[]
}
