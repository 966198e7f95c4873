import { notAnObject } from '../../mvrlu/object-id.ts'
import type { HomeHeap } from '../heap/home-heap.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { takeTables } from '../heap/tables.ts'
import { CompareExchangeCommand, ReadCommand } from '../memory/command.ts'
import { CHUNK_BYTES } from '../memory/layout.ts'
import {
  BodyOffset,
  namesVersion,
  OBJECTS_END,
  ROOT_SLOT,
  SLOT_BYTES,
  SLOTS_PER_TABLE,
  SlotOffset,
  slotOf,
  TABLES_MAX,
} from './layout.ts'

/** A slot as it was read. */
export interface Slot {
  readonly slot: number
  readonly place: number
  readonly lock: bigint
  readonly head: bigint
}

/** The slots of some objects: tables of 64 KiB, of which there are more as they are needed, and never fewer. */
export class ObjectSlots {
  readonly #heap: HomeHeap
  readonly #memory: HomeMemory
  readonly #body: number
  /** Places of the tables, as far as they are known here. */
  #tables: readonly number[]
  /** Slots that were empty when they were seen, the next one last. */
  #empty: number[] = []
  /** The table that is looked through next. */
  #next = 0

  /** `tables`: as {@link tablesIn} gives them. */
  constructor(heap: HomeHeap, memory: HomeMemory, body: number, tables: readonly number[]) {
    this.#heap = heap
    this.#memory = memory
    this.#body = body
    this.#tables = tables
  }

  /**
   * Where the slot of an object is. A round trip for the first one of a table that was made since. @throws
   * ArgumentError for what is no object of these.
   */
  async placeOf(object: number): Promise<number> {
    if (!Number.isSafeInteger(object) || object < 1 || object >= OBJECTS_END) throw notAnObject(object)
    const slot = slotOf(object)
    const table = Math.floor(slot / SLOTS_PER_TABLE)
    if (slot < ROOT_SLOT) throw notAnObject(object)
    if (table >= this.#tables.length) await this.#readTables()
    const place = this.#place(slot)
    if (place === undefined) throw notAnObject(object)
    return place
  }

  /**
   * A slot that was empty a moment ago, for this rank to lock. Undefined where all are full, and there can be no more.
   * @throws HeapFullError where there is no memory for more.
   */
  async takeEmpty(): Promise<{ readonly slot: number; readonly place: number } | undefined> {
    for (;;) {
      const slot = this.#empty.pop()
      if (slot !== undefined) return { slot, place: this.#place(slot)! }
      if (!(await this.#findEmpty()) && !(await this.#grow())) return undefined
    }
  }

  /**
   * All that are locked, or have something to be cut off, as they were when their table was read. A round trip for each
   * of these.
   */
  async dirty(): Promise<readonly Slot[]> {
    await this.#readTables()
    const found: Slot[] = []
    for (let table = 0; table < this.#tables.length; table += 1)
      for (const slot of await this.#read(table)) if (slot.lock !== 0n) found.push(slot)
    return found
  }

  /** The same slots as they are now. */
  async again(slots: readonly Slot[]): Promise<readonly Slot[]> {
    const reads = slots.map(({ place }) => new ReadCommand(place, SLOT_BYTES))
    if (reads.length > 0) await this.#memory.runAll(reads)
    return slots.map(({ slot, place }, at) => {
      const read = reads[at]!
      return { slot, place, lock: read.word(SlotOffset.Lock), head: read.word(SlotOffset.Head) }
    })
  }

  /** Look through the tables, from where it was looked last on, until there are some. */
  async #findEmpty(): Promise<boolean> {
    for (let looked = 0; looked < this.#tables.length; looked += 1) {
      const table = this.#next % this.#tables.length
      const empty: number[] = []
      for (const slot of await this.#read(table)) if (isEmpty(slot)) empty.push(slot.slot)
      if (empty.length > 0) {
        this.#empty = this.#rotated(empty)
        return true
      }
      this.#next = table + 1
    }
    return false
  }

  /** Ranks begin at different places, so that they do not all want the same. */
  #rotated(slots: readonly number[]): number[] {
    const { rank, ranks } = this.#memory.group
    const from = Math.floor((slots.length * rank) / ranks)
    return [...slots.slice(from), ...slots.slice(0, from)].reverse()
  }

  /** One table more; false where there are as many as can be. @throws HeapFullError */
  async #grow(): Promise<boolean> {
    const known = this.#tables.length
    await this.#readTables()
    if (this.#tables.length > known) return true
    if (known === TABLES_MAX) return false
    const { places, undo } = await takeTables(this.#heap, 1)
    const place = BigInt(places[0]!)
    const before = await this.#memory.compareExchange64(this.#body + BodyOffset.Tables + known * 8, 0n, place)
    if (before !== 0n) await undo()
    await this.#readTables()
    this.#next = known
    return true
  }

  async #readTables(): Promise<void> {
    const read = await this.#memory.read(this.#body + BodyOffset.Tables, TABLES_MAX * 8)
    this.#tables = tablesIn(read.bytes)
  }

  /** Undefined where its table is not known here. */
  #place(slot: number): number | undefined {
    const table = this.#tables[Math.floor(slot / SLOTS_PER_TABLE)]
    return table === undefined ? undefined : table + (slot % SLOTS_PER_TABLE) * SLOT_BYTES
  }

  async #read(table: number): Promise<Generator<Slot>> {
    const { bytes } = await this.#memory.read(this.#tables[table]!, CHUNK_BYTES)
    return slotsIn(bytes, this.#tables[table]!, table * SLOTS_PER_TABLE)
  }
}

/** Of an object to be, which the root is not. */
function isEmpty({ slot, lock, head }: Slot): boolean {
  return slot !== ROOT_SLOT && lock === 0n && !namesVersion(head)
}

/** Places of the tables, of the bytes of a body from the first of them on. */
export function tablesIn(bytes: Uint8Array): readonly number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const places = Array.from({ length: TABLES_MAX }, (_, at) => Number(view.getBigUint64(at * 8, true)))
  const none = places.indexOf(0)
  return none < 0 ? places : places.slice(0, none)
}

/** The slots of a table that was read whole, `first` being the first of them. */
function* slotsIn(bytes: Uint8Array, table: number, first: number): Generator<Slot> {
  const words = new BigUint64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8)
  for (let at = first === 0 ? ROOT_SLOT : 0; at < SLOTS_PER_TABLE; at += 1) {
    const [lock, head] = [words[2 * at]!, words[2 * at + 1]!]
    yield { slot: first + at, place: table + at * SLOT_BYTES, lock, head }
  }
}

/** To lock a slot whose lock is `expected`, and to see its head then. */
export function lockAndLook(
  place: number,
  expected: bigint,
  lock: bigint,
): { readonly swap: CompareExchangeCommand; readonly head: ReadCommand } {
  return {
    swap: new CompareExchangeCommand(place + SlotOffset.Lock, expected, lock),
    head: new ReadCommand(place + SlotOffset.Head, 8),
  }
}
