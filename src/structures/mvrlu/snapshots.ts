import type { Heap } from '../heap/heap.ts'
import { HeaderOffset } from '../heap/layout.ts'
import { Participant } from '../heap/participant.ts'

/**
 * What a participant's word says: 0: it has no section. -1: one is beginning, whose snapshot is not known yet. Else
 * twice the snapshot modulo 2^30, plus one: the log from the oldest snapshot to the newest is in memory, which has room
 * for 2^26 blocks at most, so the difference tells them apart.
 */
const ENTERING = -1
const MODULUS = 2 ** 30

/** A section of this participant. */
export interface Snapshot {
  readonly clock: number
}

/** The snapshots of the sections that there are. */
export class Snapshots {
  readonly #heap: Heap
  /** Ours, in the order in which they began. */
  readonly #ours = new Set<Snapshot>()

  constructor(heap: Heap) {
    this.#heap = heap
  }

  /**
   * Take a snapshot; `now` gives the clock. It is announced before it is taken. So a participant that looks for the
   * lowest either waits, or has looked before: then the clock that it began with is not above ours.
   */
  begin(now: () => number): Snapshot {
    const { self } = this.#heap
    const first = this.#ours.size === 0
    if (first) self.publishSnapshot(ENTERING)
    const snapshot = { clock: now() }
    this.#ours.add(snapshot)
    if (first) self.publishSnapshot(wordOf(snapshot.clock))
    return snapshot
  }

  end(snapshot: Snapshot): void {
    this.#ours.delete(snapshot)
    const [oldest] = this.#ours
    this.#heap.self.publishSnapshot(oldest === undefined ? 0 : wordOf(oldest.clock))
  }

  /** How many sections of this participant there are. */
  get count(): number {
    return this.#ours.size
  }

  /**
   * Whatever any section wants, now or later, is not superseded at or before this clock; -1 while one is beginning.
   * `clock`: taken before. `ask`: find out who is dead.
   */
  watermark(clock: number, ask: boolean): number {
    const { memory, peers } = this.#heap
    const high = memory.load(HeaderOffset.ParticipantsHigh)
    let lowest = clock
    for (let slot = 0; slot < high; slot += 1) {
      const participant = new Participant(memory, slot)
      const word = participant.snapshot
      if (word === 0) continue
      const { epoch } = participant
      if (!(ask ? peers.isAlive(slot, epoch) : peers.isPresent(slot, epoch))) continue
      if (word === ENTERING) return -1
      lowest = Math.min(lowest, clockOf(word, clock))
    }
    return lowest
  }
}

function wordOf(clock: number): number {
  return (clock % MODULUS) * 2 + 1
}

/** The clock behind a word, near to `clock`. */
function clockOf(word: number, clock: number): number {
  const behind = ((clock % MODULUS) - (word >>> 1) + MODULUS) % MODULUS
  return behind < MODULUS / 2 ? clock - behind : clock + (MODULUS - behind)
}
