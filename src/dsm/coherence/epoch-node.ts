import { CoherenceNode, type NodeOptions, type NodePort } from './coherence-node.ts'
import { type CoherenceMessage, MessageKind, noFrame, settles } from './message.ts'
import type { Protocol, Right, Worth } from './protocol.ts'
import { type EpochMembers, Recovery, type RecoveryHost } from './recovery.ts'
import type { Claim, ClaimEntry, RecoveryMessage, Verdict, VerdictEntry } from './recovery-message.ts'
import { judge, type RankClaim, verdictFor } from './recovery-verdict.ts'

/** What a node of a region that outlives its members asks of the world. */
export interface EpochPort extends Omit<NodePort, 'send'> {
  /** Deliver to another rank, in order. Messages of older epochs are dropped there. */
  send(to: number, message: CoherenceMessage, epoch: number): void
  /** As `send`, on the same channel. */
  sendRecovery(to: number, message: RecoveryMessage): void
  /** The bytes of `page` that were last fenced are to be its bytes. Only called where `replicas` names the page. */
  restore(page: number): void
  /** The region is in order again after deaths. Evictions that were under way were forgotten with everything else: `evicted` may not have been called. */
  recovered(): void
}

export interface EpochNodeOptions {
  readonly rank: number
  readonly ranks: number
  readonly protocol: Protocol
  /** The home of a page while every member lives; negative where that is not decided. */
  readonly homeOf: (page: number) => number
  /** The members now. */
  readonly view: EpochMembers
  /** The epoch in which the region is in order; -1 where it has to be recovered first. */
  readonly recovered: number
  readonly port: EpochPort
  /** Pages of dead homes that this member became the home of before it opened the region, with their owners. */
  readonly heirs?: ReadonlyMap<number, number>
  /** How the node is made; for one that is watched. */
  readonly makeNode?: (options: NodeOptions) => CoherenceNode
  /** Pages of which this member keeps what was last fenced. */
  readonly replicas?: () => Iterable<number>
}

/** The next living rank takes a dead one's pages. */
export function livingHome(home: number, ranks: number, members: readonly number[]): number {
  if (home < 0) return home
  let rank = home
  while (!members.includes(rank)) rank = (rank + 1) % ranks
  return rank
}

/**
 * A {@link CoherenceNode} through the epochs of its group. While a {@link Recovery} is under way it acts on nothing and remembers what its threads want; afterwards it
 * goes on with what the members have left.
 */
export class EpochNode implements RecoveryHost {
  readonly rank: number
  readonly #options: EpochNodeOptions
  readonly #port: EpochPort
  readonly #node: CoherenceNode
  readonly #recovery: Recovery
  /** The epoch of the messages that are sent and taken; while a recovery is under way, that of those before it. */
  #epoch: number
  /** Messages of this epoch that came after we stopped acting on them, and of later ones. */
  #kept: { readonly message: CoherenceMessage; readonly epoch: number }[] = []
  /** What threads here wait for, by page: whether it is to be written. */
  readonly #wants = new Map<number, boolean>()
  /** Copies that go as soon as nobody holds them. */
  readonly #leaving = new Set<number>()
  /** Pages of dead homes that were found to be somewhere. All others of theirs are lost. */
  readonly #inherited = new Set<number>()
  /** Other pages whose home this is that nobody has any more, and who took them along. */
  readonly #lost = new Map<number, number>()
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
    this.#recovery = new Recovery(rank, view, recovered, this, (to, message) => port.sendRecovery(to, message))
    for (const [page, owner] of options.heirs ?? []) {
      this.#node.installDirectory(page, owner, [])
      this.#inherited.add(page)
    }
    if (recovered < view.epoch) this.#recovery.begin(view)
  }

  // ---- what happens to it ----------------------------------------------------------------------------------------------------

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
    const lostWith = this.homeOf(page) === this.rank ? this.#lostWith(page) : undefined
    if (lostWith === undefined) this.#node.demand(page, write)
    else this.#failed(page, lostWith, false)
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
    if (this.#leaving.has(page)) this.#tryLeave()
    else if (this.isServing) this.#node.retry(page)
  }

  // ---- what can be seen of it ------------------------------------------------------------------------------------------------

  /** False while a recovery is under way. */
  get isServing(): boolean {
    return this.#recovery.isIdle
  }

  /** Members are gone. */
  get hasDeaths(): boolean {
    return this.#recovery.view.members.length < this.#options.ranks
  }

  get epoch(): number {
    return this.#epoch
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

  isDeferred(page: number): boolean {
    return this.#node.isDeferred(page) || this.#leaving.has(page)
  }

  isQuiescent(): boolean {
    return this.isServing && this.#node.isQuiescent()
  }

  // ---- recovery --------------------------------------------------------------------------------------------------------------

  *claims(): Generator<ClaimEntry & { readonly home: number }> {
    for (const { message } of this.#kept) if (settles(message.kind)) this.#node.absorb(message)
    this.#kept = []
    this.#node.forget()
    // Who was told to let go and has not, has it still.
    this.#leaving.clear()
    for (const page of this.#node.pages()) {
      const claim = this.#claimTo(page)
      if (claim !== undefined) yield { page, claim, home: this.homeOf(page) }
    }
    for (const page of this.#options.replicas?.() ?? []) yield { page, claim: 'replica', home: this.homeOf(page) }
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

  apply(verdicts: ReadonlyMap<number, Verdict>): void {
    for (const page of new Set([...this.#node.pages(), ...verdicts.keys()])) {
      const verdict = verdicts.get(page) ?? 'none'
      if (verdict === 'none') this.#leaving.add(page)
      else {
        if (this.#node.worth(page) === 'none') this.#port.restore(page)
        this.#node.install(page, verdict)
      }
    }
    this.#tryLeave()
  }

  resume(epoch: number): void {
    this.#epoch = epoch
    const kept = this.#kept
    this.#kept = []
    for (const { message, epoch: of } of kept) this.receive(message, of)
    this.#port.recovered()
    for (const [page, write] of [...this.#wants]) this.demand(page, write)
  }

  #tryLeave(): void {
    for (const page of this.#leaving) {
      if (this.#node.right(page) !== 'none' && this.#port.mustHold(page)) continue
      this.#leaving.delete(page)
      this.#node.install(page, 'none')
      // Its memory may be given back, unless a thread here waits for the page to come again.
      if (this.homeOf(page) !== this.rank && !this.#wants.has(page)) this.#port.evicted(page)
    }
    if (this.#leaving.size === 0) this.#recovery.applied()
  }

  #isInherited(page: number): boolean {
    return this.#options.homeOf(page) !== this.rank
  }

  #isMemoryValid(page: number): boolean {
    const { homeOf, ranks } = this.#options
    const wasHome = livingHome(homeOf(page), ranks, this.#membersBefore) === this.rank
    return wasHome && this.#lostWith(page) === undefined && this.#node.memory(page) === 'valid'
  }

  /** Who took a page along whose home this is; undefined where it is there. */
  #lostWith(page: number): number | undefined {
    if (this.#isInherited(page)) return this.#inherited.has(page) ? undefined : this.#options.homeOf(page)
    return this.#lost.get(page)
  }

  #lose(page: number, owner: number): void {
    this.#node.installLost(page)
    this.#inherited.delete(page)
    const { members } = this.#recovery.view
    const gone = this.#membersBefore.filter((rank) => !members.includes(rank))
    if (!this.#isInherited(page) && !this.#lost.has(page))
      this.#lost.set(page, gone.includes(owner) ? owner : (gone[0] ?? -1))
  }

  // ---- between the world and the node ----------------------------------------------------------------------------------------

  #act(message: CoherenceMessage): void {
    const lostWith = isRequest(message.kind) ? this.#lostWith(message.page) : undefined
    if (lostWith === undefined) this.#node.receive(message)
    else this.#refuse(message, lostWith)
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

  #nodePort(): NodePort {
    const port = this.#port
    return {
      send: (to, message) => port.send(to, message, this.#epoch),
      push: (page, to, frame) => port.push(page, to, frame),
      ownFrame: (page) => port.ownFrame(page),
      mapReadOnly: (page) => {
        if (this.#wants.get(page) === false) this.#wants.delete(page)
        port.mapReadOnly(page)
      },
      mapWritable: (page) => {
        this.#wants.delete(page)
        port.mapWritable(page)
      },
      protect: (page) => port.protect(page),
      unmap: (page) => port.unmap(page),
      evicted: (page) => port.evicted(page),
      failed: (page, rank, wantsMemory) => this.#failed(page, rank, wantsMemory),
      mustHold: (page) => port.mustHold(page),
      isAlive: (rank) => port.isAlive(rank),
    }
  }
}

const isRequest = (kind: MessageKind): boolean => kind === MessageKind.GetShared || kind === MessageKind.GetModified
