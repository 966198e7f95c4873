import { HeapFullError } from '../errors.ts'
import type { Meter } from '../figures/meter.ts'
import { offsetOf } from '../heap/heap.ts'
import type { MapCore } from './core.ts'
import { Key, type MapKey } from './key.ts'
import { BodyOffset, EntryOffset, FROZEN, MOVED, REFERENCE_MASK } from './layout.ts'
import { isDeleted, Table } from './table.ts'

/** Entries over the bound that a write takes out: more than it adds, so that a map whose bound was lowered shrinks. */
const EVICTED_A_WRITE_MAX = 4
/** Slots that a write looks at for entries that have expired. */
const LOOKED_AT_A_TIME = 4
/** When there is no memory, a look at all slots that found nothing is not repeated sooner. */
const FULL_LOOK_PAUSE_MS = 100
/** Slots looked at, for one that is to go, before it is given up: each has had its second chance by then. */
const LOOKED_MAX = 4096

/** Removes what is there for a key, if it is what is meant. */
export type Remove = (key: MapKey, condition: (there: number) => boolean) => boolean

/**
 * Takes out of a map what has expired, and what is over its bound.
 *
 * One hand for all processes goes round the table. An entry that was read since the hand's last turn stays once more;
 * one that was not is removed. This is "second chance" (Corbató 1968), an approximation of least recently used.
 */
export class Sweeper {
  readonly #core: MapCore
  readonly #meter: Meter
  readonly #remove: Remove
  readonly #key: Key
  readonly #table: Table
  /** Of the entry that was found: tells it from a later one in the same memory. */
  #state: number = 0
  /** Whether the life of the entry that was found is over. */
  #hasExpired: boolean = false
  #nextFullLookMs = 0

  constructor(core: MapCore, meter: Meter, remove: Remove) {
    this.#core = core
    this.#meter = meter
    this.#remove = remove
    this.#key = new Key(core.heap.seed)
    this.#table = new Table(core.heap.memory)
  }

  /** After an entry was written: look for expired ones, and keep to the bound. */
  afterWrite(maxEntries: number): void {
    const { memory } = this.#core.heap
    try {
      if (memory.peek(this.#core.body + BodyOffset.Expires) !== 0) this.#look(LOOKED_AT_A_TIME, false)
      const over = maxEntries === 0 ? 0 : this.#core.count() - maxEntries
      if (over > 0) this.evict(Math.min(over, EVICTED_A_WRITE_MAX))
    } catch (error) {
      // The write was done; the next one tries again.
      if (!(error instanceof HeapFullError)) throw error
    }
  }

  /** There is no memory: take out all that has expired. False if that was nothing. */
  expire(): boolean {
    const { memory } = this.#core.heap
    const now = this.#core.heap.nowMs()
    if (memory.peek(this.#core.body + BodyOffset.Expires) === 0 || now < this.#nextFullLookMs) return false
    const { root } = this.#core
    if (root !== 0 && this.#look(1 << this.#table.use(root).log2, false)) return true
    this.#nextFullLookMs = now + FULL_LOOK_PAUSE_MS
    return false
  }

  /** Take out `count` entries that were not read recently. */
  evict(count: number): void {
    for (let gone = 0; gone < count; gone += 1) if (!this.#look(LOOKED_MAX, true)) return
  }

  /** Look at this many slots. True if an entry was taken out; with `any`, it stops there. */
  #look(slots: number, any: boolean): boolean {
    let gone = false
    for (let looked = 0; looked < slots && !(any && gone); looked += 1) {
      const entry = this.#candidate(any)
      if (entry === 0) continue
      const state = this.#state
      const isSame = (there: number) => there === entry && this.#core.heap.blocks.state(there) === state
      if (!this.#remove(this.#key.value(), isSame)) continue
      gone = true
      if (this.#hasExpired) this.#meter.expired(1)
      else this.#meter.evicted(1)
    }
    return gone
  }

  /**
   * The entry under the hand if it has expired, or (`any`) was not read since the last turn; its key is in `#key` then.
   * Else 0.
   */
  #candidate(any: boolean): number {
    const { heap, body } = this.#core
    const { memory, epochs } = heap
    epochs.enter()
    try {
      const found = this.#entryAt(memory.fetchAdd(body + BodyOffset.Hand, 1))
      if (found === 0) return 0
      this.#key.load(memory, offsetOf(found))
      const entry = this.#core.lookUp(this.#key)
      if (entry === 0 || isDeleted(heap, entry)) return 0
      this.#state = heap.blocks.state(entry)
      this.#hasExpired = this.#isExpired(entry)
      return this.#hasExpired || (any && this.#wasUnread(entry)) ? entry : 0
    } finally {
      epochs.exit()
    }
  }

  /** What is in a slot of the first table, or, where that slot is done with, of the next one; 0: nothing. */
  #entryAt(index: number): number {
    const { memory } = this.#core.heap
    const table = this.#table
    for (let reference = this.#core.root; reference !== 0; reference = table.next) {
      const { log2, slots } = table.use(reference)
      const word = memory.load(slots + (index & ((1 << log2) - 1)) * 4)
      const found = word & REFERENCE_MASK
      if (found > MOVED || (word & FROZEN) === 0) return found
    }
    return 0
  }

  #isExpired(entry: number): boolean {
    const end = this.#core.heap.memory.peekFloat(offsetOf(entry) + EntryOffset.EndOfLife)
    return end !== 0 && end <= this.#core.heap.nowMs()
  }

  #wasUnread(entry: number): boolean {
    const { memory } = this.#core.heap
    const at = offsetOf(entry) + EntryOffset.Touched
    if (memory.peek(at) === 0) return true
    memory.poke(at, 0)
    return false
  }
}
