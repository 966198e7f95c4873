import type { WordMemory } from '../memory/word-memory.ts'
import { Intent } from './intent.ts'
import { PARTICIPANT_BYTES, PARTICIPANTS_OFFSET } from './layout.ts'

/** Words of an entry. The rest is the participant's intent. */
const Offset = {
  Identity: 0,
  Reservation: 4,
  Recoverer: 8,
  Intent: 64,
  WriteSet: 128,
  WriteSetState: 132,
  Snapshot: 136,
} as const

/** `Ended`: closed in order, but blocks that it retired still wait; recovered like a dead one. */
export const ParticipantState = { Vacant: 0, Active: 1, Ended: 2 } as const
const STATE_BITS = 2

/**
 * One member's entry in a heap: who it is, whether it is inside an operation and since which epoch, and what it is
 * doing.
 *
 * ```
 *              claimed by the newcomer          close()
 *   Vacant ───────────────────────────► Active ─────────► Ended
 *     ▲                                   │ killed          │
 *     └──────── recovered by any member ──┴─────────────────┘
 * ```
 *
 * An entry is used again only after what its last owner held was found and finished or undone. That is why a slot alone
 * names the owner of a block.
 */
export class Participant {
  readonly slot: number
  /** What the operation does that is under way. */
  readonly intent: Intent
  readonly #memory: WordMemory
  readonly #offset: number

  constructor(memory: WordMemory, slot: number) {
    this.#memory = memory
    this.slot = slot
    this.#offset = PARTICIPANTS_OFFSET + slot * PARTICIPANT_BYTES
    this.intent = new Intent(memory, this.#offset + Offset.Intent)
  }

  get state(): number {
    return this.identity & (2 ** STATE_BITS - 1)
  }

  get epoch(): number {
    return this.identity >>> STATE_BITS
  }

  get identity(): number {
    return this.#memory.load(this.#offset + Offset.Identity)
  }

  /** From one identity to another; false when it was not `from`. */
  become(from: number, epoch: number, state: number): boolean {
    const to = state === ParticipantState.Vacant ? 0 : (epoch << STATE_BITS) | state
    return this.#memory.compareExchange(this.#offset + Offset.Identity, from, to) === from
  }

  /** 0 when outside of every operation; else the epoch in which it entered. */
  get reservation(): number {
    return this.#memory.load(this.#offset + Offset.Reservation)
  }

  /** Where the reservation is. */
  get reservationPlace(): number {
    return this.#offset + Offset.Reservation
  }

  reserve(value: number): void {
    this.#memory.store(this.#offset + Offset.Reservation, value)
  }

  /** Where the reference of its open write set is (see ../mvrlu/layout.ts); 0: it has none. */
  get writeSetPlace(): number {
    return this.#offset + Offset.WriteSet
  }

  get writeSet(): number {
    return this.#memory.load(this.#offset + Offset.WriteSet)
  }

  /** State of the write set's block. */
  get writeSetState(): number {
    return this.#memory.peek(this.#offset + Offset.WriteSetState)
  }

  /** Before the write set's reference is there. */
  noteWriteSet(state: number): void {
    this.#memory.poke(this.#offset + Offset.WriteSetState, state)
  }

  /** Take away the write set's reference. */
  clearWriteSet(): void {
    this.#memory.store(this.#offset + Offset.WriteSet, 0)
  }

  /** Of its oldest section: see ../mvrlu/snapshots.ts. */
  get snapshot(): number {
    return this.#memory.load(this.#offset + Offset.Snapshot)
  }

  publishSnapshot(word: number): void {
    this.#memory.store(this.#offset + Offset.Snapshot, word)
  }

  /** Owner word of the member that recovers the entry; 0 if none does. */
  get recoverer(): number {
    return this.#memory.load(this.#offset + Offset.Recoverer)
  }

  /** Hand the recovery from one to another; false when it was not `from`'s. */
  passRecovery(from: number, to: number): boolean {
    return this.#memory.compareExchange(this.#offset + Offset.Recoverer, from, to) === from
  }
}
