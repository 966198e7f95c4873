import type { WordMemory } from '../memory/word-memory.ts'
import { ownerEpoch, ownerSlot, ownerWord, type Peers } from '../peers.ts'
import type { Allocator } from './allocator.ts'
import { BlockKind, blockState, generationOf, kindOf, slotOf } from './block-state.ts'
import type { BlockTable } from './block-table.ts'
import type { Epochs } from './epochs.ts'
import { type Intent, IntentPhase } from './intent.ts'
import { GRANULE_BYTES, HeaderOffset } from './layout.ts'
import { Participant, ParticipantState } from './participant.ts'
import type { ReachTest } from './reach.ts'

/** Settles what a structure of its own has in the entry of one who has ended. May be called twice. */
export type Settler = (participant: Participant) => void

/**
 * Finishes or undoes what members were doing when they ended. A member that meets one does it: when it joins, hears of
 * a death, or is short of memory.
 *
 * One recoverer works at a time, by compare-and-swap of a word in the dead member's entry. Every step may be done
 * twice, so if the recoverer dies the next one starts again.
 * 1. Slabs that the member was making ready or giving back.
 * 2. Its intents: did the one compare-and-swap happen?
 * 3. What structures have of their own in its entry.
 * 4. Blocks that it had retired: they wait with us. Then the entry is free.
 */
export class HeapRecovery {
  readonly #memory: WordMemory
  readonly #blocks: BlockTable
  readonly #allocator: Allocator
  readonly #epochs: Epochs
  readonly #peers: Peers
  readonly #reach: ReadonlyMap<number, ReachTest>
  readonly #settlers: readonly Settler[]

  constructor(
    memory: WordMemory,
    blocks: BlockTable,
    allocator: Allocator,
    epochs: Epochs,
    peers: Peers,
    reach: ReadonlyMap<number, ReachTest>,
    settlers: readonly Settler[],
  ) {
    this.#memory = memory
    this.#blocks = blocks
    this.#allocator = allocator
    this.#epochs = epochs
    this.#peers = peers
    this.#reach = reach
    this.#settlers = settlers
  }

  /** Recover all who are gone; `ask`: ask the operating system, too. */
  recoverAll(ask: boolean): void {
    const high = this.#memory.load(HeaderOffset.ParticipantsHigh)
    for (let slot = 0; slot < high; slot += 1) if (slot !== this.#peers.slot) this.recoverIfGone(slot, ask)
  }

  recoverIfGone(slot: number, ask: boolean): void {
    const participant = new Participant(this.#memory, slot)
    const { identity } = participant
    if (identity === 0 || this.#isThere(participant, ask)) return
    this.recover(participant, identity)
  }

  /** True when the entry is vacant now. */
  recover(participant: Participant, identity: number): boolean {
    const self = ownerWord(this.#peers.slot, this.#peers.epoch)
    const other = participant.recoverer
    if (other !== 0 && other !== self && this.#peers.isAlive(ownerSlot(other), ownerEpoch(other))) return false
    if (!participant.passRecovery(other, self)) return false
    if (participant.identity === identity) this.#clear(participant)
    const vacant = participant.become(identity, 0, ParticipantState.Vacant)
    participant.passRecovery(self, 0)
    return vacant
  }

  #isThere(participant: Participant, ask: boolean): boolean {
    if (participant.state === ParticipantState.Ended) return false
    const { slot, epoch } = participant
    return ask ? this.#peers.isAlive(slot, epoch) : this.#peers.isPresent(slot, epoch)
  }

  #clear(participant: Participant): void {
    participant.reserve(0)
    this.#allocator.recoverSlabs(participant.slot)
    this.#settle(participant.intent)
    for (const settle of this.#settlers) settle(participant)
    this.#adoptRetired(participant.slot)
  }

  #settle(intent: Intent): void {
    const { phase } = intent
    if (phase === IntentPhase.None) return
    this.#epochs.enter()
    try {
      if (phase === IntentPhase.Armed) this.#settleArmed(intent)
      const { newReference, newState } = intent
      if (newReference !== 0 && intent.phase === IntentPhase.Begun) this.#epochs.retire(newReference, newState)
      intent.end()
    } finally {
      this.#epochs.exit()
    }
  }

  /** Leaves the intent with its phase Begun where the new block is to be given back, and None where it is linked. */
  #settleArmed(intent: Intent): void {
    const { newReference, oldReference, oldState, countOffset } = intent
    const tookEffect = newReference === 0 ? !this.#isReachable(intent, oldReference) : this.#wasLinked(intent)
    if (countOffset !== 0) this.#memory.store(countOffset, intent.countAfter(tookEffect))
    if (tookEffect && oldReference !== 0) this.#epochs.retire(oldReference, oldState)
    if (tookEffect) intent.end()
    else intent.disarm()
  }

  /**
   * Only the dead member could link its block; others may have unlinked it since. To unlink a block a member first
   * notes in it that it was linked. So looking for it first, and then at the note, cannot miss both.
   */
  #wasLinked(intent: Intent): boolean {
    const { newReference, newState } = intent
    if (this.#blocks.state(newReference) !== newState) return true
    if (this.#isReachable(intent, newReference)) return true
    const noted = this.#memory.load(newReference * GRANULE_BYTES) !== 0
    return noted || this.#blocks.state(newReference) !== newState
  }

  #isReachable(intent: Intent, reference: number): boolean {
    const test = this.#reach.get(intent.reach)
    if (test === undefined) throw new Error(`an intent of kind ${intent.reach} belongs to no known structure`)
    return test(intent.structure, reference)
  }

  #adoptRetired(dead: number): void {
    const { backed } = this.#blocks
    for (let slab = 0; slab < backed; slab += 1) {
      this.#blocks.eachBlock(slab, (reference, state) => {
        if (kindOf(state) !== BlockKind.Retired || slotOf(state) !== dead) return
        const ours = blockState(BlockKind.Retired, this.#peers.slot, generationOf(state))
        if (this.#blocks.change(reference, state, ours)) this.#epochs.adopt(reference)
      })
    }
  }
}
