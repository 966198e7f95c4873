import { MEMBERS_MAX, SLOT_BYTES, SLOTS_OFFSET } from './layout.ts'
import { ownNamespace, type ThreadIdentity } from './process-identity.ts'
import { forgetShown } from './watching.ts'

/** A member of a space, as others name it. A slot is reused; slot and epoch together are unique. */
export interface Member {
  /** Its place, 0 to 255. */
  readonly slot: number
  /** Its number among all members that the space has had, from 1. */
  readonly epoch: number
  readonly processId: number
  /**
   * Set if the process is in another pid namespace, as that of another container. `processId` is its number there: do
   * not send it a signal, or look it up.
   */
  readonly foreign?: true
}

/** A process, by its number in its pid namespace. */
export interface NumberedProcess {
  readonly processId: number
  /** See {@link ownNamespace}. */
  readonly namespace: number
}

/** What a slot holds. */
export interface MemberRecord extends NumberedProcess, ThreadIdentity {
  readonly slot: number
  readonly epoch: number
  /** The doorbell's write end in that process; 0 if it has a FIFO. */
  readonly doorbell: number
  /** Inode of the doorbell's pipe, to tell it from another file under the same number. */
  readonly doorbellInode: number
}

/** A member, as this process names it. */
export function memberOf({ slot, epoch, processId, namespace }: Omit<Member, 'foreign'> & NumberedProcess): Member {
  const member = { slot, epoch, processId }
  return namespace === ownNamespace() ? member : { ...member, foreign: true }
}

/** A member's process, for people. */
export function processInWords({ processId, foreign }: Pick<Member, 'processId' | 'foreign'>): string {
  return foreign === true ? `process ${processId} of another container` : `process ${processId}`
}

/**
 * ```
 * word  0   epoch * 8 + state; written last when a member joins, first when it ends
 *       1   process id
 *       2   thread id
 *       3   doorbell: descriptor of the write end
 *       4   sequence of the card (card.ts)
 *       5   pid namespace of the process
 * byte 24   start time   Float64
 *      32   inode of the doorbell's pipe  Float64
 *      64   held: 1024 bits, a bit for each thing of the arena that this member has open; only it writes (bits belong
 *           to dsm/)
 *     192   what it shows to watchers (watching.ts)
 * ```
 *
 * ```
 *             claim (lock)        admit            end
 *   Free ──────────────► Claimed ───────► Present ─────► Left or Died ──► Claimed …
 *                           └── holder of the lock killed: Aborted ─────► Claimed …
 * ```
 */
const Word = { State: 0, ProcessId: 1, ThreadId: 2, Doorbell: 3, Card: 4, Namespace: 5 } as const
const Float = { StartTime: 3, DoorbellInode: 4 } as const
const HELD_BYTES_OFFSET = 64
const HELD_WORDS = 32
/** A slot and an epoch fill one word there, which is never all ones. */
const SLOTS_OF_STRUCTURES = MEMBERS_MAX - 2
const WORDS = SLOT_BYTES / 4
const FLOATS = SLOT_BYTES / 8

/** An ended slot is free for reuse, but what it held can still be read. */
export const SlotState = { Free: 0, Claimed: 1, Present: 2, Left: 3, Died: 4, Aborted: 5 } as const
const STATE_BITS = 3
const STATE_MASK = 7

/** How a member ended. `aborted`: it joined only half, and no member was told of it. */
export type Fate = 'left' | 'died' | 'aborted'

const FATE_OF_STATE: Readonly<Record<number, Fate>> = {
  [SlotState.Left]: 'left',
  [SlotState.Died]: 'died',
  [SlotState.Aborted]: 'aborted',
}

/** A slot at a glance. */
export interface SlotGlance {
  readonly slot: number
  readonly epoch: number
  readonly state: number
  /** Undefined while its member has not ended. */
  readonly fate: Fate | undefined
}

/** What a state word means. */
export function glanceAt(slot: number, word: number): SlotGlance {
  const state = word & STATE_MASK
  return { slot, epoch: word >>> STATE_BITS, state, fate: FATE_OF_STATE[state] }
}

/** The slots of an arena. */
export class MemberTable {
  readonly #words: Int32Array
  readonly #floats: Float64Array

  constructor(control: ArrayBuffer) {
    this.#words = new Int32Array(control, SLOTS_OFFSET, MEMBERS_MAX * WORDS)
    this.#floats = new Float64Array(control, SLOTS_OFFSET, MEMBERS_MAX * FLOATS)
  }

  /** The state word of a slot, for comparing. */
  wordOf(slot: number): number {
    return Atomics.load(this.#words, slot * WORDS)
  }

  /** State and epoch of a slot, in one load. */
  glance(slot: number): SlotGlance {
    return glanceAt(slot, this.wordOf(slot))
  }

  /**
   * The slot whose member ended longest ago, so that what it held stays readable for as long as possible. The last two
   * are taken only if there is no other: structures have no place for them. Undefined if all are taken.
   */
  freeSlot(): number | undefined {
    return this.#oldestIn(0, SLOTS_OF_STRUCTURES) ?? this.#oldestIn(SLOTS_OF_STRUCTURES, MEMBERS_MAX)
  }

  #oldestIn(from: number, to: number): number | undefined {
    let best: number | undefined
    for (let slot = from; slot < to; slot += 1) {
      const { state, epoch } = this.glance(slot)
      if (state === SlotState.Present || state === SlotState.Claimed) continue
      if (best === undefined || epoch < this.glance(best).epoch) best = slot
    }
    return best
  }

  /** The highest epoch in any slot. */
  highestEpoch(): number {
    let highest = 0
    for (let slot = 0; slot < MEMBERS_MAX; slot += 1) highest = Math.max(highest, this.glance(slot).epoch)
    return highest
  }

  /** Fill a free slot. Under the lock; others see nothing of it before {@link admit}. */
  claim(record: MemberRecord): void {
    const word = record.slot * WORDS
    const float = record.slot * FLOATS
    Atomics.store(this.#words, word, (record.epoch << STATE_BITS) | SlotState.Claimed)
    this.#words[word + Word.ProcessId] = record.processId
    this.#words[word + Word.ThreadId] = record.threadId
    this.#words[word + Word.Doorbell] = record.doorbell
    this.#words[word + Word.Card] = 0
    this.#words[word + Word.Namespace] = record.namespace
    this.#floats[float + Float.StartTime] = record.startTime
    this.#floats[float + Float.DoorbellInode] = record.doorbellInode
    this.held(record.slot).fill(0)
    forgetShown(this.#words.buffer, record.slot)
  }

  /** The member becomes visible to all. */
  admit(slot: number, epoch: number): void {
    Atomics.store(this.#words, slot * WORDS, (epoch << STATE_BITS) | SlotState.Present)
  }

  /**
   * Record that the member has ended. Returns false if another process has recorded its end already: the first record
   * counts for all.
   */
  end(slot: number, epoch: number, fate: 'left' | 'died'): boolean {
    const present = (epoch << STATE_BITS) | SlotState.Present
    const ended = (epoch << STATE_BITS) | (fate === 'left' ? SlotState.Left : SlotState.Died)
    return Atomics.compareExchange(this.#words, slot * WORDS, present, ended) === present
  }

  /** Free the slots whose claim was interrupted. Under the lock. */
  undoClaims(): void {
    for (let slot = 0; slot < MEMBERS_MAX; slot += 1) {
      const { state, epoch } = this.glance(slot)
      if (state === SlotState.Claimed)
        Atomics.store(this.#words, slot * WORDS, (epoch << STATE_BITS) | SlotState.Aborted)
    }
  }

  /** All present members, by slot. */
  present(): readonly MemberRecord[] {
    const records: MemberRecord[] = []
    for (let slot = 0; slot < MEMBERS_MAX; slot += 1) {
      const record = this.read(slot)
      if (record !== undefined) records.push(record)
    }
    return records
  }

  /** True if this very member is present. */
  isPresent(slot: number, epoch: number): boolean {
    return Atomics.load(this.#words, slot * WORDS) === ((epoch << STATE_BITS) | SlotState.Present)
  }

  /**
   * The member in `slot`; undefined if the slot is empty. The state word is read twice, so a slot that changes hands in
   * the meantime is not mixed up.
   */
  read(slot: number): MemberRecord | undefined {
    const word = slot * WORDS
    const float = slot * FLOATS
    const state = Atomics.load(this.#words, word)
    if ((state & STATE_MASK) !== SlotState.Present) return undefined
    const record = {
      slot,
      epoch: state >>> STATE_BITS,
      ...this.processOf(slot),
      threadId: Atomics.load(this.#words, word + Word.ThreadId),
      doorbell: Atomics.load(this.#words, word + Word.Doorbell),
      startTime: this.#floats[float + Float.StartTime]!,
      doorbellInode: this.#floats[float + Float.DoorbellInode]!,
    }
    return Atomics.load(this.#words, word) === state ? record : undefined
  }

  /** The process of the member that has or last had `slot`. */
  processOf(slot: number): NumberedProcess {
    const word = slot * WORDS
    return {
      processId: Atomics.load(this.#words, word + Word.ProcessId),
      namespace: Atomics.load(this.#words, word + Word.Namespace),
    }
  }

  /** What the member of `slot` holds, as bits. */
  held(slot: number): Int32Array {
    return new Int32Array(this.#words.buffer, SLOTS_OFFSET + slot * SLOT_BYTES + HELD_BYTES_OFFSET, HELD_WORDS)
  }

  /** The sequence word of the card in `slot`. */
  cardSequence(slot: number): Int32Array {
    return new Int32Array(this.#words.buffer, SLOTS_OFFSET + slot * SLOT_BYTES + Word.Card * 4, 1)
  }
}
