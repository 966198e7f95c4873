import { RECLAIMED_OFFSET } from '../memory/layout.ts'
import type { HomeWords } from './home-memory.ts'

/** How long the others are waited for. */
const WAIT_MS_MAX = 1000
const PAUSE_MS_MAX = 8
/** If a rank did not answer in time, no rank is asked again for this long. Otherwise each call would wait for it. */
const ASK_AGAIN_MS = 200

/** What came of asking the others. */
export interface Asked {
  /** Ranks that were asked. */
  readonly ranks: number
  /** How many of them have said that they looked. */
  readonly looked: number
}

/**
 * Has the other ranks look for chunks of a home that they hold and do not need. Only the rank that took a chunk knows
 * which of its blocks are free.
 * 1. Each is told by a ring, which also reaches an idle rank.
 * 2. It gives back what is wholly free, and adds 1 to a word at the home, which tells the asking rank how many have
 *    looked.
 * 3. The asking rank waits for a bounded time: a rank that is stopped does not answer.
 */
export class Reclaim {
  readonly #home: HomeWords
  #asking: Promise<Asked> | undefined
  #asked: Asked = { ranks: 0, looked: 0 }
  #notBeforeMs = 0

  constructor(home: HomeWords) {
    this.#home = home
  }

  /**
   * Ask them, and wait until `isThere` (looked at again whenever one has looked), all have looked, or the time is over.
   * Calls at the same time are one.
   */
  ask(isThere: () => Promise<boolean>): Promise<Asked> {
    if (this.#home.words.nowMs() < this.#notBeforeMs) return Promise.resolve(this.#asked)
    this.#asking ??= this.#ask(isThere).finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  /** This rank was asked, and has looked. */
  async answer(): Promise<void> {
    await this.#home.fetchAdd64(RECLAIMED_OFFSET, 1n)
  }

  async #ask(isThere: () => Promise<boolean>): Promise<Asked> {
    const { words, home } = this.#home
    const others = Array.from({ length: words.ranks }, (_, rank) => rank).filter(
      (rank) => rank !== words.rank && words.isMember(rank),
    )
    const before = await this.#home.load64(RECLAIMED_OFFSET)
    const endMs = words.nowMs() + WAIT_MS_MAX
    for (const rank of others) words.ring(rank, home, RECLAIMED_OFFSET)
    let looked = 0
    for (
      let pauseMs = 0.25;
      looked < others.length && words.nowMs() < endMs;
      pauseMs = Math.min(PAUSE_MS_MAX, 2 * pauseMs)
    ) {
      await words.sleep(pauseMs)
      const now = Math.min(
        others.length,
        Number(BigInt.asUintN(64, (await this.#home.load64(RECLAIMED_OFFSET)) - before)),
      )
      if (now === looked) continue
      looked = now
      if (await isThere()) break
    }
    if (words.nowMs() >= endMs) this.#notBeforeMs = words.nowMs() + ASK_AGAIN_MS
    this.#asked = { ranks: others.length, looked }
    return this.#asked
  }
}

/** For an error, what came of it. */
export function saidOf({ ranks, looked }: Asked): string {
  if (ranks === 0) return ''
  return looked >= ranks
    ? '; no rank has any to release'
    : `; ${ranks - looked} of ${ranks} other ranks did not answer in time whether they have any to release`
}
