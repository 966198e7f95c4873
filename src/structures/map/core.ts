import { HeapFullError } from '../errors.ts'
import { type Heap, offsetOf } from '../heap/heap.ts'
import { HeaderOffset } from '../heap/layout.ts'
import { Reach } from '../heap/reach.ts'
import { Key } from './key.ts'
import {
  BodyOffset,
  CHUNK_SLOTS,
  EntryOffset,
  FROZEN,
  LOG2_MAX,
  LOG2_MIN,
  MOVED,
  movedFrom,
  REFERENCE_MASK,
  slotOf,
  slotsOffset,
  TableOffset,
  tableBytes,
} from './layout.ts'
import { isDeleted, Table } from './table.ts'

/** Chunks that a writer moves with each operation while a table is being moved. */
const CHUNKS_AT_A_TIME = 2
const GROWTH_PAUSE = 256

/**
 * The hash table of a map, without values: finding, linking, growing. Lock-free: a process that is stopped or killed at
 * any point delays no one.
 *
 * A table that fills up gets a successor, and every writer moves some of it:
 * 1. A slot is *frozen* first. Then its entry is put into the successor unless its key is there already. Then the slot
 *    says *moved*.
 * 2. For a key in a frozen slot the successor decides. As long as the successor has nothing for the key, the slot does.
 *    So readers never wait.
 * 3. An entry may be moved by several members at once, or late, without harm. A key that was deleted since is in the
 *    successor as a deleted one.
 * 4. A member that replaces a key in the successor first makes sure that no earlier slot names the key's entry any
 *    more. Its memory may soon have another use.
 * 5. A key may be one that was moved if five bits of its hash match. Then the successor decides. A member that wants to
 *    put it there freezes the empty slot in which others might put it here.
 * 6. When all chunks are moved the successor takes the place. Only then may it have a successor of its own.
 *
 * Freezing and helping are as in Cliff Click's non-blocking hash table; the words and the probing are our own.
 */
export class MapCore {
  readonly heap: Heap
  readonly body: number
  /** The key of the operation under way. */
  readonly key: Key
  readonly #moving: Key
  readonly #table: Table
  readonly #target: Table
  readonly #reading: Table
  /** Operations until growth is tried again, after there was no memory for it. */
  #refusals: number = 0

  constructor(heap: Heap, body: number) {
    this.heap = heap
    this.body = body
    this.key = new Key(heap.seed)
    this.#moving = new Key(heap.seed)
    this.#table = new Table(heap.memory)
    this.#target = new Table(heap.memory)
    this.#reading = new Table(heap.memory)
  }

  get root(): number {
    return this.heap.memory.load(this.body + BodyOffset.Table)
  }

  /** The entry of `key`, a deleted one included; 0 when there is none. Inside an epoch. */
  lookUp(key: Key = this.key): number {
    const table = this.#reading
    let known = 0
    for (let reference = this.root; reference !== 0; reference = table.next) {
      if (!table.use(reference).find(key)) continue
      // What a frozen slot says holds while the next table knows nothing of the key.
      if (table.isFinal) return table.entry === 0 ? known : table.entry
      if (table.entry !== 0) known = table.entry
    }
    return known
  }

  /** How many entries there are, including expired ones that no operation has met yet. */
  count(): number {
    const { memory } = this.heap
    const high = memory.load(HeaderOffset.ParticipantsHigh)
    let count = 0
    for (let slot = 0; slot < high; slot += 1) count += memory.load(this.body + BodyOffset.Counts + slot * 4)
    return count
  }

  /**
   * Make room for one more, and move a part of a table that is being moved. Outside of every operation. @throws
   * HeapFullError
   */
  prepare(): void {
    const { memory } = this.heap
    const place = this.body + BodyOffset.Table
    if (memory.peek(place) === 0) this.#begin()
    // Plain looks: a call that then moves or grows looks again.
    const table = this.#table.use(memory.peek(place))
    if (memory.peek(table.offset + TableOffset.Next) !== 0) this.#help(CHUNKS_AT_A_TIME)
    else if (this.#isFull(table, 5) && --this.#refusals < 0) this.#grow(table)
  }

  /**
   * Put `entry` in place of the key's present entry, if `condition` holds for that (0: nothing, or a deleted one). The
   * intent, which has begun, names `entry`. False if it does not: the caller keeps the entry. Ends the intent only if
   * it returns true.
   */
  link(entry: number, condition: (there: number) => boolean): boolean {
    const { heap } = this
    heap.epochs.enter()
    try {
      for (;;) {
        const table = this.#findForWriting()
        const there = table.entry !== 0 && !isDeleted(heap, table.entry) ? table.entry : 0
        if (!condition(there)) return false
        if (this.#swap(table, entry, there)) return true
      }
    } finally {
      heap.epochs.exit()
    }
  }

  /** The one access that takes effect. */
  #swap(table: Table, entry: number, there: number): boolean {
    const { memory, intent, epochs, blocks, peers } = this.heap
    const old = table.entry
    const oldState = old === 0 ? 0 : blocks.peekState(old)
    const countAt = this.body + BodyOffset.Counts + peers.slot * 4
    // No other member writes it.
    const before = memory.peek(countAt)
    const change = (isDeleted(this.heap, entry) ? 0 : 1) - (there === 0 ? 0 : 1)
    if (old !== 0) noteLinked(this.heap, old)
    intent.arm(old, oldState, countAt, before, change)
    if (memory.compareExchange(table.slot, table.word, slotOf(entry, this.key.hash)) !== table.word) {
      intent.disarm()
      return false
    }
    if (change !== 0) memory.store(countAt, before + change)
    if (old !== 0) epochs.retire(old, oldState)
    else memory.fetchAdd(table.offset + TableOffset.Used, 1)
    intent.end()
    return true
  }

  /** The slot of the key in the first table where it is not frozen. What was frozen on the way is moved first. */
  #findForWriting(): Table {
    const table = this.#table.use(this.root)
    for (;;) {
      const found = table.find(this.key)
      if (found && table.isFinal) return table
      // It may have been moved from here: then it must not be put here any more, and not into the empty slot either.
      if (found && !table.frozen) {
        table.freezeFound()
        continue
      }
      const { next, slot, word } = table
      if (next === 0) throw new Error('a table is full that has no successor')
      if (found && table.entry !== 0) {
        this.#move(table.entry, next)
        table.leaveMoved(slot, word)
      }
      table.use(next)
    }
  }

  /** The map's first table. */
  #begin(): void {
    this.#linkTable(this.body + BodyOffset.Table, LOG2_MIN)
  }

  /** Share of the slots, in eighths, that were ever used. */
  #isFull(table: Table, eighths: number): boolean {
    return this.heap.memory.peek(table.offset + TableOffset.Used) * 8 > (1 << table.log2) * eighths
  }

  /**
   * A successor with room for what is there, at least four slots an entry: larger, or of the same size where most are
   * deleted ones.
   */
  #grow(table: Table): void {
    const wanted = Math.ceil(Math.log2(Math.max(1, this.count() * 3)))
    const log2 = Math.min(LOG2_MAX, Math.max(LOG2_MIN, table.log2 - 1, wanted))
    try {
      this.#linkTable(table.offset + TableOffset.Next, log2, table.reference)
    } catch (error) {
      if (!(error instanceof HeapFullError) || this.#isFull(this.#table.use(this.root), 7)) throw error
      this.#refusals = GROWTH_PAUSE
      return
    }
    this.#help(CHUNKS_AT_A_TIME)
  }

  /**
   * Put an empty table into `place`, if that is empty. `holder`: the table in which the place is; where that is the
   * root no more, nothing is done.
   */
  #linkTable(place: number, log2: number, holder: number = 0): void {
    const { memory, intent, epochs } = this.heap
    intent.begin(place, Reach.Cell)
    const { reference } = this.heap.allocate(tableBytes(log2), true)
    const at = offsetOf(reference)
    for (let word = 0; word < tableBytes(log2); word += 4) memory.poke(at + word, 0)
    memory.poke(at + TableOffset.Log2, log2)
    epochs.enter()
    try {
      const still = holder === 0 || this.root === holder
      if (still) intent.arm(0, 0, 0, 0, 0)
      if (still && memory.compareExchange(place, 0, reference) === 0) {
        intent.end()
        return
      }
    } finally {
      epochs.exit()
    }
    intent.disarm()
    this.heap.release(reference)
    intent.end()
  }

  /** Move some chunks of the table that is being moved; put its successor in its place when all are. */
  #help(chunks: number): void {
    this.heap.epochs.enter()
    try {
      const from = this.#table.use(this.root)
      const to = from.next
      if (to === 0) return
      const count = (1 << from.log2) / CHUNK_SLOTS
      for (let done = 0; done < chunks; done += 1) {
        const chunk = this.#nextChunk(from, count)
        if (chunk < 0) {
          this.#promote(from, to)
          return
        }
        this.#moveChunk(from, to, chunk)
      }
      // Soon full: it needs a successor, so this move has to end first.
      if (this.#isFull(this.#target.use(to), 6)) this.#helpAll(from, to, count)
    } finally {
      this.heap.epochs.exit()
    }
  }

  #helpAll(from: Table, to: number, count: number): void {
    for (let chunk = 0; chunk < count; chunk += 1)
      if (this.#isMoved(from, chunk) === 0) this.#moveChunk(from, to, chunk)
    this.#promote(from, to)
  }

  /** A chunk that has not been begun, else one that is not finished; -1 if all are. */
  #nextChunk(from: Table, count: number): number {
    const { memory } = this.heap
    if (memory.load(from.offset + TableOffset.Cursor) < count) {
      const chunk = memory.fetchAdd(from.offset + TableOffset.Cursor, 1)
      if (chunk < count) return chunk
    }
    for (let chunk = 0; chunk < count; chunk += 1) if (this.#isMoved(from, chunk) === 0) return chunk
    return -1
  }

  #isMoved(from: Table, chunk: number): number {
    return this.heap.memory.load(from.offset + TableOffset.Chunks + chunk * 4)
  }

  #moveChunk(from: Table, to: number, chunk: number): void {
    const { memory } = this.heap
    for (let index = chunk * CHUNK_SLOTS; index < (chunk + 1) * CHUNK_SLOTS; index += 1) {
      const slot = from.slots + index * 4
      for (let done = false; !done; ) done = this.#moveSlot(from, to, slot, memory.load(slot))
    }
    memory.store(from.offset + TableOffset.Chunks + chunk * 4, 1)
  }

  /** False when it was not `word` any more. */
  #moveSlot(from: Table, to: number, slot: number, word: number): boolean {
    const entry = word & REFERENCE_MASK
    if (entry === MOVED) return true
    if ((word & FROZEN) === 0) {
      if (entry !== 0 && isDeleted(this.heap, entry)) return this.#dropDeleted(slot, word, entry)
      if (this.heap.memory.compareExchange(slot, word, word | FROZEN) !== word) return false
    }
    if (entry === 0) return true
    this.#move(entry, to)
    from.leaveMoved(slot, word | FROZEN)
    return true
  }

  /**
   * Deleted entries end here. The key cannot be put into the next table before, so no other member takes this one out.
   */
  #dropDeleted(slot: number, word: number, entry: number): boolean {
    const { memory, intent, epochs, blocks } = this.heap
    const state = blocks.state(entry)
    noteLinked(this.heap, entry)
    intent.begin(slot, Reach.Slot)
    intent.arm(entry, state, 0, 0, 0)
    const dropped = memory.compareExchange(slot, word, movedFrom(word)) === word
    if (dropped) epochs.retire(entry, state)
    intent.end()
    return dropped
  }

  /**
   * Put an entry of a frozen slot into the next table, unless its key is there, or was and has gone on: then others
   * have moved it long ago.
   */
  #move(entry: number, to: number): void {
    const { memory } = this.heap
    this.#moving.load(memory, offsetOf(entry))
    const target = this.#target.use(to)
    while (target.find(this.#moving) && target.entry === 0 && target.isFinal) {
      const word = slotOf(entry, this.#moving.hash)
      if (memory.compareExchange(target.slot, 0, word) !== 0) continue
      memory.fetchAdd(target.offset + TableOffset.Used, 1)
      return
    }
  }

  #promote(from: Table, to: number): void {
    const { memory, intent, epochs, blocks } = this.heap
    const old = from.reference
    const oldState = blocks.state(old)
    noteLinked(this.heap, to)
    intent.begin(this.body + BodyOffset.Table, Reach.Cell)
    intent.arm(old, oldState, 0, 0, 0)
    if (memory.compareExchange(this.body + BodyOffset.Table, old, to) === old) epochs.retire(old, oldState)
    intent.end()
  }

  /**
   * Call `visit` with each entry whose hash lies in a part of the hash space, with some of them twice. Returns where
   * the next part begins; 2^32 at the end.
   */
  visit(from: number, visit: (entry: number) => void): number {
    const { memory } = this.heap
    let end = 2 ** 32
    this.heap.epochs.enter()
    try {
      const first = this.root
      if (first === 0) return end
      const width = 2 ** (32 - this.#reading.use(first).log2)
      end = Math.min(end, (Math.floor(from / width) + CHUNK_SLOTS) * width)
      // While a table is moved, keys may be in the next one only.
      for (let table = first; table !== 0; table = memory.load(offsetOf(table) + TableOffset.Next))
        this.#visitTable(table, from, end, visit)
      return end
    } finally {
      this.heap.epochs.exit()
    }
  }

  #visitTable(reference: number, from: number, end: number, visit: (entry: number) => void): void {
    const { memory } = this.heap
    const log2 = memory.peek(offsetOf(reference) + TableOffset.Log2)
    const slots = offsetOf(reference) + slotsOffset(log2)
    const width = 2 ** (32 - log2)
    const first = Math.floor(from / width)
    const count = Math.ceil(end / width) - first
    for (let looked = 0; looked < 1 << log2; looked += 1) {
      const entry = memory.load(slots + ((first + looked) & ((1 << log2) - 1)) * 4) & REFERENCE_MASK
      if (entry === 0) {
        if (looked >= count) return
        continue
      }
      if (entry === MOVED) continue
      const hash = memory.peek(offsetOf(entry) + EntryOffset.Hash) >>> 0
      if (hash >= from && hash < end) visit(this.#current(entry))
    }
  }

  /** What is there now for the key of an entry that was met in a slot. */
  #current(entry: number): number {
    this.#moving.load(this.heap.memory, offsetOf(entry))
    return this.lookUp(this.#moving) || entry
  }
}

/** Before an entry is unlinked: should who linked it have been killed at once, its intent is settled by this. */
function noteLinked({ memory }: Heap, reference: number): void {
  if (memory.peek(offsetOf(reference)) === 0) memory.poke(offsetOf(reference), 1)
}

/** For recovery: whether an entry is what its map says of its key. */
export function isInMap(heap: Heap, body: number, reference: number): boolean {
  const core = new MapCore(heap, body)
  core.key.load(heap.memory, offsetOf(reference))
  return core.lookUp() === reference
}
