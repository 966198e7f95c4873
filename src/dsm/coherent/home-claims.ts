import { MeshChannel } from '../../cluster/index.ts'
import { NO_HOME } from './placement.ts'

/**
 * Homes that are decided by first use. Page `i` has a *register*, rank `i` modulo their number (of those that lived
 * when the region was made), which decides. The rank whose claim gets there first is the page's home for good, and
 * every later claim is answered with that rank. It is a compare-and-swap on the register's entry, done by its agent.
 * Afterwards each rank knows the homes of the pages that it has used, and does not ask again.
 *
 * When a rank has died, every survivor tells every other what it knows of pages whose register or home that was. It
 * does so ahead of its first word in the recovery of the region, so all know it before the region is served again: a
 * home that the register had not told yet, and the heir of a home that died. A page whose home no survivor knows is
 * lost, since a rank that died may have used it.
 *
 *   byte 0 channel, 1 kind   Int32 [1] region   then, for each page, Int32 page, home ({@link NO_HOME} in a claim)
 */
const Kind = { Claim: 1, Decided: 2, Known: 3 } as const
type Kind = (typeof Kind)[keyof typeof Kind]
const HEAD = 2
/** With the head they fit into a message of the mesh. */
const ENTRIES_MAX = 240

/** A page, and its home. */
export interface PageHome {
  readonly page: number
  /** {@link NO_HOME} in a claim. */
  readonly home: number
}

/** A claim, the answer to one, or what a survivor knows. */
export interface HomeMessage {
  readonly kind: Kind
  readonly region: number
  /** One, unless the kind is `Known`. */
  readonly homes: readonly PageHome[]
}

function encodeHomeMessage({ kind, region, homes }: HomeMessage): Uint8Array {
  const words = new Int32Array(HEAD + 2 * homes.length)
  const bytes = new Uint8Array(words.buffer)
  bytes[0] = MeshChannel.Homes
  bytes[1] = kind
  words[1] = region
  words.set(
    homes.flatMap(({ page, home }) => [page, home]),
    HEAD,
  )
  return bytes
}

/** Undefined where the bytes are no such message among `ranks` ranks. */
export function decodeHomeMessage(bytes: Uint8Array, ranks: number): HomeMessage | undefined {
  const count = (bytes.length / 4 - HEAD) / 2
  const kind = bytes[1] as Kind
  const isSound = Number.isInteger(count) && count >= 1 && (count === 1 || kind === Kind.Known)
  if (!isSound || !Object.values(Kind).includes(kind)) return undefined
  const words = new Int32Array(bytes.slice().buffer)
  const homes = Array.from({ length: count }, (_, index) => ({
    page: words[HEAD + 2 * index]!,
    home: words[HEAD + 2 * index + 1]!,
  }))
  const areSound = homes.every(
    ({ page, home }) => page >= 0 && (kind === Kind.Claim ? home === NO_HOME : home >= 0 && home < ranks),
  )
  return areSound ? { kind, region: words[1]!, homes } : undefined
}

/** Whether it tells what a survivor knows. */
export const isKnowledge = ({ kind }: HomeMessage): boolean => kind === Kind.Known

/** Tell every other member which homes are known here. */
export function tellHomes(
  region: number,
  homes: readonly PageHome[],
  others: readonly number[],
  send: (to: number, bytes: Uint8Array) => void,
): void {
  for (let begin = 0; begin < homes.length; begin += ENTRIES_MAX) {
    const bytes = encodeHomeMessage({ kind: Kind.Known, region, homes: homes.slice(begin, begin + ENTRIES_MAX) })
    for (const member of others) send(member, bytes)
  }
}

/** Take in what was told before this rank opened the region. False where a page is not of the region. */
export function learnHomes(table: SharedArrayBuffer, homes: readonly PageHome[]): boolean {
  const known = new Int32Array(table)
  for (const { page, home } of homes) {
    if (page >= known.length) return false
    Atomics.compareExchange(known, page, NO_HOME, home)
  }
  return true
}

export interface HomeClaimsOptions {
  readonly region: number
  readonly rank: number
  /** Ranks that lived when the region was made. */
  readonly founders: readonly number[]
  /** The home of each page as far as it is known here; undefined where homes are not decided by first use. */
  readonly homes: SharedArrayBuffer | undefined
  readonly send: (to: number, bytes: Uint8Array) => void
  readonly isAlive: (rank: number) => boolean
  /** The ranks that are left. */
  readonly members: () => readonly number[]
  /** False while the members agree after a death. */
  readonly isServing: () => boolean
  /** Homes that this rank knows of otherwise. */
  readonly alsoKnown: () => Iterable<PageHome>
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
    const { region, rank, send, isAlive, members, isServing, onLost } = this.#options
    const register = this.registerOf(page)
    const asked = this.#waiting.has(page)
    this.#waiting.set(page, write || this.#waiting.get(page) === true)
    if (register === rank) {
      this.#settle(page, rank)
      this.#decided(page)
    } else if (isServing() && !members().includes(register)) {
      this.#waiting.delete(page)
      onLost(page, register)
    } else if (!asked && isAlive(register))
      send(register, encodeHomeMessage({ kind: Kind.Claim, region, homes: [{ page, home: NO_HOME }] }))
  }

  /** False where `from` cannot have meant it. */
  receive(from: number, { kind, homes }: HomeMessage): boolean {
    // A member that has not opened the region does not know how its homes are decided.
    if (kind === Kind.Known) return this.#options.homes === undefined || learnHomes(this.#options.homes, homes)
    if (this.#homes === undefined) return false
    const { page, home } = homes[0]!
    const { region, rank, send } = this.#options
    if ((kind === Kind.Claim ? rank : from) !== this.registerOf(page)) return false
    const settled = this.#settle(page, kind === Kind.Claim ? from : home)
    if (kind === Kind.Claim)
      send(from, encodeHomeMessage({ kind: Kind.Decided, region, homes: [{ page, home: settled }] }))
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

  /** The members are these now: tell them what is known here of pages whose register or home is gone. */
  viewChanged(members: readonly number[]): void {
    if (this.#homes === undefined) return
    const { region, rank, send } = this.#options
    const concernsTheDead = ({ page, home }: PageHome): boolean =>
      !members.includes(home) || !members.includes(this.registerOf(page))
    const others = members.filter((member) => member !== rank)
    tellHomes(region, this.#known().filter(concernsTheDead), others, send)
  }

  /** The region is served again: all is known that any survivor knew. */
  recovered(): void {
    const { members, onLost } = this.#options
    for (const page of [...this.#waiting.keys()]) {
      const register = this.registerOf(page)
      if (this.isKnown(page)) this.#decided(page)
      else if (!members().includes(register)) {
        this.#waiting.delete(page)
        onLost(page, register)
      }
    }
  }

  /** What waits is no longer wanted: neither `onDecided` nor `onLost` follows. */
  forget(): void {
    this.#waiting.clear()
  }

  /** No answer is under way. */
  isQuiescent(): boolean {
    return this.#waiting.size === 0
  }

  #known(): PageHome[] {
    for (const { page, home } of this.#options.alsoKnown()) this.#settle(page, home)
    const known: PageHome[] = []
    this.#homes!.forEach((home, page) => {
      if (home !== NO_HOME) known.push({ page, home })
    })
    return known
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
