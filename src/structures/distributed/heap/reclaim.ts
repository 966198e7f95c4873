import { RECLAIMED_OFFSET } from '../memory/layout.ts'
import type { HomeMemory } from './home-memory.ts'

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
  readonly #memory: HomeMemory
  #asking: Promise<Asked> | undefined
  #asked: Asked = { ranks: 0, looked: 0 }
  #notBeforeMs = 0

  constructor(memory: HomeMemory) {
    this.#memory = memory
  }

  /**
   * Ask them, and wait until `isThere` (looked at again whenever one has looked), all have looked, or the time is over.
   * Calls at the same time are one.
   */
  ask(isThere: () => Promise<boolean>): Promise<Asked> {
    if (this.#memory.group.nowMs() < this.#notBeforeMs) return Promise.resolve(this.#asked)
    this.#asking ??= this.#ask(isThere).finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  /** This rank was asked, and has looked. */
  async answer(): Promise<void> {
    await this.#memory.fetchAdd64(RECLAIMED_OFFSET, 1n)
  }

  async #ask(isThere: () => Promise<boolean>): Promise<Asked> {
    const { group, home } = this.#memory
    const others = Array.from({ length: group.ranks }, (_, rank) => rank).filter(
      (rank) => rank !== group.rank && group.isMember(rank),
    )
    const before = await this.#memory.load64(RECLAIMED_OFFSET)
    const endMs = group.nowMs() + WAIT_MS_MAX
    for (const rank of others) group.ring(rank, home, RECLAIMED_OFFSET)
    let looked = 0
    for (
      let pauseMs = 0.25;
      looked < others.length && group.nowMs() < endMs;
      pauseMs = Math.min(PAUSE_MS_MAX, 2 * pauseMs)
    ) {
      await group.sleep(pauseMs)
      const now = Math.min(
        others.length,
        Number(BigInt.asUintN(64, (await this.#memory.load64(RECLAIMED_OFFSET)) - before)),
      )
      if (now === looked) continue
      looked = now
      if (await isThere()) break
    }
    if (group.nowMs() >= endMs) this.#notBeforeMs = group.nowMs() + ASK_AGAIN_MS
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
