import { CompareExchangeCommand, ReadCommand } from '../memory/command.ts'
import type { GroupMemory } from '../memory/group-memory.ts'

const BITS = 64

/** Bytes that the marks of `ranks` ranks take: a bit for each, in words of 64 bits. */
export function waitingRanksBytes(ranks: number): number {
  return Math.ceil(ranks / BITS) * 8
}

/** Bytes of a body: `words` words of 64 bits, and the marks of the ranks that wait for them. */
export function awaitedWordsBytes(words: number, ranks: number): number {
  return words * 8 + waitingRanksBytes(ranks)
}

/** Where the marks are. */
export interface MarksPlace {
  readonly group: GroupMemory
  readonly home: number
  /** What errors call it. */
  readonly what: string
  /** From the beginning of the home's part. */
  readonly place: number
}

/**
 * The ranks that wait for one thing: a bit for each, beside it at its home. A rank sets its own before it looks once
 * more and sleeps. The rank that is to wake it takes the bit away. So each time a rank has said that it waits, one
 * other rank wakes it, once. A rank that meets bits of ranks that are out of the group takes them away.
 */
export class WaitingRanks {
  readonly #at: MarksPlace
  readonly #lengthBytes: number
  /** The word with this rank's bit, as it was seen last. */
  #own = 0n
  readonly #ownPlace: number
  readonly #ownBit: bigint

  constructor(at: MarksPlace) {
    const { group, place } = at
    this.#at = at
    this.#lengthBytes = waitingRanksBytes(group.ranks)
    this.#ownPlace = place + Math.floor(group.rank / BITS) * 8
    this.#ownBit = 1n << BigInt(group.rank % BITS)
  }

  /** For a batch, behind what changes the thing. */
  read(): ReadCommand {
    return new ReadCommand(this.#at.place, this.#lengthBytes)
  }

  /** The words as found by a READ that covers them; undefined if no rank waits. */
  seenIn(read: ReadCommand): bigint[] | undefined {
    let words: bigint[] | undefined
    for (let at = 0; at < this.#lengthBytes; at += 8) {
      const word = read.word(this.#at.place - read.offset + at)
      if (word === 0n) continue
      words ??= new Array<bigint>(this.#lengthBytes / 8).fill(0n)
      words[at / 8] = word
    }
    return words
  }

  /**
   * Say that this rank waits. False where it has to be said again: the word was another. What is begun after this call
   * is carried out after it.
   */
  async mark(): Promise<boolean> {
    return await this.#set(this.#own | this.#ownBit)
  }

  /** This rank waits no longer, unless it `waits` again by then. */
  async unmark(waits: () => boolean): Promise<void> {
    while (!waits() && (this.#own & this.#ownBit) !== 0n) if (await this.#set(this.#own & ~this.#ownBit)) return
  }

  /** Another rank has taken this rank's mark away. */
  taken(): void {
    this.#own &= ~this.#ownBit
  }

  /** Take away all that are seen, and what came meanwhile. Gives whose they were. */
  async takeAll(seen: readonly bigint[]): Promise<readonly number[]> {
    const taken = await Promise.all(seen.map((word, at) => this.#takeWord(at, word)))
    return taken.flat().filter((rank) => this.#at.group.isMember(rank))
  }

  /** Take away one that is seen, in turn from the one after rank `after`. Undefined where there is none any more. */
  async takeOne(seen: bigint[], after: number): Promise<number | undefined> {
    for (;;) {
      const rank = this.#next(seen, after)
      if (rank === undefined) {
        await Promise.all(seen.map((word, at) => word !== 0n && this.#swap(at, word, this.#living(at, word))))
        return undefined
      }
      const at = Math.floor(rank / BITS)
      const word = seen[at]!
      const before = await this.#swap(at, word, this.#living(at, word) & ~(1n << BigInt(rank % BITS)))
      if (before === word) return rank
      seen[at] = before
    }
  }

  async #set(word: bigint): Promise<boolean> {
    const { group, home, what } = this.#at
    const expected = this.#own
    const command = new CompareExchangeCommand(this.#ownPlace, expected, word)
    await group.run(home, what, [command])
    this.#own = command.swapped ? word : command.before
    return command.swapped
  }

  async #takeWord(at: number, seen: bigint): Promise<number[]> {
    for (let word = seen; word !== 0n; ) {
      const before = await this.#swap(at, word, 0n)
      if (before === word) return ranksOf(at, word)
      word = before
    }
    return []
  }

  async #swap(at: number, expected: bigint, desired: bigint): Promise<bigint> {
    const { group, home, what, place } = this.#at
    const command = new CompareExchangeCommand(place + at * 8, expected, desired)
    await group.run(home, what, [command])
    return command.before
  }

  #next(seen: readonly bigint[], after: number): number | undefined {
    const { group } = this.#at
    const ranks = seen.flatMap((word, at) => ranksOf(at, word)).filter((rank) => group.isMember(rank))
    return ranks.find((rank) => rank > after) ?? ranks[0]
  }

  /** Without those who are out of the group. */
  #living(at: number, word: bigint): bigint {
    const { group } = this.#at
    let living = word
    for (const rank of ranksOf(at, word)) if (!group.isMember(rank)) living &= ~(1n << BigInt(rank % BITS))
    return living
  }
}

function ranksOf(at: number, word: bigint): number[] {
  const ranks: number[] = []
  for (let rest = word, rank = at * BITS; rest !== 0n; rest >>= 1n, rank += 1) if ((rest & 1n) !== 0n) ranks.push(rank)
  return ranks
}
