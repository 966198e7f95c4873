import { native } from '../../native/index.ts'
import type { WordMemory } from '../memory/word-memory.ts'
import { ownerEpoch, ownerSlot, ownerWord, type Peers } from '../peers.ts'
import { HeaderOffset } from './layout.ts'

/** How long a member waits at the gate before it looks whether who closed it is there. */
const LOOK_MS = 20
const ALL = 0x7fffffff

/** How long a gate stays closed at most, whatever became of who closed it. */
export const GATE_CLOSED_MS_MAX = 5000

/**
 * Keeps new operations out of a heap for a moment, so that it can be copied. One word: 0, or who closed it.
 *
 * A member looks at it by a plain load when it begins an operation, so one that was about to begin may pass. Those
 * inside are not waited for. Therefore a closed gate only makes the heap quiet soon; whether it was is for the copier
 * to find out. For the same reason nothing depends on the gate staying closed, and everyone who waits may open it.
 */
export class Gate {
  readonly #memory: WordMemory
  readonly #peers: Peers
  readonly #own: number

  constructor(memory: WordMemory, peers: Peers) {
    this.#memory = memory
    this.#peers = peers
    this.#own = ownerWord(peers.slot, peers.epoch)
  }

  /** Wait as long as the gate is closed. Opens it if who closed it is gone, or has had its time. */
  pass(): void {
    const { Gate: place } = HeaderOffset
    const beginNs = native.monotonicNs()
    for (;;) {
      const closer = this.#memory.load(place)
      if (closer === 0) return
      this.#memory.wait(place, closer, LOOK_MS)
      if (this.#memory.load(place) !== closer) continue
      const isLate = native.monotonicNs() - beginNs > GATE_CLOSED_MS_MAX * 1e6
      if (isLate || !this.#peers.isAlive(ownerSlot(closer), ownerEpoch(closer))) this.#openFor(closer)
    }
  }

  /** Close it, after another who has closed it. */
  close(): void {
    for (;;) {
      this.pass()
      if (this.#memory.compareExchange(HeaderOffset.Gate, 0, this.#own) === 0) return
    }
  }

  /** Open it, if this member has it closed. */
  open(): void {
    this.#openFor(this.#own)
  }

  #openFor(closer: number): void {
    if (this.#memory.compareExchange(HeaderOffset.Gate, closer, 0) === closer) this.#memory.wake(HeaderOffset.Gate, ALL)
  }
}
