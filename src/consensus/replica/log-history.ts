import type { Entry } from './cell.ts'

/** What is kept where there is no other replica. One that comes gets a snapshot, as of any long log. */
const ALONE_BYTES_MAX = 4 * 2 ** 20

/** What is held is kept up to as many times the bytes. */
const HELD_FACTOR = 4

/** The decided entries that a replica keeps: from some index on, without gaps. */
export class LogHistory {
  /** A replica that gets a snapshot of this index needs what follows. Undefined: none gets one. */
  held: number | undefined
  readonly #bytesMax: number
  #entries: Entry[] = []
  /** How many at the start of `#entries` were dropped. */
  #dropped = 0
  #base: number
  #bytes = 0

  /** `base`: everything up to there is in the snapshot that the replica began with. */
  constructor(base: number, bytesMax: number) {
    this.#base = base
    this.#bytesMax = bytesMax
  }

  /** The index before the first that is kept. */
  get base(): number {
    return this.#base
  }

  /** The index of the last. */
  get last(): number {
    return this.#base + this.#entries.length - this.#dropped
  }

  get(index: number): Entry | undefined {
    return index > this.#base ? this.#entries[index - this.#base - 1 + this.#dropped] : undefined
  }

  /** One more was decided, and neither it nor those before are needed from here. */
  pass(): void {
    this.#base = this.last + 1
    this.#bytes = 0
    this.#dropped = 0
    if (this.#entries.length > 0) this.#entries = []
  }

  /** `entry` is the next. The oldest ones are dropped when they take too much memory. `isAlone`: no one lags behind. */
  push(entry: Entry, isAlone: boolean = false): void {
    const bytesMax = isAlone ? Math.min(this.#bytesMax, ALONE_BYTES_MAX) : this.#bytesMax
    this.#entries.push(entry)
    this.#bytes += sizeOf(entry)
    while (this.#bytes > bytesMax && this.last - this.#base > 1 && !this.#isHeld) {
      this.#bytes -= sizeOf(this.#entries[this.#dropped]!)
      this.#dropped += 1
      this.#base += 1
    }
    if (this.#dropped < 1024 || this.#dropped * 2 < this.#entries.length) return
    this.#entries = this.#entries.slice(this.#dropped)
    this.#dropped = 0
  }

  /** The oldest is. */
  get #isHeld(): boolean {
    return this.held !== undefined && this.#base >= this.held && this.#bytes <= HELD_FACTOR * this.#bytesMax
  }
}

/** With what the object itself takes, about. */
function sizeOf({ payload }: Entry): number {
  return payload.length + 128
}
