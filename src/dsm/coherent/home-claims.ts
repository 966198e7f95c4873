import { MeshChannel } from '../../cluster/index.ts'
import { NO_HOME } from './placement.ts'

/**
 * Homes that are decided by first use. Page `i` has a *register*, rank `i` modulo their number (of those that lived
 * when the region was made), which decides. The rank whose claim gets there first is the page's home for good, and
 * every later claim is answered with that rank. It is a compare-and-swap on the register's entry, done by its agent.
 * Afterwards each rank knows the homes of the pages that it has used, and does not ask again.
 *
 *   byte 0 channel, 1 kind   Int32 [1] region [2] page [3] home (Decided)      16 bytes, in host order
 */
const Kind = { Claim: 1, Decided: 2 } as const
const LENGTH_BYTES = 16

/** A claim, or the answer to one. */
export interface HomeMessage {
  readonly region: number
  readonly page: number
  /** {@link NO_HOME} in a claim. */
  readonly home: number
}

function encodeHomeMessage({ region, page, home }: HomeMessage): Uint8Array {
  const words = new Int32Array(LENGTH_BYTES / 4)
  const bytes = new Uint8Array(words.buffer)
  bytes[0] = MeshChannel.Homes
  bytes[1] = home === NO_HOME ? Kind.Claim : Kind.Decided
  words.set([region, page, home], 1)
  return bytes
}

/** Undefined where the bytes are no such message among `ranks` ranks. */
export function decodeHomeMessage(bytes: Uint8Array, ranks: number): HomeMessage | undefined {
  if (bytes.length !== LENGTH_BYTES) return undefined
  const [, region, page, home] = new Int32Array(bytes.slice().buffer) as unknown as [number, number, number, number]
  const sound = bytes[1] === Kind.Claim ? home === NO_HOME : bytes[1] === Kind.Decided && home >= 0 && home < ranks
  return sound && page >= 0 ? { region, page, home } : undefined
}

export interface HomeClaimsOptions {
  readonly region: number
  readonly rank: number
  /** Ranks that lived when the region was made. */
  readonly founders: readonly number[]
  /** The home of each page as far as it is known here; undefined where homes are computed. */
  readonly homes: SharedArrayBuffer | undefined
  readonly send: (to: number, bytes: Uint8Array) => void
  readonly isAlive: (rank: number) => boolean
  /** The home of `page`, which was asked for, is known now. */
  readonly onDecided: (page: number, write: boolean) => void
  /** It will not be: rank `rank` was to decide. */
  readonly onLost: (page: number, rank: number) => void
}

/** One rank's part in it, in the agent. Where homes are computed, all of them are known. */
export class HomeClaims {
  readonly #options: HomeClaimsOptions
  readonly #homes: Int32Array | undefined
  /** Pages that were asked for before their home was known; true where one is to be written. */
  readonly #waiting = new Map<number, boolean>()

  constructor(options: HomeClaimsOptions) {
    this.#options = options
    this.#homes = options.homes && new Int32Array(options.homes)
  }

  isKnown(page: number): boolean {
    return this.#homes === undefined || Atomics.load(this.#homes, page) !== NO_HOME
  }

  /** Which rank decides about `page`. */
  registerOf(page: number): number {
    const { founders } = this.#options
    return founders[page % founders.length]!
  }

  /** Have the home of `page` decided; `onDecided` or `onLost` follows. */
  claim(page: number, write: boolean): void {
    const { region, rank, send, isAlive, onLost } = this.#options
    const register = this.registerOf(page)
    const asked = this.#waiting.has(page)
    this.#waiting.set(page, write || this.#waiting.get(page) === true)
    if (register === rank) {
      this.#settle(page, rank)
      this.#decided(page)
    } else if (!isAlive(register)) {
      this.#waiting.delete(page)
      onLost(page, register)
    } else if (!asked) send(register, encodeHomeMessage({ region, page, home: NO_HOME }))
  }

  /** False where `from` cannot have meant it. */
  receive(from: number, { page, home }: HomeMessage): boolean {
    const { region, rank, send } = this.#options
    if (this.#homes === undefined || (home === NO_HOME ? rank : from) !== this.registerOf(page)) return false
    const settled = this.#settle(page, home === NO_HOME ? from : home)
    if (home === NO_HOME) send(from, encodeHomeMessage({ region, page, home: settled }))
    else this.#decided(page)
    return true
  }

  /**
   * Another rank takes us for the home of `page`: the register told that rank before it told us. False if we know
   * better.
   */
  isOwn(page: number): boolean {
    const { rank } = this.#options
    return this.#homes !== undefined && this.#waiting.has(page) && this.#settle(page, rank) === rank
  }

  memberDied(rank: number): void {
    for (const page of [...this.#waiting.keys()]) {
      if (this.registerOf(page) !== rank) continue
      this.#waiting.delete(page)
      this.#options.onLost(page, rank)
    }
  }

  /** No answer is under way. */
  isQuiescent(): boolean {
    return this.#waiting.size === 0
  }

  /** The home of `page`: the first claimant, or else `claimant`. */
  #settle(page: number, claimant: number): number {
    const before = Atomics.compareExchange(this.#homes!, page, NO_HOME, claimant)
    return before === NO_HOME ? claimant : before
  }

  #decided(page: number): void {
    const write = this.#waiting.get(page)
    this.#waiting.delete(page)
    if (write !== undefined) this.#options.onDecided(page, write)
  }
}
