import type { Board } from './board.ts'

/** How the processes of a batch run beside each other. */
export interface PaceKind {
  /** The most rounds one may be ahead of another; 0: they do not look at each other. */
  readonly window: number
  /** The longest delay before an operation, in steps of a few nanoseconds; 0: none. */
  readonly delayMax: number
  /**
   * Now and then a delay so long that a page which was held for this process is taken away in the middle of a round.
   */
  readonly breaks: boolean
  /** All ranks start every nth round together, with breaks at random; 0: never. */
  readonly meetEvery: number
  /**
   * All meet before every round and then sleep at random before every operation, instead of spinning: so rounds overlap
   * however few processors there are. It is slow: such a batch has fewer rounds.
   */
  readonly sleeps?: boolean
}

/**
 * A batch takes one of these: leaping past each other with delays of several lengths, side by side, and as fast as they
 * can.
 */
const kinds: readonly PaceKind[] = [
  { window: 0, delayMax: 30, breaks: true, meetEvery: 0 },
  { window: 1, delayMax: 10, breaks: true, meetEvery: 0 },
  { window: 0, delayMax: 300, breaks: true, meetEvery: 0 },
  { window: 0, delayMax: 10, breaks: false, meetEvery: 8 },
  { window: 0, delayMax: 0, breaks: false, meetEvery: 0 },
  { window: 32, delayMax: 30, breaks: true, meetEvery: 32 },
  { window: 0, delayMax: 0, breaks: false, meetEvery: 0, sleeps: true },
]

export const PACES: number = kinds.length
/** The pace in which processes sleep. */
export const ASLEEP: number = kinds.findIndex(({ sleeps }) => sleeps === true)
const ASLEEP_ROUNDS_MAX = 64

/** How many rounds a batch of this pace has where there is room for `slots`. */
export function roundsOf(kind: number, slots: number): number {
  return kinds[kind]!.sleeps === true ? Math.min(slots, ASLEEP_ROUNDS_MAX) : slots
}

const NOISE = 4096
/** One delay in this many is a break of about 30 microseconds, longer than an unused page is held. */
const BREAK_EVERY = 32
const BREAK_STEPS = 10_000
/** A rank that has not come after this many looks (about 20 microseconds) has no CPU, or waits for a page. */
const LOOKS_MAX = 2000
/** In a meeting others are waited for so long that a page can come to them. */
const MEETING_LOOKS_MAX = 30_000
/** The longest sleep before an operation, in milliseconds: as long as a page takes to arrive. */
const SLEEP_MS_MAX = 0.15
/** How many milliseconds to sleep for the others at most, because one may have been stopped. */
const MEETING_SLEEPS_MAX = 50

/**
 * Small random delays, and now and then waiting for the slowest, so that the operations of a round interleave in every
 * way.
 */
export class Pace {
  readonly #board: Board
  readonly #rank: number
  readonly #noise = new Uint16Array(NOISE)
  readonly #idle = new Int32Array(new SharedArrayBuffer(4))
  #at = 0
  #kind: PaceKind = kinds[0]!
  #others: readonly number[] = []
  #meeting = false

  constructor(board: Board, rank: number, random: () => number) {
    this.#board = board
    this.#rank = rank
    for (let index = 0; index < NOISE; index += 1) this.#noise[index] = Math.floor(random() * 65_536)
  }

  /** `kind` counts from 0 to {@link PACES} - 1; `others` are the ranks that play in this batch beside us. */
  begin(kind: number, others: readonly number[]): void {
    this.#kind = kinds[kind]!
    this.#others = others
  }

  beforeRound(slot: number): void {
    const { window, meetEvery, sleeps } = this.#kind
    if (sleeps === true) {
      this.#meetAsleep(slot)
      return
    }
    this.#meeting = meetEvery !== 0 && slot % meetEvery === 0
    if (this.#meeting) this.#await(slot, slot, MEETING_LOOKS_MAX)
    else if (window !== 0) this.#await(slot, slot - window, LOOKS_MAX)
  }

  beforeOperation(): void {
    const { delayMax, breaks, sleeps } = this.#kind
    if (sleeps === true) this.#sleep()
    if (delayMax === 0) return
    this.#at = (this.#at + 1) & (NOISE - 1)
    const noise = this.#noise[this.#at]!
    const breaksNow = this.#meeting ? noise % 2 === 0 : breaks && noise % BREAK_EVERY === 0
    if (breaksNow) this.pause()
    else this.#wait((noise * delayMax) >>> 16)
  }

  /** Until every other rank has come to this round, asleep. */
  #meetAsleep(slot: number): void {
    this.#board.announceProgress(this.#rank, slot)
    for (const other of this.#others) this.#board.sleepUntilProgress(other, slot, MEETING_SLEEPS_MAX)
  }

  /** Half of the time, for a while drawn at random. */
  #sleep(): void {
    this.#at = (this.#at + 1) & (NOISE - 1)
    const noise = this.#noise[this.#at]!
    if (noise % 2 === 0) Atomics.wait(this.#idle, 0, 0, (noise * SLEEP_MS_MAX) / 65_536)
  }

  #await(slot: number, others: number, looks: number): void {
    this.#board.setProgress(this.#rank, slot)
    for (let index = 0; index < this.#others.length; index += 1)
      this.#board.awaitProgress(this.#others[index]!, others, looks)
  }

  /** A break; also for who only disturbs. */
  pause(): void {
    this.#wait(BREAK_STEPS)
  }

  #wait(steps: number): void {
    for (let step = 0; step < steps; step += 1) Atomics.load(this.#idle, 0)
  }
}
