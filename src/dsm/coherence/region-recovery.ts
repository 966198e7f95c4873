/**
 * How a region goes on after members are gone: the same for every protocol, and outside of their tables. A synchronous
 * state machine. There is one for each region and member, also for members that have not opened the region: they may be
 * the next home of its pages.
 *
 * 1. Freeze. On a new view each member stops acting on messages and demands, and sends `flush` to every other, behind
 *    all that it sent before. Once all flushes have arrived, so has everything that was under way. Answers among it are
 *    taken in (their bytes have come); the rest is forgotten.
 * 2. Claim. Each member tells each page's home what its copy is worth. A dead home's pages have moved to the next live
 *    rank.
 * 3. Judge. With all claims each home decides what becomes of each copy, rebuilds its entries, and tells the claimants.
 * 4. Ready. A member that has done what it was told says so to all. When all members have said so, and not before, it
 *    goes on in the new epoch and asks again for what its threads wait for. From then on it drops messages of older
 *    epochs.
 *
 * Recovery does not wait for a program that holds a copy which is to go (a pin may last). Its member says which copies
 * those are before it is ready, and when each has gone. Until then the page's new owner, through which all requests for
 * it come, neither writes it nor hands it on.
 *
 * Another death in the middle starts recovery over. That is safe at any point:
 *
 * 1. Until all members are ready, no rank writes that did not write before. So copies that were told to go and copies
 *    that were told to stay hold the same bytes.
 * 2. Once a member has the word of all that they are ready, all have done as they were told.
 */
import type { ClaimEntry, RecoveryMessage, VerdictEntry } from './recovery-message.ts'
import type { RankClaim } from './recovery-verdict.ts'

/** The members of an epoch, ascending. */
export interface EpochMembers {
  readonly epoch: number
  readonly members: readonly number[]
}

/** What a recovery works on. */
export interface RecoveryHost {
  /** Everything that was under way is here. Returns what this member has, with the home of each page. */
  claims(): Iterable<ClaimEntry & { readonly home: number }>
  /** All claims to pages whose home this member is. Returns what becomes of them. */
  judge(claims: ReadonlyMap<number, readonly RankClaim[]>): Iterable<VerdictEntry & { readonly rank: number }>
  /**
   * Do what the homes have decided. Returns the pages that are to go and are held; {@link RegionRecovery.left} follows
   * for each.
   */
  apply(verdicts: ReadonlyMap<number, VerdictEntry['verdict']>): Iterable<number>
  /** No rank holds `page` any more that was to drop it. */
  released(page: number): void
  /** Go on in the epoch. */
  resume(epoch: number): void
}

type Phase = 'idle' | 'flushing' | 'claiming' | 'judging' | 'ready'

export class RegionRecovery {
  readonly #rank: number
  readonly #send: (to: number, message: RecoveryMessage) => void
  readonly #host: RecoveryHost
  #view: EpochMembers
  #phase: Phase = 'idle'
  /** The last epoch that was recovered. */
  #recovered: number
  readonly #flushed = new Set<number>()
  readonly #claimed = new Set<number>()
  readonly #judged = new Set<number>()
  readonly #ready = new Set<number>()
  readonly #claims = new Map<number, RankClaim[]>()
  readonly #verdicts = new Map<number, VerdictEntry['verdict']>()
  /** Ranks that hold copies which were to go. */
  readonly #held = new Map<number, Set<number>>()
  /** Of epochs that this member has not heard of yet. */
  #early: { readonly from: number; readonly message: RecoveryMessage }[] = []

  /** `recovered`: the epoch in which the region is in order; -1 where that is not known. */
  constructor(
    rank: number,
    view: EpochMembers,
    recovered: number,
    host: RecoveryHost,
    send: (to: number, message: RecoveryMessage) => void,
  ) {
    this.#rank = rank
    this.#view = view
    this.#recovered = recovered
    this.#host = host
    this.#send = send
  }

  get isIdle(): boolean {
    return this.#phase === 'idle'
  }

  /** The last epoch in which all members were ready. */
  get recovered(): number {
    return this.#recovered
  }

  get view(): EpochMembers {
    return this.#view
  }

  /** The last decision has been carried out here, or will be: no new round has begun since. */
  get isDecided(): boolean {
    return this.#phase === 'idle' || this.#phase === 'ready'
  }

  /** Another member's program holds a copy of the page that was to go. */
  isHeld(page: number): boolean {
    return this.#held.has(page)
  }

  /**
   * The group is in another epoch, or this member has a region of which it does not know whether it was recovered in
   * this one.
   */
  begin(view: EpochMembers): void {
    this.#view = view
    const all = [this.#flushed, this.#claimed, this.#judged, this.#ready, this.#claims, this.#verdicts, this.#held]
    for (const each of all) each.clear()
    this.#phase = 'flushing'
    this.#tellAll({ kind: 'flush', epoch: view.epoch })
    this.#flushed.add(this.#rank)
    const early = this.#early
    this.#early = []
    for (const { from, message } of early) this.#take(from, message)
    this.#advance()
  }

  receive(from: number, message: RecoveryMessage): void {
    this.#take(from, message)
    this.#advance()
  }

  /** A copy that was to go, and was held, is gone. */
  left(page: number): void {
    this.#tellAll({ kind: 'left', epoch: this.#view.epoch, pages: [page] })
  }

  #take(from: number, message: RecoveryMessage): void {
    const { epoch } = this.#view
    if (message.epoch > epoch) this.#early.push({ from, message })
    if (message.epoch !== epoch || !this.#view.members.includes(from)) return
    // It does not know that the region is in order here, or there was none here when the view came.
    if (this.#phase === 'idle' && message.kind === 'flush' && this.#recovered < epoch) this.begin(this.#view)
    switch (message.kind) {
      case 'flush':
        this.#flushed.add(from)
        break
      case 'claims':
        this.#takeClaims(from, message.entries)
        if (message.last) this.#claimed.add(from)
        break
      case 'verdicts':
        for (const { page, verdict } of message.entries) this.#verdicts.set(page, verdict)
        if (message.last) this.#judged.add(from)
        break
      case 'held':
        for (const page of message.pages) this.#held.set(page, (this.#held.get(page) ?? new Set()).add(from))
        break
      case 'left':
        for (const page of message.pages) this.#takeLeft(from, page)
        break
      default:
        this.#ready.add(from)
    }
  }

  #takeLeft(from: number, page: number): void {
    const holders = this.#held.get(page)
    if (holders?.delete(from) !== true || holders.size > 0) return
    this.#held.delete(page)
    this.#host.released(page)
  }

  #advance(): void {
    if (this.#phase === 'flushing' && this.#isFrom(this.#flushed)) this.#claim()
    if (this.#phase === 'claiming' && this.#isFrom(this.#claimed)) this.#judge()
    if (this.#phase === 'judging' && this.#isFrom(this.#judged)) this.#apply()
    if (this.#phase === 'ready' && this.#isFrom(this.#ready)) {
      this.#phase = 'idle'
      this.#recovered = this.#view.epoch
      this.#host.resume(this.#view.epoch)
    }
  }

  #isFrom(heard: ReadonlySet<number>): boolean {
    return this.#view.members.every((rank) => heard.has(rank))
  }

  #claim(): void {
    this.#phase = 'claiming'
    const byHome = new Map<number, ClaimEntry[]>()
    for (const { page, claim, home } of this.#host.claims()) add(byHome, home, { page, claim })
    for (const home of this.#view.members) {
      const entries = byHome.get(home) ?? []
      if (home === this.#rank) this.#takeClaims(home, entries)
      else this.#send(home, { kind: 'claims', epoch: this.#view.epoch, entries, last: true })
    }
    this.#claimed.add(this.#rank)
  }

  #takeClaims(rank: number, entries: readonly ClaimEntry[]): void {
    for (const { page, claim } of entries) add(this.#claims, page, { rank, claim })
  }

  #judge(): void {
    this.#phase = 'judging'
    const byRank = new Map<number, VerdictEntry[]>()
    for (const { rank, page, verdict } of this.#host.judge(this.#claims)) add(byRank, rank, { page, verdict })
    for (const rank of this.#view.members) {
      const entries = byRank.get(rank) ?? []
      if (rank !== this.#rank) this.#send(rank, { kind: 'verdicts', epoch: this.#view.epoch, entries, last: true })
      else for (const { page, verdict } of entries) this.#verdicts.set(page, verdict)
    }
    this.#judged.add(this.#rank)
  }

  #apply(): void {
    const { epoch } = this.#view
    this.#phase = 'ready'
    const pages = [...this.#host.apply(this.#verdicts)]
    if (pages.length > 0) this.#tellAll({ kind: 'held', epoch, pages })
    this.#tellAll({ kind: 'ready', epoch })
    this.#ready.add(this.#rank)
  }

  #tellAll(message: RecoveryMessage): void {
    for (const rank of this.#view.members) if (rank !== this.#rank) this.#send(rank, message)
  }
}

function add<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
