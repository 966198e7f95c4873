import type { Board } from './board.ts'

/** How the processes of a batch run beside each other. */
export interface PaceKind {
  /** The most rounds one may be ahead of another; 0: they do not look at each other. */
  readonly window: number
  /** The longest delay before an operation, in steps of a few nanoseconds; 0: none. */
  readonly delayMax: number
}

/** A batch takes one of these: leaping past each other with delays of several lengths, side by side, and as fast as they can. */
const kinds: readonly PaceKind[] = [
  { window: 0, delayMax: 30 },
  { window: 1, delayMax: 10 },
  { window: 0, delayMax: 300 },
  { window: 4, delayMax: 100 },
  { window: 0, delayMax: 0 },
  { window: 32, delayMax: 30 },
]

export const PACES: number = kinds.length

const NOISE = 4096
/** A rank that is waited for longer than this many looks (some 20 microseconds) is off the processor, or waits for a page. */
const LOOKS_MAX = 2000

/** Small random delays, and now and then waiting for the slowest, so that the operations of a round interleave in every way. */
export class Pace {
  readonly #board: Board
  readonly #rank: number
  readonly #noise = new Uint16Array(NOISE)
  readonly #idle = new Int32Array(new SharedArrayBuffer(4))
  #at = 0
  #kind: PaceKind = kinds[0]!
  #others: readonly number[] = []

  constructor(board: Board, rank: number, random: () => number) {
    this.#board = board
    this.#rank = rank
    for (let index = 0; index < NOISE; index++) this.#noise[index] = Math.floor(random() * 65_536)
  }

  /** `kind` counts from 0 to {@link PACES} - 1; `others` are the ranks that play in this batch beside us. */
  begin(kind: number, others: readonly number[]): void {
    this.#kind = kinds[kind]!
    this.#others = others
  }

  beforeRound(slot: number): void {
    const { window } = this.#kind
    if (window === 0) return
    this.#board.setProgress(this.#rank, slot)
    for (let index = 0; index < this.#others.length; index++)
      this.#board.awaitProgress(this.#others[index]!, slot - window, LOOKS_MAX)
  }

  beforeOperation(): void {
    const { delayMax } = this.#kind
    if (delayMax === 0) return
    this.#at = (this.#at + 1) & (NOISE - 1)
    this.#wait((this.#noise[this.#at]! * delayMax) >>> 16)
  }

  /** A longer one, for who only disturbs: some 30 microseconds. */
  pause(): void {
    this.#wait(3000)
  }

  #wait(steps: number): void {
    for (let step = 0; step < steps; step++) Atomics.load(this.#idle, 0)
  }
}
