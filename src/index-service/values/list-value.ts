import { RecordType } from '../state/record-format.ts'
import type { SnapshotReader, SnapshotWriter } from '../state/snapshot-stream.ts'
import { KeptSlots } from './kept-slots.ts'

/**
 * What an element takes besides its characters: a string and a slot of the ring, which is three quarters full on
 * average.
 */
const ELEMENT_BYTES = 32
const LIST_BYTES = 160
const SLOTS_MIN = 8

/** The elements of a list, in a ring: both ends and any index are reached at once. */
export class ListValue {
  readonly type: typeof RecordType.List = RecordType.List
  /** A power of 2 of them. */
  #slots: string[] = new Array<string>(SLOTS_MIN).fill('')
  #head = 0
  #size = 0
  #characters = 0
  /** Elements that are being written as they were, as long as the slots are the same. */
  #kept: KeptSlots<string> | undefined

  get size(): number {
    return this.#size
  }

  get usedBytes(): number {
    return LIST_BYTES + this.#size * ELEMENT_BYTES + this.#characters
  }

  /** `index` is from 0 up to below the size. */
  at(index: number): string {
    return this.#slots[(this.#head + index) & (this.#slots.length - 1)]!
  }

  set(index: number, element: string): void {
    this.#characters += element.length - this.at(index).length
    this.#put(this.#head + index, element)
  }

  pushFirst(element: string): void {
    this.#room()
    this.#head = (this.#head - 1) & (this.#slots.length - 1)
    this.#put(this.#head, element)
    this.#size += 1
    this.#characters += element.length
  }

  pushLast(element: string): void {
    this.#room()
    this.#put(this.#head + this.#size, element)
    this.#size += 1
    this.#characters += element.length
  }

  /** There has to be one. */
  popFirst(): string {
    const element = this.at(0)
    this.#put(this.#head, '')
    this.#head = (this.#head + 1) & (this.#slots.length - 1)
    return this.#taken(element)
  }

  /** There has to be one. */
  popLast(): string {
    const element = this.at(this.#size - 1)
    this.#put(this.#head + this.#size - 1, '')
    return this.#taken(element)
  }

  insert(index: number, element: string): void {
    this.pushLast(element)
    for (let at = this.#size - 1; at > index; at -= 1) this.#move(at - 1, at)
    this.#put(this.#head + index, element)
  }

  /** Keep the elements from `start` up to before `end`. */
  trim(start: number, end: number): void {
    while (this.#size > end) this.popLast()
    for (let left = Math.min(start, this.#size); left > 0; left -= 1) this.popFirst()
  }

  /** Remove up to `count` that are equal, from the first on, or from the last on. Returns how many. */
  remove(element: string, count: number, fromLast: boolean): number {
    const kept: string[] = []
    let removed = 0
    for (let step = 0; step < this.#size; step += 1) {
      const own = this.at(fromLast ? this.#size - 1 - step : step)
      if (removed < count && own === element) removed += 1
      else kept.push(own)
    }
    if (removed === 0) return 0
    if (fromLast) kept.reverse()
    this.#leave(new Array<string>(this.#slots.length).fill(''))
    this.#size = 0
    this.#characters = 0
    for (const own of kept) this.pushLast(own)
    return removed
  }

  encode(writer: SnapshotWriter): void {
    writer.count(this.#size)
    for (let index = 0; index < this.#size; index += 1) writer.text(this.at(index))
  }

  *encodeParts(writer: SnapshotWriter): Generator<undefined> {
    const kept = new KeptSlots(this.#slots, this.#size, this.#head, this.#slots.length - 1)
    this.#kept = kept
    try {
      yield
      writer.count(kept.left)
      for (; kept.left > 0; yield) writer.text(kept.take())
    } finally {
      this.#kept = undefined
    }
  }

  static decode(reader: SnapshotReader): ListValue {
    const list = new ListValue()
    for (let left = reader.count(); left > 0; left -= 1) list.pushLast(reader.text())
    return list
  }

  #move(from: number, to: number): void {
    this.#put(this.#head + to, this.at(from))
  }

  /** `slot` goes round the ring. */
  #put(slot: number, element: string): void {
    const at = slot & (this.#slots.length - 1)
    this.#kept?.changing(at)
    this.#slots[at] = element
  }

  /** The slots before are left as they are. */
  #leave(slots: string[]): void {
    this.#slots = slots
    this.#head = 0
    this.#kept = undefined
  }

  #taken(element: string): string {
    this.#size -= 1
    this.#characters -= element.length
    const { length } = this.#slots
    if (length > SLOTS_MIN && this.#size < length / 8) this.#resize(length / 2)
    return element
  }

  #room(): void {
    if (this.#size === this.#slots.length) this.#resize(this.#slots.length * 2)
  }

  #resize(length: number): void {
    const slots = new Array<string>(length).fill('')
    for (let index = 0; index < this.#size; index += 1) slots[index] = this.at(index)
    this.#leave(slots)
  }
}
