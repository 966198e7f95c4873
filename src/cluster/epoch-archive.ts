import { EPOCH_ENTRIES, EPOCH_ENTRY_BYTES, EPOCHS_OFFSET } from './layout.ts'
import type { Fate, NumberedProcess } from './member-table.ts'

const WORDS = EPOCH_ENTRY_BYTES / 4
const FATES: readonly Fate[] = ['left', 'died', 'aborted']
const FATE_BITS = 3

/** What is kept of a member whose slot another member has taken. */
export interface ArchivedMember extends NumberedProcess {
  readonly fate: Fate
  readonly slot: number
}

/**
 * How the members ended whose slot has been reused. A ring of 4096 entries by epoch, so that a process that looks
 * rarely still learns of every end. Written under the lock, by the member that takes the slot, before it takes it. The
 * word with the epoch is written last.
 */
export class EpochArchive {
  readonly #words: Int32Array

  constructor(control: ArrayBuffer) {
    this.#words = new Int32Array(control, EPOCHS_OFFSET, EPOCH_ENTRIES * WORDS)
  }

  write(epoch: number, member: ArchivedMember): void {
    const at = indexOf(epoch)
    Atomics.store(this.#words, at, 0)
    Atomics.store(this.#words, at + 1, member.slot)
    Atomics.store(this.#words, at + 2, member.processId)
    Atomics.store(this.#words, at + 3, member.namespace)
    Atomics.store(this.#words, at, (epoch << FATE_BITS) | FATES.indexOf(member.fate))
  }

  /** Undefined if it was never written, or was overwritten by a later member. */
  read(epoch: number): ArchivedMember | undefined {
    const at = indexOf(epoch)
    const word = Atomics.load(this.#words, at)
    const slot = Atomics.load(this.#words, at + 1)
    const processId = Atomics.load(this.#words, at + 2)
    const namespace = Atomics.load(this.#words, at + 3)
    const fate = FATES[word & 7]
    const whole = word >>> FATE_BITS === epoch && Atomics.load(this.#words, at) === word
    return whole && fate !== undefined ? { fate, slot, processId, namespace } : undefined
  }
}

function indexOf(epoch: number): number {
  return (epoch % EPOCH_ENTRIES) * WORDS
}
