import { checkAbort } from '../../../native/index.ts'
import type { HolderWords } from '../../claim.ts'
import { type Leader, Leadership } from '../../leader.ts'
import { lowOf, termOf, termWord } from '../../term-word.ts'
import type { WaitOptions } from '../../waiting/wait-options.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { CompareExchangeCommand } from '../memory/command.ts'
import type { Promised } from '../memory/promised.ts'
import type { GroupBell } from '../waiting/group-bell.ts'
import { LeaseWatch } from './lease-watch.ts'

/**
 * ```
 *  63 … 32 term   31 … 16 how often it was renewed   15 … 0 rank + 1 of the leader, or 0: it has resigned
 * ```
 */
interface Term {
  readonly term: number
  readonly renewals: number
  readonly rank: number | undefined
}

function encode({ term, renewals, rank }: Term): bigint {
  return termWord(term, ((renewals & 0xffff) << 16) | (rank === undefined ? 0 : rank + 1))
}

function decode(word: bigint): Term {
  const low = lowOf(word)
  const rank = low & 0xffff
  return { term: termOf(word), renewals: low >>> 16, rank: rank === 0 ? undefined : rank - 1 }
}

/** How often a candidate looks in a lease: a stopped leader wakes no one. */
const LOOKS_PER_LEASE = 4

/**
 * One leader at a time, among the ranks of a group, for as long as it renews its lease; as {@link Leader} on one
 * machine.
 *
 * The state is one word without a time in it, since clocks of several machines differ:
 * 1. A leader renews by changing the word, and counts its lease from *before* it began to do so.
 * 2. A follower counts from *after* its first look at the word. The change was made before that look. So if it has seen
 *    the same word for longer than a lease, the leader's lease is over.
 * 3. So only the rates of the clocks matter.
 *
 * `tryCampaign` is a READ and a compare-and-swap, two round trips; a renewal is one.
 *
 * A leader that dies is followed at once. One that is stopped is followed when its lease is over, by a follower that
 * looked meanwhile; a waiting one looks four times a lease. Otherwise it is followed when the group gives it up.
 */
export class GroupLeader implements Promised<Leader> {
  readonly name: string
  readonly leaseMs: number
  readonly #memory: HomeMemory
  readonly #offset: number
  readonly #bell: GroupBell
  readonly #watch: LeaseWatch
  readonly #terms: HolderWords<bigint> = {
    says: (word) => (decode(word).rank === undefined || this.#watch.isOver ? 'no one' : 'someone'),
    isThere: (word) => this.#memory.group.isMember(decode(word).rank!),
    next: (word) => encode({ term: termOf(word) + 1, renewals: 0, rank: this.#memory.group.rank }),
  }

  /** @internal */
  constructor(name: string, memory: HomeMemory, offset: number, leaseMs: number) {
    this.name = name
    this.leaseMs = leaseMs
    this.#memory = memory
    this.#offset = offset
    this.#bell = memory.bell(offset + 8, 'one')
    this.#watch = new LeaseWatch(leaseMs)
  }

  /** Resolves when this rank leads. @throws HomeLostError, of all methods. */
  async campaign(options?: WaitOptions): Promise<Leadership> {
    checkAbort('campaign', options)
    const lookMsMax = this.leaseMs / LOOKS_PER_LEASE
    return await this.#bell.wait(() => this.#attempt(), { ...options, lookMsMax })
  }

  /**
   * Resolves with undefined if another rank leads, or may still lead: it takes two calls, a lease apart, to tell that a
   * leader is silent.
   */
  async tryCampaign(options?: WaitOptions): Promise<Leadership | undefined> {
    checkAbort('tryCampaign', options)
    return await this.#attempt()
  }

  /** The present term, 0 before the first. The term does not tell whether there is a leader now. */
  async term(options?: WaitOptions): Promise<number> {
    checkAbort('term', options)
    return termOf(await this.#memory.load64(this.#offset))
  }

  async #attempt(): Promise<Leadership | undefined> {
    const { group } = this.#memory
    const seen = await this.#memory.load64(this.#offset)
    const beganMs = group.nowMs()
    this.#watch.look(seen, beganMs)
    const { word } = await this.#memory.claim(this.#offset, this.#terms, seen)
    if (word === undefined) return undefined
    const place = { memory: this.#memory, offset: this.#offset, bell: this.#bell }
    const lease = new GroupLease(place, this.leaseMs, word, beganMs)
    const leadership = new Leadership(lease)
    const resign = async (): Promise<void> => {
      await leadership.resign()
      await lease.settled
    }
    this.#memory.holds.add(resign)
    leadership.signal.addEventListener('abort', () => this.#memory.holds.delete(resign), { once: true })
    return leadership
  }
}

/** One term, as its leader holds it. Requests to the home run in the background: the leader goes by its own clock. */
class GroupLease {
  readonly term: number
  readonly leaseMs: number
  readonly #memory: HomeMemory
  readonly #offset: number
  readonly #bell: GroupBell
  #word: bigint
  /** The lease counts from here. */
  #renewedMs: number
  #renewing = false
  /** The present request to the home. */
  settled: Promise<void> = Promise.resolve()
  #ended = false

  constructor(
    { memory, offset, bell }: { readonly memory: HomeMemory; readonly offset: number; readonly bell: GroupBell },
    leaseMs: number,
    word: bigint,
    renewedMs: number,
  ) {
    this.term = termOf(word)
    this.leaseMs = leaseMs
    this.#memory = memory
    this.#offset = offset
    this.#bell = bell
    this.#word = word
    this.#renewedMs = renewedMs
  }

  isCurrent(): boolean {
    return !this.#ended && this.#memory.group.nowMs() - this.#renewedMs < this.leaseMs
  }

  renew(): boolean {
    if (!this.isCurrent()) return false
    if (!this.#renewing) this.settled = this.#replace(this.#next())
    return true
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    if (!this.#renewing) this.settled = this.#replace(encode({ ...decode(this.#word), rank: undefined }))
  }

  #next(): bigint {
    const { term, renewals, rank } = decode(this.#word)
    return encode({ term, renewals: renewals + 1, rank })
  }

  async #replace(by: bigint): Promise<void> {
    this.#renewing = true
    const beganMs = this.#memory.group.nowMs()
    try {
      if (!(await this.#swap(by))) this.#ended = true
      else {
        this.#word = by
        this.#renewedMs = beganMs
      }
    } catch {
      // The home is lost, or the structures were closed: the lease runs out by itself.
    } finally {
      this.#renewing = false
    }
    // It was given up meanwhile.
    if (this.#ended && decode(this.#word).rank !== undefined) await this.#resign()
  }

  async #resign(): Promise<void> {
    const { term, renewals } = decode(this.#word)
    const ended = encode({ term, renewals, rank: undefined })
    await this.#swap(ended).catch(() => {})
    this.#word = ended
  }

  /** If that gives the leadership up, one of the waiters is told. */
  async #swap(by: bigint): Promise<boolean> {
    const swap = new CompareExchangeCommand(this.#offset, this.#word, by)
    const waiting = this.#bell.read()
    await this.#memory.run([swap, waiting])
    if (swap.swapped && decode(by).rank === undefined) await this.#bell.ring(waiting)
    return swap.swapped
  }
}
