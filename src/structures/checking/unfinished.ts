import { IntentPhase } from '../heap/intent.ts'
import type { CheckedHeap } from './checked-heap.ts'

/**
 * What killed members were in the middle of: their next or any other member settles it (heap-recovery.ts). Until then
 * blocks that they name may be linked or not, and their counts may lack the last change.
 */
export class Unfinished {
  readonly #heap: CheckedHeap
  /** States of the blocks that are named, by reference. */
  readonly #blocks = new Map<number, Set<number>>()

  constructor(heap: CheckedHeap) {
    this.#heap = heap
    for (const participant of heap.participants) {
      if (participant.identity === 0) continue
      const { phase, newReference, newState, oldReference, oldState } = participant.intent
      if (phase !== IntentPhase.None) this.#add(newReference, newState)
      if (phase === IntentPhase.Armed) this.#add(oldReference, oldState)
      this.#add(participant.writeSet, participant.writeSetState)
    }
  }

  /** Whether a member was about to link a block, or to give it back. */
  names(reference: number, state: number): boolean {
    return this.#blocks.get(reference)?.has(state) === true
  }

  /** By how much the sum of counts from `begin` to `end` may be wrong: the least and the most. */
  countBounds(begin: number, end: number): readonly [number, number] {
    let [least, most] = [0, 0]
    for (const { identity, intent } of this.#heap.participants) {
      const { phase, countOffset } = intent
      if (identity === 0 || phase !== IntentPhase.Armed || countOffset < begin || countOffset >= end) continue
      const there = this.#heap.sight.word(countOffset)
      const changes = [intent.countAfter(false) - there, intent.countAfter(true) - there]
      least += Math.min(...changes)
      most += Math.max(...changes)
    }
    return [least, most]
  }

  #add(reference: number, state: number): void {
    const states = this.#blocks.get(reference) ?? new Set()
    this.#blocks.set(reference, states.add(state))
  }
}
