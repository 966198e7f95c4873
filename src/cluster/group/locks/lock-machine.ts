import { monotonicNow } from '../../../profiling/index.ts'
import { decodeLockMessage, encodeLockMessage, type LockMessage } from './lock-message.ts'
import { type LockMode, LockQueue, NOBODY } from './lock-queue.ts'

/** How many entries of a queue are reported when a rank asks why a lock does not come. */
const TOLD_MAX = 16

/** The outcome of a request for a lock. */
export type LockOutcome =
  | { readonly kind: 'granted'; readonly abandonedBy: number }
  /** It was given up; these ranks hold the lock, as far as is known. */
  | { readonly kind: 'givenUp'; readonly holders: readonly number[] }

/** A lock that this rank holds or wants. */
interface Own {
  readonly name: string
  readonly mode: LockMode
  state: 'waiting' | 'held' | 'leaving'
  abandonedBy: number
  /** Of {@link monotonicNow}. */
  readonly sinceNs: number
  readonly done: (outcome: LockOutcome) => void
}

export interface LockMachineOptions {
  readonly rank: number
  readonly size: number
  readonly send: (rank: number, bytes: Uint8Array) => void
  /** The members of a group that grows, as this rank finds them; undefined for ranks 0 to `size` - 1. */
  readonly members?: readonly number[]
}

/**
 * The agent's side of locks. One rank, chosen by the lock's name, keeps the lock's queue. When that rank dies, the next
 * live rank keeps it.
 *
 * A new keeper knows nothing of the old queue, so ranks report:
 *
 * 1. A rank that learns of a death tells the successor what it holds and wants of the dead rank's locks.
 * 2. It then reports the death to every rank.
 * 3. A keeper that knows of a death grants nothing until all live ranks have reported it.
 * 4. A rank may be asked as keeper before it knows of the death, by a rank that heard of it first. It keeps the
 *    question and grants nothing until it knows by itself that it is the keeper. Before that it has no reports to wait
 *    for.
 *
 * In a group that grows the lowest rank keeps all locks, so a new member takes none over. It has nothing to report of
 * deaths before it came, and is not waited for.
 *
 * No rank can tell whether the dead keeper itself held a lock that passed on in this way. So the lock counts as
 * abandoned unless a holder is known.
 */
export class LockMachine {
  readonly #options: LockMachineOptions
  readonly #own = new Map<number, Own>()
  readonly #queues = new Map<string, LockQueue>()
  readonly #dead = new Set<number>()
  readonly #living: Set<number>
  /** By rank that has died: the others that lived then. */
  readonly #witnesses = new Map<number, readonly number[]>()
  /** Which ranks have reported each death, including deaths that are not known here yet. */
  readonly #reports = new Map<number, Set<number>>()

  constructor(options: LockMachineOptions) {
    this.#options = options
    this.#living = new Set(options.members ?? Array.from({ length: options.size }, (_, rank) => rank))
  }

  memberJoined(rank: number): void {
    this.#living.add(rank)
  }

  /**
   * Ask for the lock. `done` is called once: when it is granted, or if `release` was called before. This rank must
   * never have used `token`: an answer to an earlier request may still be under way.
   */
  want(token: number, name: string, mode: LockMode, done: (outcome: LockOutcome) => void): void {
    this.#own.set(token, { name, mode, state: 'waiting', abandonedBy: NOBODY, sinceNs: monotonicNow(), done })
    this.#tell(this.#keeperOf(name), { op: 'want', name, token, mode })
  }

  /**
   * Release the lock, or give up. `had`: the program had the lock; false if it had stopped waiting before it knew of
   * the grant.
   */
  release(token: number, had: boolean): void {
    const own = this.#own.get(token)
    if (own === undefined || own.state === 'leaving') return
    if (own.state === 'held') this.#own.delete(token)
    else own.state = 'leaving'
    this.#tell(this.#keeperOf(own.name), { op: 'release', name: own.name, token, had })
  }

  /** This rank leaves the group. */
  leave(): void {
    for (const [token, { state }] of [...this.#own]) this.release(token, state === 'held')
  }

  /** What this rank waits for. */
  *waiting(): Iterable<{
    readonly token: number
    readonly name: string
    readonly mode: LockMode
    readonly sinceNs: number
  }> {
    for (const [token, { name, mode, state, sinceNs }] of this.#own)
      if (state === 'waiting') yield { token, name, mode, sinceNs }
  }

  /** True if this rank holds the lock. */
  holds(name: string): boolean {
    return [...this.#own.values()].some((own) => own.name === name && own.state === 'held')
  }

  /** The holders and waiters of the lock in order, if this rank keeps it. */
  queueOf(name: string): readonly (readonly [rank: number, token: number, granted: 0 | 1])[] | null {
    const queue = this.#queues.get(name)
    if (queue === undefined || this.#keeperOf(name) !== this.#options.rank) return null
    return queue.entries.slice(0, TOLD_MAX).map(({ rank, token, granted }) => [rank, token, granted ? 1 : 0])
  }

  /** Returns false if the bytes are not a message about locks. */
  receive(from: number, bytes: Uint8Array): boolean {
    const message = decodeLockMessage(bytes)
    if (message === undefined) return false
    this.#handle(from, message)
    return true
  }

  memberDied(rank: number): void {
    const before = [...this.#own].filter(([, { name }]) => this.#keeperOf(name) === rank)
    this.#dead.add(rank)
    this.#living.delete(rank)
    this.#witnesses.set(rank, [...this.#living])
    for (const queue of this.#queues.values()) queue.memberDied(rank)
    for (const [token, own] of before) this.#tellSuccessor(token, own)
    for (const other of [...this.#living]) this.#tell(other, { op: 'report', dead: rank })
    this.#grantAll()
  }

  #tellSuccessor(token: number, own: Own): void {
    const { name, mode, state, abandonedBy } = own
    const keeper = this.#keeperOf(name)
    if (state === 'leaving') this.#end(token, [])
    else if (state === 'held') this.#tell(keeper, { op: 'hold', name, token, mode, abandonedBy })
    else this.#tell(keeper, { op: 'want', name, token, mode })
  }

  #tell(to: number, message: LockMessage): void {
    if (to === this.#options.rank) this.#handle(to, message)
    else this.#options.send(to, encodeLockMessage(message))
  }

  #handle(from: number, message: LockMessage): void {
    switch (message.op) {
      case 'want':
        this.#queueFor(message.name).add(from, message.token, message.mode)
        this.#grant(message.name)
        break
      case 'hold':
        this.#queueFor(message.name).addHolder(from, message.token, message.mode, message.abandonedBy)
        break
      case 'release': {
        const { token, name, had } = message
        const queue = this.#queueFor(name)
        queue.remove(from, token, had)
        this.#tell(from, { op: 'released', token, holders: queue.holders })
        this.#grant(name)
        break
      }
      case 'granted':
        this.#granted(message.token, message.abandonedBy)
        break
      case 'released':
        this.#end(message.token, message.holders)
        break
      case 'report':
        this.#reportsOf(message.dead).add(from)
        this.#grantAll()
    }
  }

  /** If it was given up in the meantime, the message that tells the keeper so is under way. */
  #granted(token: number, abandonedBy: number): void {
    const own = this.#own.get(token)
    if (own?.state !== 'waiting') return
    own.state = 'held'
    own.abandonedBy = abandonedBy
    own.done({ kind: 'granted', abandonedBy })
  }

  #end(token: number, holders: readonly number[]): void {
    const own = this.#own.get(token)
    if (own?.state !== 'leaving') return
    this.#own.delete(token)
    own.done({ kind: 'givenUp', holders })
  }

  #grantAll(): void {
    for (const name of [...this.#queues.keys()]) this.#grant(name)
  }

  #grant(name: string): void {
    const queue = this.#queues.get(name)
    if (queue === undefined || this.#keeperOf(name) !== this.#options.rank || !this.#isSettled()) return
    const { abandonedBy } = queue
    for (const { rank, token } of queue.grant()) this.#tell(rank, { op: 'granted', token, abandonedBy })
    // A queue that came from a dead keeper is remembered: a new one of its name would count as abandoned.
    if (queue.isEmpty && queue.abandonedBy === NOBODY && this.#firstOf(name) === this.#options.rank)
      this.#queues.delete(name)
  }

  /** Every death that is known here has been reported by all live ranks. */
  #isSettled(): boolean {
    for (const [dead, witnesses] of this.#witnesses)
      for (const rank of witnesses) if (!this.#dead.has(rank) && !this.#reportsOf(dead).has(rank)) return false
    return true
  }

  #queueFor(name: string): LockQueue {
    let queue = this.#queues.get(name)
    if (queue === undefined) {
      const first = this.#firstOf(name)
      queue = new LockQueue(first === this.#options.rank ? NOBODY : first)
      this.#queues.set(name, queue)
    }
    return queue
  }

  #reportsOf(dead: number): Set<number> {
    const known = this.#reports.get(dead) ?? new Set()
    this.#reports.set(dead, known)
    return known
  }

  /** The rank that keeps the lock while all ranks live. */
  #firstOf(name: string): number {
    const { members } = this.#options
    if (members !== undefined) return members[0]!
    let hash = 0
    for (let index = 0; index < name.length; index += 1) hash = (Math.imul(hash, 31) + name.charCodeAt(index)) >>> 0
    return hash % this.#options.size
  }

  #keeperOf(name: string): number {
    if (this.#options.members !== undefined) return Math.min(...this.#living)
    let rank = this.#firstOf(name)
    while (this.#dead.has(rank)) rank = (rank + 1) % this.#options.size
    return rank
  }
}
