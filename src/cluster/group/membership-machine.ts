/**
 * The membership of a group, in epochs: every survivor installs the same sequence of {@link MembershipView}s. A
 * synchronous state machine.
 *
 * A member sends its suspicions (a {@link MembershipStatement}) to all, at every change and at every beat. The others
 * adopt what one member holds against a rank, so their statements become equal. A member installs the next view if both
 * hold:
 *
 * 1. Every remaining member has made the very same statement.
 * 2. The remaining members are a quorum of the present view: more than half of it, or exactly half including its lowest
 *    rank. Or all others are certainly dead: then nothing is counted.
 *
 * A member whose death is certain counts as long as another is only suspected. It may have gone on with that one before
 * it died, and neither may have been able to say so here.
 *
 * A member that can no longer be part of a quorum ends itself. It does so at once if nothing could change that, else
 * after a grace in which the death of silent members may become certain. With `onQuorumLost: 'wait'` the grace does not
 * end: a member without a quorum installs nothing, however long that lasts.
 *
 * Why two halves cannot both go on. Take two sets A and B of members that both installed a view of the same epoch,
 * after a view V. A member of each is alive.
 *
 * 1. Both were counted in V, since some of those left out were not certainly dead. So A and B are not disjoint: only
 *    one is more than half of V, or half with the lowest rank.
 * 2. A and B share a member m, which stated both. Statements only grow, so (say) B is part of A. A member that stated B
 *    does not install A afterwards, so no member of B is in the view of A.
 * 3. The next view N of A's other members has no member of B. Some of those live, so N is counted in A. But B is a
 *    quorum of V: the members of V outside B, which include N, are not more than B. If they are as many, the lowest
 *    rank is in B. So N is no quorum of A, and its members end.
 *
 * This rests on three assumptions:
 *
 * 1. A death that is called certain is certain.
 * 2. All that a rank sent before its certain death arrived before the news of that death.
 * 3. A member that was itself stopped for as long as a lease may have missed what others said. It calls nothing certain
 *    until it has been back for a lease.
 *
 * A group that grows admits one *candidate* at a time, by a statement that *every* member of V makes and that suspects
 * no one. No view before has given its rank, so a process that comes back has another. Four rules keep the argument:
 *
 * 1. A view A = V + x is *settled* for a member once it has heard from a quorum of V that they installed A. Until then
 *    what goes on from A must also be a quorum of V, with a member of V. Otherwise, after A = {0, 1, 2, 3, x}, the set
 *    {2, 3, x} could go on from A. Meanwhile {0, 1}, which do not know that all agreed on x, go on from V.
 * 2. Once A is settled nothing else goes on from V. A quorum of V has a member that installed A. It states nothing
 *    about V any more.
 * 3. A member of V does not listen to x before it has installed A itself.
 * 4. A dead member that had considered this one dead still counts, as does one that was in a later view than this one.
 *    It may have gone on with a process that is unknown here. It told the accused first, and a new member last. So who
 *    learns of its death knows.
 *
 * The test plays these cases and random faults to check the argument, and `membership-explorer` plays every order.
 */

/** The members of one epoch. */
export interface MembershipView {
  readonly epoch: number
  /** Ascending. */
  readonly members: readonly number[]
}

/** What a member says to all others. Ranks ascending. */
export interface MembershipStatement extends MembershipView {
  /** Members that must not be in the next view. */
  readonly out: readonly number[]
  /** Those of them whose death is certain. */
  readonly certain: readonly number[]
  /** Candidates that may be in the next view, by their numbers. Ascending, and empty if anyone is out. */
  readonly joining: readonly number[]
  /** The candidate that this view has admitted; 0 if none. */
  readonly admitted: number
}

export type MembershipEvent =
  /**
   * Time passes; `heard` are the ranks that sent something since the last tick. At least every
   * {@link MembershipOptions.beatNs}.
   */
  | { readonly type: 'tick'; readonly heard: readonly number[] }
  /** The death of a rank is certain, and all that it sent has been handled. */
  | { readonly type: 'ended'; readonly rank: number; readonly why: string }
  /** A rank cannot be reached, or does what no rank does. */
  | { readonly type: 'suspected'; readonly rank: number; readonly why: string }
  | { readonly type: 'stated'; readonly from: number; readonly statement: MembershipStatement }
  /** Every member of the present view is ready for this candidate. A number from 1 to 2^53 - 1, drawn at random. */
  | { readonly type: 'admit'; readonly candidate: number }
  /** A member that is met in another way than through its statements has this view. */
  | { readonly type: 'overheard'; readonly view: MembershipView }

export type MembershipEffect =
  | { readonly type: 'state'; readonly to: number; readonly statement: MembershipStatement }
  /** The next view is in force. `gone` are the members of the last one that are not in it. */
  | {
      readonly type: 'view'
      readonly view: MembershipView
      readonly gone: readonly { readonly rank: number; readonly why: string }[]
      /** The candidate that is a member now. */
      readonly joined?: { readonly rank: number; readonly candidate: number }
    }
  /** This member does not belong to the group any more and must end itself. */
  | { readonly type: 'end'; readonly why: string }

export interface MembershipOptions {
  readonly rank: number
  readonly size: number
  /** A member that is silent for this long is suspected. */
  readonly leaseNs: number
  /** How often a member sends something. */
  readonly beatNs: number
  /** What it does without a quorum. Default `end`. */
  readonly onQuorumLost?: 'end' | 'wait'
  /** Undefined for a group whose members were all there at first. */
  readonly growth?: MembershipGrowth
}

/** Where a member of a group that grows begins. `size` is then the number of ranks that can be given. */
export interface MembershipGrowth {
  /** The present view. The rank after its highest and after {@link given} is the next to be given. */
  readonly view: MembershipView
  /** How many ranks have been given, those of former members included. */
  readonly given: number
  /** The number of this member while it is a candidate: its rank is `given`, and it is not in the view. */
  readonly candidate?: number
}

/**
 * A gap between two ticks of more than this part of a lease is this member's own fault, so it is not counted as silence
 * of others.
 */
const OWN_GAP = 0.25
/** After a gap of this part of a lease others may have made statements that were never heard here. */
const LAPSE = 0.5
/** How long to be without a quorum before ending, as a part of a lease. */
const GRACE = 0.5

const ascending = (ranks: Iterable<number>): number[] => [...ranks].sort((a, b) => a - b)
const same = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((rank, index) => rank === b[index])

export class MembershipMachine {
  readonly #rank: number
  readonly #options: MembershipOptions
  readonly #grows: boolean
  #view: MembershipView
  /** How many ranks have been given. */
  #given: number
  /** Waits to be admitted: it hears statements, and makes none. */
  #isCandidate: boolean
  readonly #joining = new Set<number>()
  #admitted = 0
  /** Members of the view before, while this one has admitted a candidate and is not settled. */
  #before: readonly number[] | undefined
  /** Those of them that are known to have installed this view. */
  readonly #installed = new Set<number>()
  #nowNs = 0
  /** Suspected members, with the reason. */
  #out = new Map<number, string>()
  #certain = new Set<number>()
  /** Members that consider this one dead: they live. */
  #hostile = new Set<number>()
  /** Deaths that became known while this member's own knowledge was not to be trusted. */
  #notYetCertain = new Set<number>()
  /** The last statement of each other member in this epoch. */
  readonly #statements = new Map<number, MembershipStatement>()
  readonly #heardNs: number[]
  #tickedNs = Number.NaN
  #lapsedUntilNs = Number.NEGATIVE_INFINITY
  #withoutQuorumNs = Number.NaN
  #ended = false
  #effects: MembershipEffect[] = []

  constructor(options: MembershipOptions) {
    const { rank, size, growth } = options
    this.#rank = rank
    this.#options = options
    this.#grows = growth !== undefined
    this.#view = growth?.view ?? { epoch: 0, members: Array.from({ length: size }, (_, each) => each) }
    this.#given = growth?.given ?? size
    this.#isCandidate = growth?.candidate !== undefined
    this.#heardNs = new Array<number>(options.size).fill(Number.NaN)
  }

  get view(): MembershipView {
    return this.#view
  }

  /** How many ranks have been given, those of former members included. */
  get given(): number {
    return this.#given
  }

  /** Candidates that may be in the next view. */
  get joining(): ReadonlySet<number> {
    return this.#joining
  }

  /** It is not a member yet. */
  get isCandidate(): boolean {
    return this.#isCandidate
  }

  /** It has no quorum, and ends if that lasts. */
  get isStuck(): boolean {
    return this.#out.size > 0 && !this.#isQuorum(this.#remaining(), this.#certain)
  }

  /** Everything that decides what it does next, as text: for a search through its states. */
  get state(): string {
    const { epoch, members, out, certain, joining } = this.#ownStatement()
    const heard = [...this.#statements].sort(([a], [b]) => a - b).map(([rank, said]) => [rank, Object.values(said)])
    const unsettled = this.#before === undefined ? 0 : [this.#before, ascending(this.#installed)]
    const flags = [this.#isCandidate, this.#ended, this.#admitted, this.#given, ascending(this.#hostile)]
    return JSON.stringify([epoch, members, out, certain, joining, heard, unsettled, flags])
  }

  step(event: MembershipEvent, nowNs: number): readonly MembershipEffect[] {
    this.#effects = []
    if (this.#ended) return this.#effects
    this.#nowNs = nowNs
    const before = this.#ownStatement()
    this.#take(event, nowNs)
    if (this.#isCandidate) return this.#effects
    this.#conclude(before, nowNs)
    if (event.type === 'tick' && !this.#ended) this.#state(this.#view.members)
    return this.#effects
  }

  #take(event: MembershipEvent, nowNs: number): void {
    switch (event.type) {
      case 'tick':
        // A candidate hears from no one until it is admitted.
        if (!this.#isCandidate) this.#tick(event.heard, nowNs)
        break
      case 'ended':
        this.#accuse(event.rank, event.why)
        this.#notYetCertain.add(event.rank)
        if (nowNs >= this.#lapsedUntilNs || this.#allOthersAreDead()) this.#believeInDeaths()
        break
      case 'suspected':
        this.#accuse(event.rank, event.why)
        break
      case 'stated':
        if (this.#isCandidate) this.#hearAsCandidate(event.from, event.statement)
        else this.#hear(event.from, event.statement)
        break
      case 'admit':
        this.#propose([event.candidate])
        break
      case 'overheard':
        if (!this.#isCandidate) this.#overhear(event.view)
    }
  }

  /** Views only follow each other, and a rank that is out of one is in none of those after it. */
  #overhear({ epoch, members }: MembershipView): void {
    if (epoch > this.#view.epoch && !members.includes(this.#rank))
      this.#end('the others have gone on without this rank, as one of them says at a seed')
  }

  /** Someone who is out comes first. */
  #propose(candidates: readonly number[]): void {
    const isFull = this.#given >= this.#options.size
    if (!this.#grows || this.#isCandidate || isFull || this.#out.size > 0) return
    for (const candidate of candidates) this.#joining.add(candidate)
  }

  #hearAsCandidate(from: number, statement: MembershipStatement): void {
    const { epoch, members } = this.#view
    if (!members.includes(from) || statement.epoch <= epoch) return
    const isAdmitted = statement.epoch === epoch + 1 && statement.admitted === this.#options.growth?.candidate
    if (!isAdmitted) {
      this.#end(`the group is in epoch ${statement.epoch} without this rank`)
      return
    }
    this.#isCandidate = false
    this.#install(statement.members, statement.admitted)
    this.#hear(from, statement)
  }

  #tick(heard: readonly number[], nowNs: number): void {
    const { leaseNs } = this.#options
    const gapNs = nowNs - this.#tickedNs
    this.#tickedNs = nowNs
    if (gapNs > LAPSE * leaseNs) this.#lapsedUntilNs = nowNs + leaseNs
    // At first, and after a gap of our own, the leases of all members start again.
    if (!(gapNs <= OWN_GAP * leaseNs)) this.#heardNs.fill(nowNs)
    for (const rank of heard) this.#heardNs[rank] = nowNs
    if (nowNs >= this.#lapsedUntilNs) this.#believeInDeaths()
    for (const rank of this.#view.members) {
      if (nowNs - this.#heardNs[rank]! > leaseNs) this.#accuse(rank, `nothing was heard from it for ${leaseNs / 1e9} s`)
    }
  }

  #accuse(rank: number, why: string): void {
    if (rank === this.#rank || this.#out.has(rank) || !this.#view.members.includes(rank)) return
    this.#out.set(rank, why)
    this.#joining.clear()
  }

  #allOthersAreDead(): boolean {
    const isDead = (rank: number): boolean => this.#certain.has(rank) || this.#notYetCertain.has(rank)
    return this.#view.members.every((rank) => rank === this.#rank || isDead(rank))
  }

  #believeInDeaths(): void {
    for (const rank of this.#notYetCertain) this.#makeCertain(rank)
    this.#notYetCertain.clear()
  }

  /** In a group that grows, members that considered this one dead may have gone on and admitted others. */
  #makeCertain(rank: number): void {
    if (this.#out.has(rank) && !(this.#grows && this.#hostile.has(rank))) this.#certain.add(rank)
  }

  #hear(from: number, statement: MembershipStatement): void {
    if (!this.#view.members.includes(from)) return
    if (statement.epoch > this.#view.epoch) {
      if (!statement.members.includes(this.#rank))
        this.#end(`rank ${from} says that the others go on without this rank`)
      // A sender that we suspect has not heard our last statement; its view leads nowhere.
      else if (!this.#out.has(from) && statement.epoch === this.#view.epoch + 1)
        this.#install(statement.members, statement.admitted)
      // In a group that grows, a view that leads nowhere here may have a member that is unknown here.
      else if (this.#grows && (this.#out.has(from) || statement.out.includes(this.#rank))) this.#accusedBy(from)
    }
    if (this.#ended) return
    if (statement.epoch < this.#view.epoch) this.#hearOld(from, statement)
    else if (statement.epoch === this.#view.epoch) this.#hearPresent(from, statement)
  }

  /** It has not heard of the present view, or will never be part of it. */
  #hearOld(from: number, statement: MembershipStatement): void {
    if (statement.out.includes(this.#rank)) this.#accusedBy(from)
    else this.#effects.push({ type: 'state', to: from, statement: this.#ownStatement() })
  }

  #hearPresent(from: number, statement: MembershipStatement): void {
    if (!same(statement.members, this.#view.members) || statement.admitted !== this.#admitted) {
      this.#end(`rank ${from} says that the others go on without this rank`)
      return
    }
    this.#installed.add(from)
    if (statement.out.includes(this.#rank)) {
      this.#accusedBy(from)
      return
    }
    if (this.#out.has(from)) return
    this.#statements.set(from, statement)
    this.#propose(statement.joining)
    for (const rank of statement.out)
      this.#accuse(rank, statement.certain.includes(rank) ? 'its process ended' : `rank ${from} does not reach it`)
    for (const rank of statement.certain) this.#makeCertain(rank)
  }

  #accusedBy(rank: number): void {
    this.#accuse(rank, 'it considers this rank dead')
    this.#hostile.add(rank)
    if (this.#grows) this.#certain.delete(rank)
  }

  /** Draw the conclusions from the present suspicions. */
  #conclude(before: MembershipStatement, nowNs: number): void {
    while (!this.#ended) {
      const own = this.#ownStatement()
      if (!sameStatement(own, before)) this.#stateToAccusedFirst(before, own)
      if (this.#out.size === 0) {
        if (!this.#agreesOnCandidate(own)) return
        this.#install([...this.#view.members, this.#given], own.joining[0]!)
        before = own
        continue
      }
      const remaining = this.#remaining()
      if (!this.#isQuorum(remaining, this.#certain)) {
        this.#withoutQuorum(nowNs)
        return
      }
      this.#withoutQuorumNs = Number.NaN
      const agreed = remaining.every((rank) => rank === this.#rank || this.#saysTheSame(rank, own))
      if (!agreed) return
      this.#install(remaining)
      before = own
    }
  }

  #agreesOnCandidate(own: MembershipStatement): boolean {
    return own.joining.length > 0 && own.members.every((rank) => rank === this.#rank || this.#saysTheSame(rank, own))
  }

  #remaining(): number[] {
    return this.#view.members.filter((rank) => !this.#out.has(rank))
  }

  /** True if `ranks` may continue alone, given that the deaths of `dead` are certain. */
  #isQuorum(ranks: readonly number[], dead: ReadonlySet<number>): boolean {
    if (!isQuorumOf(this.#view.members, ranks, dead)) return false
    if (this.#isSettled()) return true
    const before = this.#before!.filter((rank) => ranks.includes(rank))
    return before.length > 0 && isQuorumOf(this.#before!, before, dead)
  }

  /** Nothing else can have come of the view before. */
  #isSettled(): boolean {
    const installed = this.#before?.filter((rank) => rank === this.#rank || this.#installed.has(rank))
    if (installed !== undefined && isQuorumOf(this.#before!, installed, new Set())) this.#before = undefined
    return this.#before === undefined
  }

  #withoutQuorum(nowNs: number): void {
    if (Number.isNaN(this.#withoutQuorumNs)) this.#withoutQuorumNs = nowNs
    // The deaths of all who are silent may yet become certain.
    const hopeless = [...this.#out.keys()].some((rank) => this.#hostile.has(rank) && !this.#certain.has(rank))
    const { onQuorumLost, leaseNs } = this.#options
    if (!hopeless && (onQuorumLost === 'wait' || nowNs - this.#withoutQuorumNs < GRACE * leaseNs)) return
    const held = [...this.#out].map(([rank, why]) => `rank ${rank}: ${why}`).join('; ')
    this.#end(
      this.#hostile.size > 0
        ? `the others consider this rank dead and go on without it (${held})`
        : `too few ranks remain with this one to rule out that others go on (${held})`,
    )
  }

  /** The remaining members suffice, no matter who is dead. So in a group that grows they need not agree on that. */
  #countsAll(): boolean {
    return this.#grows && this.#out.size > 0 && this.#isQuorum(this.#remaining(), new Set())
  }

  #saysTheSame(rank: number, own: MembershipStatement): boolean {
    const statement = this.#statements.get(rank)
    return statement !== undefined && sameStatement(statement, own, this.#countsAll())
  }

  /** `admitted`: the candidate that comes to the members, with the highest rank; 0 if none. */
  #install(members: readonly number[], admitted = 0): void {
    const gone = this.#view.members
      .filter((rank) => !members.includes(rank))
      .map((rank) => ({ rank, why: this.#out.get(rank) ?? 'the others consider it dead' }))
    this.#before = admitted === 0 ? undefined : this.#view.members
    this.#installed.clear()
    this.#view = { epoch: this.#view.epoch + 1, members: [...members] }
    this.#admitted = admitted
    const stays = (rank: number): boolean => members.includes(rank)
    this.#out = new Map([...this.#out].filter(([rank]) => stays(rank)))
    this.#certain = new Set([...this.#certain].filter(stays))
    this.#hostile = new Set([...this.#hostile].filter(stays))
    this.#statements.clear()
    this.#joining.clear()
    this.#withoutQuorumNs = Number.NaN
    const joined = admitted === 0 ? undefined : { rank: members.at(-1)!, candidate: admitted }
    if (joined !== undefined) this.#admit(joined.rank)
    this.#effects.push({ type: 'view', view: this.#view, gone, ...(joined && { joined }) })
  }

  #admit(rank: number): void {
    this.#given = rank + 1
    // The lease of the new member begins, and all of a member that was a candidate.
    if (rank === this.#rank) this.#heardNs.fill(this.#nowNs)
    else this.#heardNs[rank] = this.#nowNs
  }

  /** The accused must hear of it even if we die while sending. */
  #stateToAccusedFirst(before: MembershipStatement, own: MembershipStatement): void {
    const accused = own.out.filter((rank) => own.epoch !== before.epoch || !before.out.includes(rank))
    this.#state([...accused, ...this.#view.members.filter((rank) => !accused.includes(rank))])
  }

  #state(ranks: readonly number[]): void {
    const statement = this.#ownStatement()
    for (const to of ranks) if (to !== this.#rank) this.#effects.push({ type: 'state', to, statement })
  }

  #ownStatement(): MembershipStatement {
    const { epoch, members } = this.#view
    const [out, certain] = [ascending(this.#out.keys()), ascending(this.#certain)]
    return { epoch, members, out, certain, joining: ascending(this.#joining), admitted: this.#admitted }
  }

  #end(why: string): void {
    this.#ended = true
    this.#effects.push({ type: 'end', why })
  }
}

function sameStatement(a: MembershipStatement, b: MembershipStatement, whoeverIsDead = false): boolean {
  const isOfOneView = a.epoch === b.epoch && a.admitted === b.admitted && same(a.members, b.members)
  if (!isOfOneView || !same(a.out, b.out) || !same(a.joining, b.joining)) return false
  return whoeverIsDead || same(a.certain, b.certain)
}

/** More than half of `members`, or exactly half with the lowest. Or all others are in `dead`. */
function isQuorumOf(members: readonly number[], ranks: readonly number[], dead: ReadonlySet<number>): boolean {
  if (members.every((rank) => ranks.includes(rank) || dead.has(rank))) return true
  return 2 * ranks.length > members.length || (2 * ranks.length === members.length && ranks[0] === members[0])
}
