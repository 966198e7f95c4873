import {
  CacheController,
  type CacheEntry,
  type CachePort,
  type RightsPort,
  type TransitionWatch,
} from './cache-controller.ts'
import { DirectoryController, type DirectoryEntry, type SavedDirectoryEntry } from './directory-controller.ts'
import {
  type CoherenceMessage,
  type FrameReference,
  isForDirectory,
  isPersistent,
  MessageKind,
  noFrame,
  takesAway,
} from './message.ts'
import type { Protocol, Recovery, Right, Worth } from './protocol.ts'
import { type Starver, Starvers } from './starvers.ts'
import type { TokenCount } from './token-count.ts'

/** What a node asks of the world: the agent, the model checker and the simulator each give it their own. */
export interface NodePort extends RightsPort {
  /** Deliver to another rank, in order. Never called with the node's own rank. */
  send(to: number, message: CoherenceMessage): void
  /** Copy our frame of `page` to where `frame` says at rank `to`, ahead of the next message to that rank. */
  push(page: number, to: number, frame: FrameReference): void
  /** Where our own frame of `page` is, ready to be written by a peer. */
  ownFrame(page: number): FrameReference
  /**
   * Our copy is gone with its rights, and no peer will write into its frame. Its memory may be given back; `ownFrame`
   * asks for it again. A port whose pushes take a while first waits for those out of this frame. Never called at the
   * page's home, whose frame is the page's memory.
   */
  evicted(page: number): void
  /** The page cannot be had; `rank` took it along, or has no memory for it. -1 where that was said before. */
  failed(page: number, rank: number, wantsMemory: boolean): void
  /**
   * True where the page must not be taken away yet: pinned, or granted so recently that the access that asked for it
   * has not run. The port then calls `retry(page)` in bounded time.
   */
  mustHold(page: number): boolean
  isAlive(rank: number): boolean
}

export interface NodeOptions {
  readonly rank: number
  readonly ranks: number
  readonly protocol: Protocol
  /** May change its answers between a `forget()` and the installs after it: a dead home's pages move. */
  readonly homeOf: (page: number) => number
  readonly port: NodePort
  /** Told of every transition taken. */
  readonly watch?: TransitionWatch
}

/** What a node remembers, as data that survives JSON: a recording begins with it. */
export interface SavedNode {
  readonly copies: ReadonlyArray<readonly [page: number, entry: CacheEntry]>
  readonly entries: ReadonlyArray<readonly [page: number, entry: SavedDirectoryEntry]>
  readonly deferred: ReadonlyArray<readonly [page: number, messages: readonly CoherenceMessage[]]>
  readonly starvers: ReadonlyArray<readonly [page: number, starvers: readonly Starver[]]>
}

/**
 * One node's part in the coherence of one region: its copies, and the directory of the pages whose home it is. A
 * synchronous state machine without clock or randomness: what it does follows from its calls alone.
 */
export class CoherenceNode implements CachePort {
  readonly rank: number
  readonly rights: RightsPort
  readonly #options: NodeOptions
  readonly #port: NodePort
  readonly #homeOf: (page: number) => number
  readonly #caches: CacheController
  readonly #directories: DirectoryController
  /** Entries appear when a page is first touched: a sparse region costs nothing. */
  readonly #copies = new Map<number, CacheEntry>()
  readonly #entries = new Map<number, DirectoryEntry>()
  /**
   * Messages that came while the page had to be held or its bytes were still on their way, in the order of their
   * coming.
   */
  readonly #deferred = new Map<number, CoherenceMessage[]>()
  /** Of a token protocol: the nodes that ask persistently, and for what, ourselves among them. */
  readonly #starvers = new Starvers()
  /** Messages to ourselves, delivered in order before control returns to the caller. */
  readonly #toSelf: CoherenceMessage[] = []
  #delivering = false
  /** Pages that came to rest in this call, and for which something is deferred. */
  readonly #rested: number[] = []

  constructor(options: NodeOptions) {
    const { rank, ranks, protocol, watch } = options
    this.rank = rank
    this.#options = options
    this.#port = options.port
    this.rights = options.port
    this.#homeOf = options.homeOf
    this.#caches = new CacheController(protocol, ranks, this, watch)
    const port = {
      home: rank,
      // What waits for the page here was ordered before.
      canShare: (page: number) => !this.#deferred.has(page) && this.#caches.canShare(this.#copy(page)),
      takeTokens: this.#takeTokens.bind(this),
      respond: this.respond.bind(this),
      forward: this.#forward.bind(this),
      answerPut: this.#answerPut.bind(this),
      pushToRequester: this.pushToRequester.bind(this),
    }
    this.#directories = new DirectoryController(protocol, ranks, port, watch)
  }

  // ---- what happens to a node
  // ------------------------------------------------------------------------------------------------

  /** A thread here wants to read or write `page`. Nothing happens that was not needed: a hit re-installs and wakes. */
  demand(page: number, write: boolean): void {
    this.#caches.demand(this.#copy(page), page, write)
    this.#afterStep(page)
  }

  /**
   * Give up our copy of `page`: `evicted` is called when it is gone (before this returns, if there was none). Returns
   * false if it cannot be given up now: it is in motion, held or wanted by others, or this is its home. Choose another
   * page then, or try again later.
   */
  evict(page: number): boolean {
    if (this.#homeOf(page) === this.rank) return false
    const entry = this.#copy(page)
    if (this.#caches.isTransient(entry) || this.#caches.isClosing(entry) || this.#deferred.has(page)) return false
    if (this.#mustHold(page)) return false
    this.#caches.evict(entry, page)
    this.#afterStep(page)
    return true
  }

  receive(message: CoherenceMessage): void {
    this.#route(message)
    this.#afterStep(message.page)
  }

  /** The page need not be held any more: serve what was deferred. */
  retry(page: number): void {
    this.#serveDeferred(page)
    this.#afterStep(page)
  }

  /** Whether a request waits until the page no longer has to be held. */
  isDeferred(page: number): boolean {
    return this.#deferred.has(page) || this.#starvingFor(page) !== undefined
  }

  // ---- what can be seen of it
  // ------------------------------------------------------------------------------------------------

  /**
   * The right that the program has on a page, as the protocol sees it; the mmu may allow less until the page is
   * touched.
   */
  right(page: number): Right {
    return this.#caches.right(this.#seen(page))
  }

  /** What the bytes in our frame of a page are good for, if others are lost. */
  worth(page: number): Worth {
    return this.#caches.worth(this.#seen(page))
  }

  /**
   * Rights are counted in tokens: the directory only has hints, and the mmu may allow less than the tokens would until
   * a page is touched.
   */
  get countsTokens(): boolean {
    return this.#options.protocol.tokens !== undefined
  }

  /** Of a token protocol: the tokens of a page that are here. */
  tokens(page: number): TokenCount {
    return this.#caches.tokens(this.#seen(page))
  }

  /** Of a token protocol: the nodes that ask persistently for a page, as far as is known here. */
  starvers(page: number): readonly Starver[] {
    return this.#starvers.of(page)
  }

  /** Whether our frame of a page whose home we are surely holds the bytes that were written last. */
  memory(page: number): 'valid' | 'stale' {
    if (this.countsTokens) return this.worth(page) === 'none' ? 'stale' : 'valid'
    return this.#directories.memory(this.#entries.get(page) ?? this.#directories.newEntry())
  }

  /** The state of our copy, by its name in the table. */
  copyState(page: number): string {
    return this.#caches.stateName(this.#seen(page))
  }

  /** The directory entry of a page whose home we are. */
  directory(page: number): { state: string; owner: number; sharers: number[]; version: number; waiting: number } {
    const entry = this.#entries.get(page) ?? this.#directories.newEntry()
    const { owner, sharers, version, queue } = entry
    return { state: this.#directories.stateName(entry), owner, sharers: [...sharers], version, waiting: queue.length }
  }

  /**
   * Of a page whose home we are: the rank whose request is being served (-1 at rest), and the ranks told to answer it.
   * For people who ask why it takes long.
   */
  serving(page: number): { requester: number; asked: number[] } {
    const { requester, forwardedTo, invalidated } = this.#entries.get(page) ?? this.#directories.newEntry()
    return { requester, asked: forwardedTo < 0 ? [...invalidated] : [forwardedTo, ...invalidated] }
  }

  /** Pages of which anything is remembered here, as a copy or as a home. */
  pages(): Set<number> {
    return new Set([...this.#copies.keys(), ...this.#entries.keys()])
  }

  /** True where no page is in a transient state and nothing is deferred. */
  isQuiescent(): boolean {
    for (const entry of this.#copies.values())
      if (this.#caches.isTransient(entry) || this.#caches.isClosing(entry)) return false
    for (const entry of this.#entries.values())
      if (this.#directories.isTransient(entry) || entry.queue.length > 0) return false
    return this.#deferred.size === 0 && this.#starvers.size === 0
  }

  /**
   * Everything that decides what happens next, as compact text: two nodes of one rank with the same fingerprint behave
   * the same. Where frames are (`requesterFrame`, `homeFrame`) is left out.
   */
  fingerprint(): string {
    let text = ''
    for (const page of [...this.pages()].sort(ascending)) {
      const copy = this.#copies.get(page)
      const entry = this.#entries.get(page)
      const ofPage =
        (copy === undefined ? '' : this.#caches.fingerprint(copy, this.#homeOf(page) === this.rank)) +
        SEPARATOR +
        (entry === undefined ? '' : this.#directories.fingerprint(entry)) +
        SEPARATOR +
        this.#starvers.fingerprint(page) +
        SEPARATOR +
        (this.#deferred.get(page) ?? []).map(fingerprintOf).join('')
      if (ofPage !== NOTHING) text += String.fromCharCode(page) + ofPage
    }
    return text
  }

  /** A deep copy that talks to another port: what the model checker branches with. */
  clone(port: NodePort): CoherenceNode {
    const copy = new CoherenceNode({ ...this.#options, port })
    for (const [page, entry] of this.#copies) copy.#copies.set(page, this.#caches.cloneEntry(entry))
    for (const [page, entry] of this.#entries) copy.#entries.set(page, this.#directories.cloneEntry(entry))
    copy.#starvers.restore(this.#starvers.save())
    for (const [page, messages] of this.#deferred) copy.#deferred.set(page, [...messages])
    return copy
  }

  /** Everything that is remembered here. Between two calls, nothing is under way inside. */
  save(): SavedNode {
    return {
      copies: [...this.#copies].map(([page, entry]) => [page, this.#caches.cloneEntry(entry)]),
      entries: [...this.#entries].map(([page, entry]) => [page, this.#directories.saveEntry(entry)]),
      deferred: [...this.#deferred].map(([page, messages]) => [page, [...messages]]),
      starvers: this.#starvers.save(),
    }
  }

  /** Become as the node was that `saved` comes from. For one that has just been made. */
  restore(saved: SavedNode): void {
    for (const [page, entry] of saved.copies) this.#copies.set(page, this.#caches.cloneEntry(entry))
    for (const [page, entry] of saved.entries) this.#entries.set(page, this.#directories.restoreEntry(entry))
    for (const [page, messages] of saved.deferred) this.#deferred.set(page, [...messages])
    this.#starvers.restore(saved.starvers)
  }

  // ---- recovery
  // --------------------------------------------------------------------------------------------------------------
  // After a death, members agree on what each copy is worth, forget what was under way, and install what came out; see
  // the rows' `worth`.

  /** Take in what `message` brought ({@link settles}), and do nothing about it. */
  absorb(message: CoherenceMessage): void {
    if (isForDirectory(message.kind)) this.#directories.absorb(this.#entry(message.page), message)
    else this.#caches.absorb(this.#copy(message.page), message)
  }

  /** Drop whatever is deferred, queued or waited for. States and rights stay; every page must then be installed. */
  forget(): void {
    this.#deferred.clear()
    this.#starvers.clear()
    this.#toSelf.length = 0
    for (const entry of this.#entries.values()) this.#directories.forget(entry)
  }

  /** Put our copy into a stable state. Rights it has beyond that are taken from the program; none is given. */
  install(page: number, as: keyof Recovery<string, string>['cache']): void {
    const entry = this.#copy(page)
    // What the home of a token protocol has of its own pages follows from what the others have: `installDirectory` has
    // said it.
    if (as !== 'owner' && this.#homeOf(page) === this.rank && this.#caches.hasOwnerToken(entry)) return
    const before = this.#caches.right(entry)
    this.#caches.install(entry, as)
    const after = this.#caches.right(entry)
    if (before !== 'none' && after === 'none') this.#port.unmap(page)
    else if (before === 'write' && after === 'read') this.#port.protect(page)
  }

  /**
   * Put the directory entry of a page whose home we are into the stable state in which these ranks hold copies. Owner
   * -1: none owns it.
   */
  installDirectory(page: number, owner: number, sharers: Iterable<number>): void {
    const all = [...sharers]
    this.#directories.install(this.#entry(page), owner, all)
    if (owner < 0) this.#caches.installAtHome(this.#copy(page), all.filter((rank) => rank !== this.rank).length)
    // Untouched pages have their tokens at home; one that was inherited from a dead home has been touched. What is here
    // is taken away by `install`.
    else if (owner !== this.rank && !this.#copies.has(page)) this.#caches.install(this.#copy(page), 'none')
  }

  /** No rank has a copy of this page, whose home we are. The driver of this node refuses it from now on. */
  installLost(page: number): void {
    this.#directories.install(this.#entry(page), -1, [])
    if (this.countsTokens) this.install(page, 'none')
  }

  // ---- what the controllers ask for
  // ------------------------------------------------------------------------------------------

  request(kind: MessageKind, page: number): void {
    this.#send(this.#homeOf(page), this.#message(kind, page, this.rank, 0, this.#port.ownFrame(page), noFrame))
  }

  tellHome(kind: MessageKind, page: number, count: number): void {
    this.#send(this.#homeOf(page), this.#message(kind, page, this.rank, count, noFrame, noFrame))
  }

  respond(kind: MessageKind, page: number, message: CoherenceMessage, count: number): void {
    this.#send(message.requester, this.#message(kind, page, message.requester, count, noFrame, noFrame))
  }

  pushToRequester(page: number, message: CoherenceMessage): void {
    if (message.requester !== this.rank && this.isAlive(message.requester))
      this.#port.push(page, message.requester, message.requesterFrame)
  }

  pushToHome(page: number, message: CoherenceMessage): void {
    const home = this.#homeOf(page)
    // A requester that is the home has had the bytes already.
    const served = message.kind === MessageKind.ForwardShared && message.requester === home
    if (home !== this.rank && !served && this.isAlive(home)) this.#port.push(page, home, message.homeFrame)
  }

  activate(page: number, write: boolean): boolean {
    if (this.#starvers.hasMarked(page)) return false
    const frame = this.#port.ownFrame(page)
    const kind = write ? MessageKind.ActivateModified : MessageKind.ActivateShared
    this.#broadcast(this.#message(kind, page, this.rank, 0, frame, noFrame))
    return true
  }

  deactivate(page: number): number {
    if (!this.#starvers.remove(page, this.rank)) return 0
    this.#broadcast(this.#message(MessageKind.Deactivate, page, this.rank, 0, noFrame, noFrame))
    this.#starvers.mark(page)
    return this.#others().length
  }

  defer(message: CoherenceMessage): void {
    const waiting = this.#deferred.get(message.page)
    if (waiting === undefined) this.#deferred.set(message.page, [message])
    else waiting.push(message)
  }

  rested(page: number): void {
    if (this.#deferred.has(page)) this.#rested.push(page)
  }

  evicted(page: number): void {
    this.#copies.delete(page)
    this.#port.evicted(page)
  }

  failed(page: number, rank: number, wantsMemory: boolean): void {
    this.#port.failed(page, rank, wantsMemory)
  }

  isAlive(rank: number): boolean {
    return rank === this.rank || this.#port.isAlive(rank)
  }

  // ---- plumbing
  // --------------------------------------------------------------------------------------------------------------

  /** Every other member that lives. */
  #others(): number[] {
    const ranks = Array.from({ length: this.#options.ranks }, (_, rank) => rank)
    return ranks.filter((rank) => rank !== this.rank && this.#port.isAlive(rank))
  }

  #forward(kind: MessageKind, page: number, holder: number, message: CoherenceMessage, count: number): void {
    const homeFrame = kind === MessageKind.ForwardShared ? this.#port.ownFrame(page) : noFrame
    this.#send(holder, this.#message(kind, page, message.requester, count, message.requesterFrame, homeFrame))
  }

  #answerPut(kind: MessageKind, page: number, message: CoherenceMessage): void {
    const homeFrame = kind === MessageKind.WriteBack ? this.#port.ownFrame(page) : noFrame
    this.#send(message.requester, this.#message(kind, page, message.requester, 0, noFrame, homeFrame))
  }

  /** Home's own copy takes what was evicted: told by itself, in order with everything else. */
  #takeTokens(kind: MessageKind, page: number, message: CoherenceMessage): void {
    // None are left where others took them while home was asked where to put the bytes.
    if (message.count > 0) this.#send(this.rank, this.#message(kind, page, this.rank, message.count, noFrame, noFrame))
  }

  /** To every other rank, and what concerns ourselves at once. */
  #broadcast(message: CoherenceMessage): void {
    for (const rank of this.#others()) this.#send(rank, message)
    this.#notePersistent(message)
  }

  /** Note who starves; home also notes where tokens will be. */
  #notePersistent(message: CoherenceMessage): void {
    const { kind, page, requester, requesterFrame } = message
    if (kind === MessageKind.Deactivate) {
      this.#starvers.remove(page, requester)
      return
    }
    this.#starvers.add(page, requester, kind === MessageKind.ActivateModified, requesterFrame)
    if (this.#homeOf(page) === this.rank) this.#directories.receive(this.#entry(page), message)
  }

  #receivePersistent(message: CoherenceMessage): void {
    const { kind, page } = message
    this.#notePersistent(message)
    if (kind !== MessageKind.Deactivate) return
    this.respond(MessageKind.Deactivated, page, message, 0)
    if (!this.#starvers.hasMarked(page)) this.#caches.turnCame(this.#copy(page), page)
  }

  /** A starving node is given what is here, and what will come. If the page must be held, `retry` comes. */
  #feedStarver(page: number): void {
    const starver = this.#starvingFor(page)
    if (starver === undefined || this.#mustHold(page)) return
    const { rank, write, frame } = starver
    const kind = write ? MessageKind.ActivateModified : MessageKind.ActivateShared
    const message = { ...this.#message(kind, page, rank, 0, frame, noFrame), from: rank }
    this.#caches.starve(this.#copy(page), message, write)
  }

  /** The first of the nodes that starve for a page, if it needs what is here. */
  #starvingFor(page: number): Starver | undefined {
    const starver = this.#starvers.first(page)
    if (starver === undefined || starver.rank === this.rank) return undefined
    return this.#caches.hasForStarver(this.#copy(page), starver.write) ? starver : undefined
  }

  #message(
    kind: MessageKind,
    page: number,
    requester: number,
    count: number,
    requesterFrame: FrameReference,
    homeFrame: FrameReference,
  ): CoherenceMessage {
    return { kind, page, from: this.rank, requester, count, requesterFrame, homeFrame }
  }

  #send(to: number, message: CoherenceMessage): void {
    if (to === this.rank) this.#toSelf.push(message)
    else if (this.isAlive(to)) this.#port.send(to, message)
  }

  #afterStep(page: number): void {
    this.#deliverToSelf()
    if (this.#starvers.size > 0) this.#feedStarver(page)
    this.#serveRested()
  }

  #serveRested(): void {
    for (let page = this.#rested.pop(); page !== undefined; page = this.#rested.pop()) {
      this.#serveDeferred(page)
      this.#deliverToSelf()
    }
  }

  #deliverToSelf(): void {
    if (this.#delivering || this.#toSelf.length === 0) return
    this.#delivering = true
    try {
      for (let message = this.#toSelf.shift(); message !== undefined; message = this.#toSelf.shift())
        this.#route(message)
    } finally {
      this.#delivering = false
    }
  }

  /**
   * Serve what waits for a page, in order, until an entry has to go on waiting: the page is held once more, or its
   * table defers. Starving nodes come first. Otherwise nodes whose questions arrive while the page is held could pass
   * it among themselves for ever.
   */
  #serveDeferred(page: number): void {
    const waiting = this.#deferred.get(page)
    if (waiting === undefined) return
    this.#deferred.delete(page)
    let served = 0
    while (served < waiting.length && !this.#deferred.has(page) && !this.#mustHold(page)) {
      if (this.#starvers.size > 0) this.#feedStarver(page)
      this.#caches.receive(this.#copy(page), waiting[served++]!)
    }
    for (const message of waiting.slice(served)) this.defer(message)
  }

  #route(message: CoherenceMessage): void {
    const { page, kind } = message
    if (isPersistent(kind)) this.#receivePersistent(message)
    else if (isForDirectory(kind)) this.#directories.receive(this.#entry(page), message)
    else if (takesAway(kind) && this.#mustWait(page)) this.defer(message)
    // It says what came before it in home's order: it must not overtake that while the page is held.
    else if (kind === MessageKind.Asked && this.#deferred.has(page)) this.defer(message)
    else this.#caches.receive(this.#copy(page), message)
  }

  /** First come, first served. */
  #mustWait(page: number): boolean {
    return this.#deferred.has(page) || this.#mustHold(page)
  }

  /** What the program cannot touch need not be held. */
  #mustHold(page: number): boolean {
    return this.right(page) !== 'none' && this.#port.mustHold(page)
  }

  /** What is remembered of a page, without remembering it. */
  #seen(page: number): CacheEntry {
    return this.#copies.get(page) ?? this.#caches.newEntry(this.#homeOf(page) === this.rank)
  }

  #copy(page: number): CacheEntry {
    let entry = this.#copies.get(page)
    if (entry === undefined) {
      entry = this.#caches.newEntry(this.#homeOf(page) === this.rank)
      this.#copies.set(page, entry)
    }
    return entry
  }

  #entry(page: number): DirectoryEntry {
    let entry = this.#entries.get(page)
    if (entry === undefined) {
      entry = this.#directories.newEntry()
      this.#entries.set(page, entry)
    }
    return entry
  }
}

const SEPARATOR = '\u{ffff}'
const NOTHING = SEPARATOR + SEPARATOR + SEPARATOR

function fingerprintOf({ kind, from, requester, count }: CoherenceMessage): string {
  return String.fromCharCode(kind, from + 1, requester + 1, count)
}

function ascending(one: number, other: number): number {
  return one - other
}
