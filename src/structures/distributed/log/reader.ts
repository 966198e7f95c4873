import { bytesOfClass } from '../heap/block-word.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { RECORD_BYTES, type RecordHead, readRecord, readRecordHead } from '../heap/record.ts'
import { ReadCommand } from '../memory/command.ts'
import type { SlotView } from './slots.ts'
import type { LogView } from './view.ts'

/** A slot whose entry is there, with its index. */
export type ThereSlot = Extract<SlotView, { kind: 'there' }> & { readonly index: number }

/** An entry that was copied out. */
export interface RecordRead {
  readonly index: number
  readonly value: Uint8Array
}

/** Slots that are looked at in one go, and blocks. */
const SLOTS_AT_ONCE = 512
const BLOCKS_AT_ONCE = 30
const BYTES_AT_ONCE = 256 * 1024

/** Reads a log: a batch of slots, and the blocks that they name. It writes nothing, so it delays no one. */
export class LogReader {
  readonly #memory: HomeMemory
  readonly #view: LogView

  constructor(memory: HomeMemory, view: LogView) {
    this.#memory = memory
    this.#view = view
  }

  /**
   * Up to `count` entries from index `from` on, or from the first that is left. Two round trips, and more where there
   * are many, they are long, or some are dropped meanwhile.
   */
  async read(from: number, count: number): Promise<readonly RecordRead[]> {
    const records: RecordRead[] = []
    for (let at = from; records.length < count; ) {
      const { there, next, isEnd } = await this.slotsFrom(at, count - records.length)
      for (const batch of batches(there)) records.push(...(await this.#values(batch)))
      if (isEnd) break
      at = next
    }
    return records
  }

  /** The first index that is there; the end where none is. `end`: as it was. */
  async findFirst(end: number): Promise<number> {
    for (let at = this.#view.first; at < end; ) {
      const { there, next, isEnd } = await this.slotsFrom(at, BLOCKS_AT_ONCE)
      if (there[0] !== undefined) return there[0].index
      if (isEnd) break
      at = next
    }
    return Math.max(end, this.#view.first)
  }

  /**
   * The slots of up to `count` indexes from `from` on that are there; `isEnd` where there are none beyond. One round
   * trip, or two for a rank that has not looked for long.
   */
  async slotsFrom(
    from: number,
    count: number,
  ): Promise<{ readonly there: readonly ThereSlot[]; readonly next: number; readonly isEnd: boolean }> {
    const { slots } = this.#view
    const many = Math.max(1, Math.min(count, SLOTS_AT_ONCE, slots.capacity))
    for (;;) {
      const at = Math.max(from, this.#view.first)
      const reads = slots.reads(at, many)
      const marks = this.#view.marks()
      await this.#memory.run([...reads, marks])
      this.#view.learn(marks)
      if (at > this.#view.bound) return { there: [], next: at, isEnd: true }
      // The mark is above it by a round or more: what is there now has another index.
      if (at < this.#view.first) continue
      return this.#found(at, slots.views(at, reads))
    }
  }

  /** Heads of entries; undefined where one was dropped meanwhile. One round trip. */
  async heads(slots: readonly ThereSlot[]): Promise<readonly (RecordHead | undefined)[]> {
    if (slots.length === 0) return []
    const reads = slots.map(({ block }) => new ReadCommand(block.offset, RECORD_BYTES))
    await this.#memory.run(reads)
    return slots.map(({ index, block }, at) => {
      const head = readRecordHead(block, reads[at]!.bytes)
      return head?.index === index ? head : undefined
    })
  }

  #found(at: number, views: readonly SlotView[]): Awaited<ReturnType<LogReader['slotsFrom']>> {
    const free = views.findIndex(({ kind }) => kind === 'free')
    const taken = free < 0 ? views : views.slice(0, free)
    const there = taken.flatMap((view, index) => (view.kind === 'there' ? [{ ...view, index: at + index }] : []))
    const next = at + taken.length
    if (taken.length > 0) this.#view.reached(next)
    return { there, next, isEnd: free >= 0 }
  }

  /** A block that is not what its slot said was dropped since: no entry comes back to its slot. */
  async #values(slots: readonly ThereSlot[]): Promise<readonly RecordRead[]> {
    const reads = slots.map(({ block }) => new ReadCommand(block.offset, bytesOfClass(block.sizeClass)))
    await this.#memory.run(reads)
    return slots.flatMap(({ index, block }, at) => {
      const record = readRecord(block, reads[at]!.bytes)
      return record?.index === index ? [record] : []
    })
  }
}

/** Batches whose entries are few and short enough to be read together. */
function* batches(slots: readonly ThereSlot[]): Generator<readonly ThereSlot[], undefined> {
  let batch: ThereSlot[] = []
  let bytes = 0
  for (const slot of slots) {
    const length = bytesOfClass(slot.block.sizeClass)
    if (batch.length === BLOCKS_AT_ONCE || (batch.length > 0 && bytes + length > BYTES_AT_ONCE)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(slot)
    bytes += length
  }
  if (batch.length > 0) yield batch
  return undefined
}
