import type { Heap } from '../heap/heap.ts'
import { ID_LIST_BYTES, IdList } from './id-list.ts'

const SLOTS = 64
const LEVELS = 6

/** Slots of all levels. */
export const WHEEL_SLOTS: number = SLOTS * LEVELS

/** Milliseconds that a slot of each level covers: 1 ms, 64 ms, 4 s, 4 min, 5 h, 12 days. */
const WIDTHS = Array.from({ length: LEVELS }, (_, level) => SLOTS ** level)

/**
 * Ids that are due later: a hierarchical timing wheel in shared memory. Each process that looks at it turns it. Source:
 * Varghese and Lauck, "Hashed and hierarchical timing wheels" (SOSP 1987), scheme 7.
 *
 * Two words say how far it has been turned, in ticks of a millisecond. A turn raises `begun`, deals with the slots that
 * became due, then raises `finished`.
 *
 * 1. If a process stops or dies within a turn, `finished` stays behind, and the next turn deals with those slots again.
 * 2. A turn reads a slot after it has raised `begun`. An insertion reads `begun` after it has put its entry there. So
 *    one of them sees the other: if `begun` has passed the slot, the insertion puts its entry further down once more.
 * 3. An entry that is dealt with twice does no harm: see {@link IdList}.
 */
export class TimerWheel {
  readonly #heap: Heap
  readonly #begun: number
  readonly #finished: number
  readonly #offset: number
  /** Made when they are first looked at. */
  readonly #slots: IdList[] = []

  constructor(heap: Heap, slots: number, begun: number, finished: number) {
    this.#heap = heap
    this.#begun = begun
    this.#finished = finished
    this.#offset = slots
  }

  /** False if `dueMs` is over already: nothing was inserted. @throws HeapFullError */
  insert(id: string, dueMs: number): boolean {
    const due = Math.ceil(dueMs)
    for (;;) {
      const begun = this.#ticks(this.#begun)
      if (due <= begun) return false
      const { level, tick } = placeOf(due, begun)
      this.#slot(level, tick).push(id)
      if (tick > Math.floor(this.#ticks(this.#begun) / WIDTHS[level]!)) return true
    }
  }

  /** Call `fire` with each id whose slot became due; it inserts what is due later again. @throws HeapFullError */
  turn(nowMs: number, fire: (id: string) => void): void {
    const now = Math.floor(nowMs)
    const finished = this.#ticks(this.#finished)
    if (now <= finished) return
    this.#raise(this.#begun, now)
    for (let level = LEVELS - 1; level >= 0; level -= 1) {
      const to = Math.floor(now / WIDTHS[level]!)
      const from = Math.max(Math.floor(finished / WIDTHS[level]!), to - SLOTS)
      for (let tick = from + 1; tick <= to; tick += 1) this.#empty(this.#slot(level, tick), fire)
    }
    this.#raise(this.#finished, now)
  }

  /** Milliseconds until a slot becomes due, at most `withinMs`. */
  nextMs(nowMs: number, withinMs: number): number {
    const now = Math.floor(nowMs)
    for (let ahead = 1; ahead < withinMs; ahead += 1) if (this.#isDue(now + ahead)) return ahead - (nowMs - now)
    return withinMs
  }

  #isDue(tick: number): boolean {
    for (const [level, width] of WIDTHS.entries()) {
      if (tick % width !== 0) return false
      if (!this.#slot(level, tick / width).isEmpty) return true
    }
    return false
  }

  #slot(level: number, tick: number): IdList {
    const at = level * SLOTS + (tick % SLOTS)
    this.#slots[at] ??= new IdList(this.#heap, this.#offset + at * ID_LIST_BYTES)
    return this.#slots[at]
  }

  /** What comes meanwhile is for a later turn. */
  #empty(slot: IdList, fire: (id: string) => void): void {
    const last = slot.lastNumber()
    if (last === undefined) return
    for (let entry = slot.first(); entry !== undefined && ((entry.number - last) | 0) <= 0; entry = slot.first()) {
      fire(entry.id)
      slot.drop(entry)
    }
  }

  #ticks(word: number): number {
    return Number(this.#heap.memory.load64(word))
  }

  #raise(word: number, ticks: number): void {
    const { memory } = this.#heap
    const wanted = BigInt(ticks)
    for (let seen = memory.load64(word); seen < wanted; ) {
      const there = memory.compareExchange64(word, seen, wanted)
      if (there === seen) return
      seen = there
    }
  }
}

/** The tick at which a slot is dealt with next, once the wheel was turned up to `finished`. */
export function firesAt(slot: number, finished: number): number {
  const width = WIDTHS[Math.floor(slot / SLOTS)]!
  const done = Math.floor(finished / width)
  return (done + 1 + ((((slot - done - 1) % SLOTS) + SLOTS) % SLOTS)) * width
}

/** The lowest level with a slot of its own for that tick; what is too far away goes to the last slot there is. */
function placeOf(due: number, begun: number): { readonly level: number; readonly tick: number } {
  for (let level = 0; level < LEVELS; level += 1) {
    const tick = Math.floor(due / WIDTHS[level]!)
    if (tick - Math.floor(begun / WIDTHS[level]!) < SLOTS) return { level, tick }
  }
  return { level: LEVELS - 1, tick: Math.floor(begun / WIDTHS[LEVELS - 1]!) + SLOTS - 1 }
}
