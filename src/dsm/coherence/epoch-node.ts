import { CoherenceNode, type NodeOptions, type NodePort } from './coherence-node.ts'
import { ProtocolError } from './errors.ts'
import { type CoherenceMessage, isRequest, MessageKind, noFrame, settles } from './message.ts'
import type { Protocol, Right, Worth } from './protocol.ts'
import type { Claim, ClaimEntry, RecoveryMessage, Verdict, VerdictEntry } from './recovery-message.ts'
import { judge, type RankClaim, verdictFor } from './recovery-verdict.ts'
import { type EpochMembers, type RecoveryHost, RegionRecovery } from './region-recovery.ts'

/** What a node of a region that outlives its members asks of the world. */
export interface EpochPort extends Omit<NodePort, 'send'> {
  /** Deliver to another rank, in order. Messages of older epochs are dropped there. */
  send(to: number, message: CoherenceMessage, epoch: number): void
  /** As `send`, on the same channel. */
  sendRecovery(to: number, message: RecoveryMessage): void
  /**
   * The bytes of `page`, whose home this is, are to be those that were last fenced. If other keepers have to agree
   * first, `restored` follows. Until then no rank gets the page: what a new holder tells the keepers could arrive
   * before that.
   */
  restore(page: number): Restoration
  /**
   * The region is in order again after deaths. Evictions that were under way were forgotten with everything else:
   * `evicted` may not have been called.
   */
  recovered(): void
}

/**
 * Whether what was last fenced of a page is in its place: now, when `restored` is called, or never, since it is not
 * known.
 */
export type Restoration = 'done' | 'later' | 'unknown'

export interface EpochNodeOptions {
  readonly rank: number
  readonly ranks: number
  readonly protocol: Protocol
  /** The home of a page while every member lives; negative where that is not decided. */
  readonly homeOf: (page: number) => number
  /** The members now. */
  readonly view: EpochMembers
  /** The epoch in which the region is in order. If that is before the one of `view`, call {@link EpochNode.recover}. */
  readonly recovered: number
  readonly port: EpochPort
  /** Pages of dead homes that this member became the home of before it opened the region, with their owners. */
  readonly heirs?: ReadonlyMap<number, number>
  /** How the node is made; for one that is watched. */
  readonly makeNode?: (options: NodeOptions) => CoherenceNode
}

/** The next living rank takes a dead one's pages. */
export function livingHome(home: number, ranks: number, members: readonly number[]): number {
  if (home < 0) return home
  let rank = home
  while (!members.includes(rank)) rank = (rank + 1) % ranks
  return rank
}

/**
 * A {@link CoherenceNode} through the epochs of its group. During a {@link RegionRecovery} it acts on nothing and
 * remembers what its threads want. Afterwards it goes on with what the members have left.
 */
export class EpochNode implements RecoveryHost {
  readonly rank: number
  readonly #options: EpochNodeOptions
  readonly #port: EpochPort
  readonly #node: CoherenceNode
  readonly #recovery: RegionRecovery
  /** The epoch of the messages that are sent and taken; while a recovery is under way, that of those before it. */
  #epoch: number
  /** Messages of this epoch that came after we stopped acting on them, and of later ones. */
  #kept: { readonly message: CoherenceMessage; readonly epoch: number }[] = []
  /** What threads here wait for, by page: whether it is to be written. */
  readonly #wants = new Map<number, boolean>()
  /**
   * Copies that the last recovery has taken from the protocol, and that go from our program as soon as it does not hold
   * them.
   */
  readonly #leaving = new Set<number>()
  /** Pages of dead homes that were found to be somewhere. All others of theirs are lost. */
  readonly #inherited = new Set<number>()
  /** Other pages whose home this is and that are lost, with the rank whose end lost them. */
  readonly #lost = new Map<number, number>()
  /** Requests of others for lost pages that are being restored. */
  readonly #restoring = new Map<number, CoherenceMessage[]>()
  /** Those of the last epoch that was recovered. */
  #membersBefore: readonly number[]

  constructor(options: EpochNodeOptions) {
    const { rank, ranks, protocol, port, view, recovered } = options
    this.rank = rank
    this.#options = options
    this.#port = port
    this.#epoch = recovered
    this.#membersBefore = view.members
    const { makeNode = (node: NodeOptions) => new CoherenceNode(node) } = options
    const homeOf = (page: number): number => this.homeOf(page)
    this.#node = makeNode({ rank, ranks, protocol, homeOf, port: this.#nodePort() })
    this.#recovery = new RegionRecovery(rank, view, recovered, this, (to, message) => port.sendRecovery(to, message))
    for (const [page, owner] of options.heirs ?? []) {
      this.#node.installDirectory(page, owner, [])
      this.#inherited.add(page)
    }
  }

  /** Recover the region before anything else. In a group of one that has ended when this returns. */
  recover(): void {
    this.#recovery.begin(this.#options.view)
  }

  // ---- what happens to it
  // ----------------------------------------------------------------------------------------------------

  /** The group is in another epoch. All that its former members sent has been received. */
  viewChanged(view: EpochMembers): void {
    if (this.#recovery.isIdle) this.#membersBefore = this.#recovery.view.members
    this.#recovery.begin(view)
  }

  receiveRecovery(from: number, message: RecoveryMessage): void {
    this.#recovery.receive(from, message)
  }

  /** As {@link CoherenceNode.demand}; while a recovery is under way it is done afterwards. */
  demand(page: number, write: boolean): void {
    this.#wants.set(page, write || this.#wants.get(page) === true)
    if (!this.isServing) return
    // A holder may go on reading. A thread that wants to write asks for the page again.
    if (this.#leaving.has(page) && !write) this.#mapReadOnly(page)
    else if (!this.#isHeldElsewhere(page)) this.#demand(page, write)
  }

  #demand(page: number, write: boolean): void {
    const fate = this.homeOf(page) === this.rank ? this.#fate(page) : HERE
    if (fate === HERE) this.#node.demand(page, write)
    else if (fate !== LATER) this.#failed(page, fate, false)
  }

  /** As {@link CoherenceNode.evict}. */
  evict(page: number): boolean {
    return this.isServing && this.#node.evict(page)
  }

  receive(message: CoherenceMessage, epoch: number): void {
    if (epoch < this.#epoch) return
    if (this.isServing && epoch === this.#epoch) this.#act(message)
    else this.#kept.push({ message, epoch })
  }

  /** As {@link CoherenceNode.retry}. */
  retry(page: number): void {
    if (this.#leaving.has(page)) this.#tryLeave(page)
    else if (this.isServing) this.#node.retry(page)
  }

  /** What was last fenced of `page` is in its place, as {@link EpochPort.restore} has said. */
  restored(page: number): void {
    const requests = this.#restoring.get(page)
    // A recovery that is under way forgets it all.
    if (requests === undefined || !this.isServing) return
    this.#restoring.delete(page)
    this.#isBack(page)
    for (const message of requests) this.#node.receive(message)
    const wanted = this.#wants.get(page)
    if (wanted !== undefined) this.demand(page, wanted)
  }

  // ---- what can be seen of it
  // ------------------------------------------------------------------------------------------------

  /** False while a recovery is under way. */
  get isServing(): boolean {
    return this.#recovery.isIdle
  }

  get epoch(): number {
    return this.#epoch
  }

  /** Who is left, ascending. */
  get members(): readonly number[] {
    return this.#recovery.view.members
  }

  homeOf(page: number): number {
    return livingHome(this.#options.homeOf(page), this.#options.ranks, this.#recovery.view.members)
  }

  right(page: number): Right {
    return this.#node.right(page)
  }

  worth(page: number): Worth {
    return this.#node.worth(page)
  }

  copyState(page: number): string {
    return this.#node.copyState(page)
  }

  directory(page: number): ReturnType<CoherenceNode['directory']> {
    return this.#node.directory(page)
  }

  /** Pages of which anything is remembered here. */
  pages(): Set<number> {
    return this.#node.pages()
  }

  /** As {@link CoherenceNode.serving}. */
  serving(page: number): ReturnType<CoherenceNode['serving']> {
    return this.#node.serving(page)
  }

  isDeferred(page: number): boolean {
    return this.#node.isDeferred(page) || this.#leaving.has(page)
  }

  isQuiescent(): boolean {
    const isUnderWay = !this.isServing || this.#restoring.size > 0 || this.#leaving.size > 0
    return !isUnderWay && this.#node.isQuiescent()
  }

  // ---- recovery
  // --------------------------------------------------------------------------------------------------------------

  *claims(): Generator<ClaimEntry & { readonly home: number }> {
    for (const { message } of this.#kept) if (settles(message.kind)) this.#node.absorb(message)
    this.#kept = []
    // They are asked for again, and started again.
    this.#restoring.clear()
    this.#node.forget()
    // What was to go and has not, is here still, as good as all others: its new owner has waited.
    for (const page of this.#leaving) this.#node.install(page, 'shared')
    this.#leaving.clear()
    for (const page of this.#node.pages()) {
      const claim = this.#claimTo(page)
      if (claim !== undefined) yield { page, claim, home: this.homeOf(page) }
    }
  }

  #claimTo(page: number): Claim | undefined {
    if (this.#node.right(page) === 'write') return 'writer'
    const worth = this.#node.worth(page)
    return worth === 'none' ? undefined : worth
  }

  *judge(claims: ReadonlyMap<number, readonly RankClaim[]>): Generator<VerdictEntry & { readonly rank: number }> {
    const unclaimed = [...this.#node.pages()].filter((page) => !claims.has(page) && this.homeOf(page) === this.rank)
    for (const page of [...claims.keys(), ...unclaimed]) {
      const claimed = claims.get(page) ?? []
      const verdict = judge(claimed, this.rank, this.#isMemoryValid(page))
      const owner = this.#node.directory(page).owner
      if (verdict.kind === 'lost') this.#lose(page, owner)
      else {
        this.#node.installDirectory(
          page,
          verdict.kind === 'owned' ? verdict.owner : -1,
          verdict.kind === 'shared' ? verdict.sharers : [],
        )
        if (this.#isInherited(page)) this.#inherited.add(page)
        else this.#lost.delete(page)
      }
      for (const { rank } of claimed) yield { rank, page, verdict: verdictFor(verdict, rank) }
    }
  }

  *apply(verdicts: ReadonlyMap<number, Verdict>): Generator<number> {
    for (const page of new Set([...this.#node.pages(), ...verdicts.keys()])) {
      const verdict = verdicts.get(page) ?? 'none'
      if (verdict !== 'none') this.#stay(page, verdict)
      else if (this.#letGo(page)) this.#giveBack(page)
      else yield page
    }
  }

  /** False where our program holds it: only the protocol has let go then. */
  #letGo(page: number): boolean {
    const isHeld = this.#node.right(page) !== 'none' && this.#port.mustHold(page)
    if (isHeld) this.#leaving.add(page)
    this.#node.install(page, 'none')
    return !isHeld
  }

  #stay(page: number, verdict: 'shared' | 'owner'): void {
    // Bytes without worth have no owner.
    if (this.#node.worth(page) === 'none')
      throw new ProtocolError('cache', page, this.#node.copyState(page), `verdict '${verdict}'`)
    this.#node.install(page, verdict)
  }

  resume(epoch: number): void {
    this.#epoch = epoch
    const kept = this.#kept
    this.#kept = []
    for (const { message, epoch: of } of kept) this.receive(message, of)
    this.#port.recovered()
    for (const [page, write] of [...this.#wants]) this.demand(page, write)
  }

  /** Not while members ask each other what they have: it may be the last one of all. */
  #tryLeave(page: number): void {
    if (!this.#recovery.isDecided || this.#port.mustHold(page)) return
    this.#leaving.delete(page)
    this.#port.unmap(page)
    this.#giveBack(page)
    this.#recovery.left(page)
  }

  /** The memory of a copy that is gone, unless a thread here waits for the page to come again. */
  #giveBack(page: number): void {
    if (this.homeOf(page) !== this.rank && !this.#wants.has(page)) this.#port.evicted(page)
  }

  released(page: number): void {
    if (!this.isServing) return
    this.#node.retry(page)
    const wanted = this.#wants.get(page)
    if (wanted !== undefined) this.demand(page, wanted)
  }

  /** We own it, and have to wait for a copy of it that another's program holds. */
  #isHeldElsewhere(page: number): boolean {
    return this.#recovery.isHeld(page) && this.#node.right(page) !== 'none'
  }

  #isInherited(page: number): boolean {
    return this.#options.homeOf(page) !== this.rank
  }

  #isMemoryValid(page: number): boolean {
    const { homeOf, ranks } = this.#options
    const wasHome = livingHome(homeOf(page), ranks, this.#membersBefore) === this.rank
    return wasHome && this.#lostWith(page) === undefined && this.#node.memory(page) === 'valid'
  }

  /** The rank whose end lost this page, whose home this is; undefined if the page is not lost. */
  #lostWith(page: number): number | undefined {
    if (this.#isInherited(page)) return this.#inherited.has(page) ? undefined : this.#options.homeOf(page)
    return this.#lost.get(page)
  }

  /**
   * Of a page whose home this is, now that it is wanted: where it is lost, what was last fenced takes its place if that
   * is known. Else who took it along.
   */
  #fate(page: number): Fate {
    if (this.#restoring.has(page)) return LATER
    const rank = this.#lostWith(page)
    if (rank === undefined) return HERE
    const restoration = this.#port.restore(page)
    if (restoration === 'unknown') return rank
    if (restoration === 'later') {
      this.#restoring.set(page, [])
      return LATER
    }
    this.#isBack(page)
    return HERE
  }

  #isBack(page: number): void {
    this.#node.installDirectory(page, -1, [])
    if (this.#isInherited(page)) this.#inherited.add(page)
    this.#lost.delete(page)
  }

  #lose(page: number, owner: number): void {
    this.#node.installLost(page)
    this.#inherited.delete(page)
    const { members } = this.#recovery.view
    const gone = this.#membersBefore.filter((rank) => !members.includes(rank))
    if (!this.#isInherited(page) && !this.#lost.has(page))
      this.#lost.set(page, gone.includes(owner) ? owner : (gone[0] ?? -1))
  }

  // ---- between the world and the node
  // ----------------------------------------------------------------------------------------

  #act(message: CoherenceMessage): void {
    const fate = isRequest(message.kind) ? this.#fate(message.page) : HERE
    if (fate === HERE) this.#node.receive(message)
    else if (fate === LATER) this.#restoring.get(message.page)!.push(message)
    else this.#refuse(message, fate)
  }

  #refuse({ page, requester }: CoherenceMessage, lostWith: number): void {
    const kind = MessageKind.Refused
    const answer = {
      kind,
      page,
      from: this.rank,
      requester,
      count: lostWith,
      requesterFrame: noFrame,
      homeFrame: noFrame,
    }
    this.#port.send(requester, answer, this.#epoch)
  }

  #failed(page: number, rank: number, wantsMemory: boolean): void {
    this.#wants.delete(page)
    this.#port.failed(page, rank, wantsMemory)
  }

  #mapReadOnly(page: number): void {
    if (this.#wants.get(page) === false) this.#wants.delete(page)
    this.#port.mapReadOnly(page)
  }

  #nodePort(): NodePort {
    const port = this.#port
    return {
      send: (to, message) => port.send(to, message, this.#epoch),
      push: (page, to, frame) => port.push(page, to, frame),
      ownFrame: (page) => port.ownFrame(page),
      mapReadOnly: (page) => this.#mapReadOnly(page),
      mapWritable: (page) => {
        this.#wants.delete(page)
        port.mapWritable(page)
      },
      protect: (page) => port.protect(page),
      unmap: (page) => {
        if (!this.#leaving.has(page)) port.unmap(page)
      },
      evicted: (page) => port.evicted(page),
      failed: (page, rank, wantsMemory) => this.#failed(page, rank, wantsMemory),
      mustHold: (page) => this.#recovery.isHeld(page) || port.mustHold(page),
      isAlive: (rank) => port.isAlive(rank),
    }
  }
}

/** Of a page at its home: there, there soon, or gone with a rank. */
type Fate = typeof HERE | typeof LATER | number
const HERE = 'here'
const LATER = 'later'
