import type { WordMemory } from '../memory/word-memory.ts'

const Offset = {
  Phase: 0,
  Structure: 4,
  Reach: 8,
  NewReference: 12,
  NewState: 16,
  OldReference: 20,
  OldState: 24,
  CountOffset: 28,
  CountBefore: 32,
  CountChange: 36,
} as const

/**
 * `Begun`: a block may have been allocated, which no other member can see. `Armed`: from here to the end the one store
 * that takes effect may have happened.
 */
export const IntentPhase = { None: 0, Begun: 1, Armed: 2 } as const

/**
 * What a participant is in the middle of, so that another can finish or undo it.
 *
 * Every operation that changes a structure takes effect by one compare-and-swap. It puts a new block where an old one
 * (or nothing) was, or takes an old one away. Before it, the intent is written: which block is new, which is old, and
 * what the participant's own counter will be.
 *
 * After a death there is one question: did that compare-and-swap happen? The structure answers it by looking for the
 * block (`reach` says how). Then the old block is retired or stays, and the new one stays or is retired. The counter is
 * set to one of the two values. All of these may be done twice.
 *
 * No member reads it before its owner has ended, as the operating system reports. So it is written by plain stores, in
 * order. An atomic store would wait each time for everything written before to reach the cache, above all the new
 * block.
 */
export class Intent {
  readonly #memory: WordMemory
  readonly #offset: number

  constructor(memory: WordMemory, offset: number) {
    this.#memory = memory
    this.#offset = offset
  }

  get phase(): number {
    return this.#memory.load(this.#offset + Offset.Phase)
  }

  get structure(): number {
    return this.#memory.peek(this.#offset + Offset.Structure) >>> 0
  }

  /** How to look for the block: see {@link ./reach.ts}. */
  get reach(): number {
    return this.#memory.peek(this.#offset + Offset.Reach)
  }

  get newReference(): number {
    return this.#memory.peek(this.#offset + Offset.NewReference)
  }

  get newState(): number {
    return this.#memory.peek(this.#offset + Offset.NewState)
  }

  get oldReference(): number {
    return this.#memory.peek(this.#offset + Offset.OldReference)
  }

  get oldState(): number {
    return this.#memory.peek(this.#offset + Offset.OldState)
  }

  get countOffset(): number {
    return this.#memory.peek(this.#offset + Offset.CountOffset) >>> 0
  }

  /** What the counter is, by whether the operation took effect. */
  countAfter(tookEffect: boolean): number {
    const before = this.#memory.peek(this.#offset + Offset.CountBefore)
    return tookEffect ? before + this.#memory.peek(this.#offset + Offset.CountChange) : before
  }

  /** An operation on `structure` begins. */
  begin(structure: number, reach: number): void {
    const { Structure, Reach, NewReference, Phase } = Offset
    this.#memory.poke(this.#offset + Structure, structure)
    this.#memory.poke(this.#offset + Reach, reach)
    this.#memory.poke(this.#offset + NewReference, 0)
    this.#memory.poke(this.#offset + Phase, IntentPhase.Begun)
  }

  /** `reference` is about to be taken: it is the participant's once its state is `state`. */
  noteNew(reference: number, state: number): void {
    this.#memory.poke(this.#offset + Offset.NewState, state)
    this.#memory.poke(this.#offset + Offset.NewReference, reference)
  }

  /**
   * The very next call is the compare-and-swap that takes effect: `oldReference` (0: none) goes, the counter at
   * `countOffset` (0: none) changes.
   */
  arm(oldReference: number, oldState: number, countOffset: number, countBefore: number, countChange: number): void {
    const { Phase, OldReference, OldState, CountOffset, CountBefore, CountChange } = Offset
    if (this.#memory.peek(this.#offset + Phase) === IntentPhase.Armed) this.disarm()
    this.#memory.poke(this.#offset + OldReference, oldReference)
    this.#memory.poke(this.#offset + OldState, oldState)
    this.#memory.poke(this.#offset + CountOffset, countOffset)
    this.#memory.poke(this.#offset + CountBefore, countBefore)
    this.#memory.poke(this.#offset + CountChange, countChange)
    this.#memory.poke(this.#offset + Phase, IntentPhase.Armed)
  }

  /** It did not take effect, or what depends on that is settled. */
  disarm(): void {
    this.#memory.poke(this.#offset + Offset.Phase, IntentPhase.Begun)
  }

  /** Nothing is under way any more. */
  end(): void {
    this.#memory.poke(this.#offset + Offset.Phase, IntentPhase.None)
  }
}
