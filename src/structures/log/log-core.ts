import { HeapFullError } from '../errors.ts'
import type { Meter } from '../figures/meter.ts'
import { type Heap, offsetOf } from '../heap/heap.ts'
import { Reach } from '../heap/reach.ts'
import { Chain } from '../list/chain.ts'
import { nextOf } from '../list/node.ts'

/** Words of a log's body, beside its bell. */
export const LogOffset = { Head: 0, Tail: 4 } as const

/**
 * A record of a log. After it was linked it never changes.
 *
 * ```
 *   0  linked
 *   4  next
 *   8  the one before
 *  12  length of the value
 *  16  index, Float64
 *  24  bytes of all values up to this one, Float64
 *  32  value
 * ```
 *
 * The first two are those of every node (see ../list/node.ts). Index and bytes only rise, so lengths are differences
 * and nothing is counted.
 */
export const RecordOffset = { Linked: 0, Next: 4, Previous: 8, Length: 12, Index: 16, Bytes: 24, Value: 32 } as const

/** The most that a log keeps. 0: no bound. */
export interface Retention {
  readonly records: number
  readonly bytes: number
  /** If memory runs out, the oldest records are dropped to make room for a new one. */
  readonly dropsForMemory: boolean
}

/** What is in a log: records from index `first` up to but not including `end`. */
export interface LogBounds {
  readonly first: number
  /** The index of the next record. */
  readonly end: number
}

/** A record that was copied out. */
export interface LogRecord {
  readonly index: number
  readonly value: Uint8Array
}

/**
 * Where a reader is: the record that it read last. While that record is there, the reader finds the next one by it
 * without a search.
 */
export interface LogPosition {
  /** The index of the next record that it wants. */
  next: number
  reference: number
  state: number
}

/**
 * A log as a {@link Chain}: records are appended where they are linked, and dropped from the other end if there are too
 * many. Readers hold nothing in shared memory. So a slow, stopped or dead reader costs the others nothing: it finds
 * what it wanted gone.
 */
export class LogCore {
  readonly #heap: Heap
  readonly #meter: Meter | undefined
  readonly #chain: Chain
  readonly #retention: Retention

  /** `meter` counts what is dropped for the bounds, or for memory. */
  constructor(heap: Heap, body: number, retention: Retention, meter?: Meter) {
    this.#heap = heap
    this.#meter = meter
    this.#chain = new Chain(heap, body + LogOffset.Head, body + LogOffset.Tail)
    this.#retention = retention
  }

  /** Append a record. Returns its index. @throws HeapFullError */
  append(value: Uint8Array): number {
    if (!this.#chain.begun) this.#chain.begin(() => this.#make(new Uint8Array(0)))
    const record = this.#makeSomehow(value)
    this.#heap.epochs.enter()
    try {
      const index = this.#link(record, value.length)
      this.#keepTo(this.#retention)
      return index
    } finally {
      this.#heap.epochs.exit()
    }
  }

  /** Whether there was ever an entry. */
  get begun(): boolean {
    return this.#chain.begun
  }

  /** Have the next entry get this index, and drop those before. While no other process uses the log. */
  beginAt(next: number): void {
    if (!this.begun) this.#chain.begin(() => this.#make(new Uint8Array(0)))
    this.trim(Number.POSITIVE_INFINITY)
    this.#heap.memory.pokeFloat(offsetOf(this.#chain.dummy) + RecordOffset.Index, next - 1)
  }

  bounds(): LogBounds {
    return this.#inside((dummy) => ({ first: this.#indexOf(dummy) + 1, end: this.#indexOf(this.#chain.last()) + 1 }))
  }

  /** Copies of up to `count` records from index `from` on, or from the first one that is left. */
  read(from: number, count: number): readonly LogRecord[] {
    const records: LogRecord[] = []
    const position = { next: from, reference: 0, state: 0 }
    this.#heap.epochs.enter()
    try {
      while (records.length < count) {
        const record = this.#step(position)
        if (record === undefined) break
        records.push(record)
      }
    } finally {
      this.#heap.epochs.exit()
    }
    return records
  }

  /** The next record for a reader, or the first one left after it; moves the reader on. Undefined if there is none. */
  step(position: LogPosition): LogRecord | undefined {
    this.#heap.epochs.enter()
    try {
      return this.#step(position)
    } finally {
      this.#heap.epochs.exit()
    }
  }

  /** Drop the records below index `before`. Returns how many. */
  trim(before: number): number {
    return this.#inside(() => {
      let dropped = 0
      while (this.#indexOf(this.#chain.dummy) + 1 < before && this.#dropFirst()) dropped += 1
      return dropped
    })
  }

  #link(record: number, lengthBytes: number): number {
    const { memory } = this.#heap
    const at = offsetOf(record)
    for (;;) {
      const last = this.#chain.last()
      const index = this.#indexOf(last) + 1
      memory.poke(at + RecordOffset.Previous, last)
      memory.pokeFloat(at + RecordOffset.Index, index)
      memory.pokeFloat(at + RecordOffset.Bytes, this.#bytesOf(last) + lengthBytes)
      if (this.#chain.tryLink(last, record)) return index
    }
  }

  /**
   * Drop what is beyond the bounds; the newest record stays whatever its length. A writer that is killed before this
   * leaves it to the next.
   */
  #keepTo({ records, bytes }: Retention): void {
    for (;;) {
      const dummy = this.#chain.dummy
      const last = this.#chain.last()
      const count = this.#indexOf(last) - this.#indexOf(dummy)
      const isOver = records !== 0 && count > records
      const isLong = bytes !== 0 && this.#bytesOf(last) - this.#bytesOf(dummy) > bytes
      if (count <= 1 || !(isOver || isLong)) return
      if (this.#dropFirst()) this.#meter?.evicted(1)
    }
  }

  /** False if there is none, or another member has dropped it. */
  #dropFirst(): boolean {
    const { dummy } = this.#chain
    const first = nextOf(this.#heap, dummy)
    return first !== 0 && this.#chain.tryUnlink(dummy, first)
  }

  #step(position: LogPosition): LogRecord | undefined {
    if (!this.#chain.begun) return undefined
    const found = this.#isThere(position) ? nextOf(this.#heap, position.reference) : this.#find(position.next)
    if (found === 0) return undefined
    const { memory, blocks } = this.#heap
    const at = offsetOf(found)
    const value = memory.copy(at + RecordOffset.Value, memory.peek(at + RecordOffset.Length))
    const index = this.#indexOf(found)
    position.next = index + 1
    position.reference = found
    position.state = blocks.state(found)
    return { index, value }
  }

  /**
   * Whether the record before the wanted one still leads to it: it is what it was, and not in front of the dummy. What
   * was dropped stays as it is for a while, for ever if its dropper was killed. But what came after it may have been
   * dropped and used again.
   */
  #isThere({ next, reference, state }: LogPosition): boolean {
    if (reference === 0 || this.#indexOf(this.#chain.dummy) >= next) return false
    return this.#heap.blocks.state(reference) === state && this.#indexOf(reference) === next - 1
  }

  /** The record of an index, or the first one left; 0 if it does not exist yet. */
  #find(index: number): number {
    const { dummy } = this.#chain
    const last = this.#chain.last()
    const [first, newest] = [this.#indexOf(dummy) + 1, this.#indexOf(last)]
    if (index > newest || first > newest) return 0
    return index - first <= newest - index ? this.#findFrom(dummy, index) : this.#findBack(last, index)
  }

  #findFrom(dummy: number, index: number): number {
    let at = nextOf(this.#heap, dummy)
    while (this.#indexOf(at) < index) at = nextOf(this.#heap, at)
    return at
  }

  /** Everything after the dummy was linked when we looked, inside this epoch. So the way back to it can be gone. */
  #findBack(last: number, index: number): number {
    let at = last
    while (this.#indexOf(at) > index) at = this.#heap.memory.peek(offsetOf(at) + RecordOffset.Previous)
    return at
  }

  #makeSomehow(value: Uint8Array): number {
    for (;;) {
      try {
        return this.#make(value)
      } catch (error) {
        if (!(error instanceof HeapFullError && this.#retention.dropsForMemory && this.#dropSome())) throw error
      }
    }
  }

  /** Drop an eighth of all records. */
  #dropSome(): boolean {
    const { first, end } = this.bounds()
    const dropped = this.trim(first + Math.ceil((end - first) / 8))
    this.#meter?.evicted(dropped)
    return dropped > 0
  }

  #make(value: Uint8Array): number {
    const { memory, intent } = this.#heap
    intent.begin(this.#chain.head, Reach.List)
    const { reference } = this.#heap.allocate(RecordOffset.Value + value.length)
    const at = offsetOf(reference)
    memory.poke(at + RecordOffset.Linked, 0)
    memory.poke(at + RecordOffset.Next, 0)
    memory.poke(at + RecordOffset.Previous, 0)
    memory.poke(at + RecordOffset.Length, value.length)
    memory.pokeFloat(at + RecordOffset.Index, -1)
    memory.pokeFloat(at + RecordOffset.Bytes, 0)
    memory.write(at + RecordOffset.Value, value, value.length)
    return reference
  }

  #indexOf(record: number): number {
    return this.#heap.memory.peekFloat(offsetOf(record) + RecordOffset.Index)
  }

  #bytesOf(record: number): number {
    return this.#heap.memory.peekFloat(offsetOf(record) + RecordOffset.Bytes)
  }

  /** With the dummy, inside an epoch. */
  #inside<T>(work: (dummy: number) => T): T {
    if (!this.#chain.begun) this.#chain.begin(() => this.#make(new Uint8Array(0)))
    this.#heap.epochs.enter()
    try {
      return work(this.#chain.dummy)
    } finally {
      this.#heap.epochs.exit()
    }
  }
}
