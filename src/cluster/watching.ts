import { native } from '../native/index.ts'
import { HEADER_OFFSET, SLOT_BYTES, SLOTS_OFFSET } from './layout.ts'

/**
 * How a watcher, which is not a member, asks the members to show more than they always show, and how each answers:
 *
 * ```
 * header, byte 256   until when a watcher is there   Float64   ns of CLOCK_MONOTONIC, which all processes of a machine
 *                                                              share; 0: there was never one
 * slot,   byte 192   journal: descriptor + 1         Int32     in the member's process; 0: none
 *             200    inode of the journal            Float64   to tell it from another file under the same number
 * ```
 *
 * A watcher renews the time again and again. When the time has passed, because the watcher left or died, the members
 * stop showing. The room that writes the journal (dsm/observation) defines its contents.
 */
const WATCHED_UNTIL_BYTE = 256
const SHOWN_BYTE = 192
const PAGE_BYTES = 4096

/** What a member shows. */
export interface ShownJournal {
  readonly descriptor: number
  readonly inode: number
}

/** The watching side: ask all members to show until `untilNs`. With several watchers, the latest time counts. */
export function askToShow(control: ArrayBuffer, untilNs: number): void {
  const words = new Float64Array(control, HEADER_OFFSET + WATCHED_UNTIL_BYTE, 1)
  if (untilNs > words[0]!) words[0] = untilNs
}

/** After a restart of the machine: the clock began at 0 again, so a time that was left would last for ever. */
export function forgetWatchers(control: ArrayBuffer): void {
  new Float64Array(control, HEADER_OFFSET + WATCHED_UNTIL_BYTE, 1)[0] = 0
}

/** What the member of `slot` shows now. */
export function shownBy(control: ArrayBuffer, slot: number): ShownJournal | undefined {
  const [word, inode] = shownWords(control, SLOTS_OFFSET + slot * SLOT_BYTES)
  const descriptor = Atomics.load(word, 0) - 1
  return descriptor < 0 ? undefined : { descriptor, inode: inode[0]! }
}

/** A member that takes a slot shows nothing yet. */
export function forgetShown(control: ArrayBufferLike, slot: number): void {
  Atomics.store(new Int32Array(control, SLOTS_OFFSET + slot * SLOT_BYTES + SHOWN_BYTE, 1), 0, 0)
}

/** The member's side, for one of its threads that has only the arena's descriptor. */
export class WatchRequest {
  readonly #header: ArrayBuffer
  readonly #slots: ArrayBuffer
  readonly #until: Float64Array
  readonly #word: Int32Array
  readonly #inode: Float64Array

  constructor(descriptor: number, slot: number) {
    const offset = slot * SLOT_BYTES
    const page = Math.floor(offset / PAGE_BYTES) * PAGE_BYTES
    this.#header = native.mapMemory(descriptor, HEADER_OFFSET, PAGE_BYTES, 0)
    this.#slots = native.mapMemory(descriptor, SLOTS_OFFSET + page, PAGE_BYTES, 0)
    this.#until = new Float64Array(this.#header, WATCHED_UNTIL_BYTE, 1)
    ;[this.#word, this.#inode] = shownWords(this.#slots, offset - page)
  }

  /** Nanoseconds of CLOCK_MONOTONIC; 0 if no watcher ever asked. */
  get untilNs(): number {
    return this.#until[0]!
  }

  show({ descriptor, inode }: ShownJournal): void {
    this.#inode[0] = inode
    Atomics.store(this.#word, 0, descriptor + 1)
  }

  hide(): void {
    Atomics.store(this.#word, 0, 0)
  }

  close(): void {
    this.hide()
    native.unmapMemory(this.#header)
    native.unmapMemory(this.#slots)
  }
}

function shownWords(buffer: ArrayBuffer, slotOffset: number): readonly [Int32Array, Float64Array] {
  const at = slotOffset + SHOWN_BYTE
  return [new Int32Array(buffer, at, 1), new Float64Array(buffer, at + 8, 1)]
}
