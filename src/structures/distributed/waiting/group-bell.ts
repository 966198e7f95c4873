import { type WaitDescription, WatchedWait } from '../../../profiling/index.ts'
import type { WaitOptions } from '../../waiting/wait-options.ts'
import type { ReadCommand } from '../memory/command.ts'
import { lookMs } from './look-ms.ts'
import { Waiter } from './waiter.ts'
import { type MarksPlace, WaitingRanks } from './waiting-ranks.ts'

/** Which waiters a ring is for: one of them, which takes what is there, or all of them. */
export type RingKind = 'one' | 'all'

/** Options of waiting. */
export interface BellOptions extends WaitOptions {
  /** The longest sleep without a look, where that has to be shorter than usual. */
  readonly lookMsMax?: number
  /** Describes a wait that lasts, if a rank holds what is waited for. */
  readonly describe?: () => WaitDescription
}

/** Tries once; undefined if it is not available yet. */
type Attempt<T> = () => Promise<T | undefined>

/**
 * Sleeping until something at a home changes, and waking sleepers at any rank.
 *
 * 1. A waiter leaves its rank's mark beside the thing (waiting-ranks.ts), looks once more, and sleeps.
 * 2. A rank that changes the thing reads the marks behind the change, in the same batch. Requests of one connection are
 *    carried out in order. So either the waiter's look comes after the change and sees it, or the mark comes before the
 *    READ and is seen.
 * 3. A rank that sees marks takes away one, or all, and tells those ranks by a message through the group, without
 *    waiting for it.
 *
 * Correctness does not depend on the message:
 * 1. A rank that died may not have sent it. So all waiters look when a rank has ended (`GroupMemory.sleep`).
 * 2. A rank that was told and is stopped takes nothing from the others, but they hear nothing. So sleepers look from
 *    time to time anyway (look-ms.ts).
 * 3. A ring for one rank where no call waits any more is passed on.
 *
 * If a ring is for one, the calls of this rank stand in line and only the first one looks. The others are told when it
 * goes.
 */
export class GroupBell {
  readonly #at: MarksPlace
  readonly #kind: RingKind
  readonly #ranks: WaitingRanks
  /** In the order in which they came. */
  readonly #waiters = new Set<Waiter>()
  /** The rank that this rank has rung for last. */
  #last: number

  constructor(at: MarksPlace, kind: RingKind) {
    this.#at = at
    this.#kind = kind
    this.#ranks = new WaitingRanks(at)
    this.#last = at.group.rank
  }

  /** A READ of the marks; for a batch, behind the change. */
  read(): ReadCommand {
    return this.#ranks.read()
  }

  /**
   * The thing was changed, and this READ, which was carried out after that, covers the marks. Resolves when the ranks
   * to wake are told; callers do not have to wait for it.
   */
  async ring(read: ReadCommand): Promise<void> {
    const seen = this.#ranks.seenIn(read)
    if (seen !== undefined) await this.wake(seen)
  }

  /** The same, with the words of the marks as they were seen. */
  async wake(seen: bigint[]): Promise<void> {
    if (seen.every((word) => word === 0n)) return
    // Where the home is lost, or all is closed, those who wait hear of that.
    await this.#wake(seen).catch(() => {})
  }

  /** Try until it succeeds. */
  async wait<T>(attempt: Attempt<T>, { signal, lookMsMax, describe }: BellOptions = {}): Promise<T> {
    signal?.throwIfAborted()
    const first = await attempt()
    if (first !== undefined) return first
    using waiter = new Waiter(this.#at.group, signal)
    using watched = describe && new WatchedWait(describe)
    this.enter(waiter)
    try {
      for (let looks = 0; ; looks += 1) {
        signal?.throwIfAborted()
        const outcome = await this.#look(waiter, attempt)
        if (outcome !== undefined) return outcome
        await waiter.sleep(lookMs(this.#at.group, looks, lookMsMax))
        watched?.look()
      }
    } finally {
      this.leave(waiter)
    }
  }

  /** From now on this call is one of those that are stirred, and the marks are its. */
  enter(waiter: Waiter): void {
    this.#waiters.add(waiter)
  }

  leave(waiter: Waiter): void {
    const wasFirst = this.#isFirst(waiter)
    this.#waiters.delete(waiter)
    const [next] = this.#waiters
    if (next === undefined) {
      this.#ranks.unmark(() => this.#waiters.size > 0).catch(() => {})
      if (this.#kind === 'one' && waiter.isStirred) void this.#passOn()
    } else if (this.#kind === 'one' && wasFirst) next.stir()
  }

  /**
   * Say at the home that this rank waits. False where that has to be done again. What is begun after this call goes
   * over the same connection, and so is carried out after it. Where the home is lost the look says so.
   */
  mark(): Promise<boolean> {
    return this.#ranks.mark().catch(() => true)
  }

  /** This rank was told. */
  rung(): void {
    this.#ranks.taken()
    const [first] = this.#waiters
    if (first === undefined) {
      if (this.#kind === 'one') void this.#passOn()
    } else if (this.#kind === 'one') first.stir()
    else for (const waiter of this.#waiters) waiter.stir()
  }

  /** Undefined where there is nothing to do but to sleep. */
  async #look<T>(waiter: Waiter, attempt: Attempt<T>): Promise<T | undefined> {
    if (this.#kind === 'one' && !this.#isFirst(waiter)) return undefined
    if (waiter.takeStir()) {
      const outcome = await attempt().catch((error: unknown) => {
        // Nothing came of the ring: it is for the next one.
        waiter.stir()
        throw error
      })
      if (outcome !== undefined) return outcome
    }
    for (;;) {
      const marking = this.mark()
      const outcome = await attempt()
      if (outcome !== undefined || (await marking)) return outcome
    }
  }

  #isFirst(waiter: Waiter): boolean {
    const [first] = this.#waiters
    return first === waiter
  }

  /** A ring that no call here has a use for. */
  async #passOn(): Promise<void> {
    const { group, home, what } = this.#at
    const read = this.read()
    try {
      await group.run(home, what, [read])
    } catch {
      // The home is lost, or this rank leaves: waiters look by themselves, later.
      return
    }
    await this.ring(read)
  }

  async #wake(seen: bigint[]): Promise<void> {
    if (this.#kind === 'all') for (const rank of await this.#ranks.takeAll(seen)) this.#tell(rank)
    else {
      const rank = await this.#ranks.takeOne(seen, this.#last)
      if (rank === undefined) return
      this.#last = rank
      this.#tell(rank)
    }
  }

  #tell(rank: number): void {
    const { group, home, place } = this.#at
    if (rank === group.rank) this.rung()
    else group.ring(rank, home, place)
  }
}
