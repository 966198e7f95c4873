import type { WaitOptions } from '../../waiting/wait-options.ts'
import type { GroupMemory } from '../memory/group-memory.ts'
import { READERS_OFFSET } from '../memory/layout.ts'
import type { Bells } from '../waiting/bells.ts'
import type { GroupBell } from '../waiting/group-bell.ts'
import { lookMs } from '../waiting/look-ms.ts'
import { Waiter } from '../waiting/waiter.ts'
import { waitingRanksBytes } from '../waiting/waiting-ranks.ts'

/**
 * Waiting until sections of readers have ended, at several ranks at a time. There is a bell at each, with its marks in
 * the memory of the reader. The reader looks at them after it has recorded there that a section has ended. A wait
 * leaves its mark at each of these ranks, and looks once more. See {@link GroupBell} for why that is enough. At its own
 * rank it is told directly.
 */
export class ReaderBells {
  readonly #group: GroupMemory
  readonly #bells: Bells

  constructor(group: GroupMemory, bells: Bells) {
    this.#group = group
    this.#bells = bells
  }

  /** A section of this rank has ended, and that is written. */
  ended(): void {
    const own = this.#bellOf(this.#group.rank)
    own.rung()
    const seen: bigint[] = []
    for (let at = 0; at < waitingRanksBytes(this.#group.ranks); at += 8)
      seen.push(this.#group.loadOwn(READERS_OFFSET + at))
    void own.wake(seen)
  }

  /** Until `attempt`, which looks at the ranks that are `waited` for, says so. */
  async wait(
    attempt: () => Promise<boolean>,
    waited: () => Iterable<number>,
    { signal }: WaitOptions = {},
  ): Promise<void> {
    signal?.throwIfAborted()
    if (await attempt()) return
    using waiter = new Waiter(this.#group, signal)
    const at = new Set<GroupBell>()
    try {
      for (let looks = 0; ; looks += 1) {
        signal?.throwIfAborted()
        if (await this.#look(waiter, at, attempt, waited)) return
        await waiter.sleep(lookMs(this.#group, looks))
      }
    } finally {
      for (const bell of at) bell.leave(waiter)
    }
  }

  async #look(
    waiter: Waiter,
    at: Set<GroupBell>,
    attempt: () => Promise<boolean>,
    waited: () => Iterable<number>,
  ): Promise<boolean> {
    if (waiter.takeStir() && (await attempt())) return true
    for (;;) {
      const marking = [...waited()].map((rank) => {
        const bell = this.#bellOf(rank)
        at.add(bell)
        bell.enter(waiter)
        return rank === this.#group.rank || bell.mark()
      })
      const isOver = await attempt()
      const marked = await Promise.all(marking)
      if (isOver || marked.every(Boolean)) return isOver
    }
  }

  #bellOf(rank: number): GroupBell {
    return this.#bells.at({ group: this.#group, home: rank, what: 'rcu', place: READERS_OFFSET }, 'all')
  }
}
