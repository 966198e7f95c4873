import { CacheController, type CacheEntry, type CachePort } from './cache-controller.ts'
import { DirectoryController, type DirectoryEntry } from './directory-controller.ts'
import { type CoherenceMessage, type FrameReference, isForDirectory, MessageKind, noFrame } from './message.ts'
import type { Protocol, Right } from './protocol.ts'

/** What a node asks of the world: the agent, the explorer and the simulator each give it their own. */
export interface NodePort {
  /** Deliver to another rank, in order. Never called with the node's own rank. */
  send(to: number, message: CoherenceMessage): void
  /** Copy our frame of `page` to where `frame` says at rank `to`, ahead of the next message to that rank. */
  push(page: number, to: number, frame: FrameReference): void
  /** Where our own frame of `page` is, ready to be written by a peer. */
  ownFrame(page: number): FrameReference
  mapReadOnly(page: number): void
  mapWritable(page: number): void
  protect(page: number): void
  unmap(page: number): void
  /** The page cannot be had; `rank` took it along, or has no memory for it. -1 where that was said before. */
  failed(page: number, rank: number, wantsMemory: boolean): void
  /**
   * True where the page must not be taken away yet: pinned, or granted so recently that the access that asked for it has not run.
   * The port then calls `retry(page)` in bounded time.
   */
  mustHold(page: number): boolean
  isAlive(rank: number): boolean
}

export interface NodeOptions {
  readonly rank: number
  readonly ranks: number
  readonly protocol: Protocol
  readonly homeOf: (page: number) => number
  readonly port: NodePort
}

/** One node's part in the coherence of one region: its copies, and the directory of the pages whose home it is. A synchronous state machine. */
export class CoherenceNode implements CachePort {
  readonly rank: number
  readonly #port: NodePort
  readonly #homeOf: (page: number) => number
  readonly #caches: CacheController
  readonly #directories: DirectoryController
  /** Entries appear when a page is first touched: a sparse region costs nothing. */
  readonly #copies = new Map<number, CacheEntry>()
  readonly #entries = new Map<number, DirectoryEntry>()
  /** Invalidations and forwards that came while the page had to be held; home is blocked, so at most one a page. */
  readonly #deferred = new Map<number, CoherenceMessage>()
  /** Messages to ourselves, delivered in order before control returns to the caller. */
  readonly #toSelf: CoherenceMessage[] = []
  #delivering = false

  constructor(options: NodeOptions) {
    this.rank = options.rank
    this.#port = options.port
    this.#homeOf = options.homeOf
    this.#caches = new CacheController(options.protocol, this)
    this.#directories = new DirectoryController(options.protocol, options.ranks, {
      respond: (kind, page, message, acks) => this.#respond(kind, page, message, acks),
      forward: (kind, page, holder, message) => this.#forward(kind, page, holder, message),
      pushToRequester: (page, message) => this.pushToRequester(page, message),
      isAlive: (rank) => this.isAlive(rank),
    })
  }

  /** A thread here wants to read or write `page`. Nothing happens that was not needed: a hit re-installs and wakes. */
  demand(page: number, write: boolean): void {
    this.#caches.demand(this.#copy(page), page, write)
    this.#deliverToSelf()
  }

  receive(message: CoherenceMessage): void {
    this.#route(message)
    this.#deliverToSelf()
  }

  /** The page need not be held any more: serve what was deferred. */
  retry(page: number): void {
    const message = this.#deferred.get(page)
    if (message === undefined) return
    this.#deferred.delete(page)
    this.receive(message)
  }

  isDeferred(page: number): boolean {
    return this.#deferred.has(page)
  }

  /** Every page's transactions with a dead member are ended, one way or the other. */
  memberDied(rank: number): void {
    for (const [page, entry] of this.#copies) {
      if (this.#homeOf(page) === rank && this.#caches.isTransient(entry))
        this.#caches.homeDied(entry, this.#message(MessageKind.Refused, page, this.rank, rank, noFrame, noFrame))
    }
    for (const [page, entry] of this.#entries) this.#directories.memberDied(entry, page, rank)
    this.#deliverToSelf()
  }

  /** The right that the program has on a page, as the protocol sees it. */
  right(page: number): Right {
    const entry = this.#copies.get(page)
    return entry === undefined ? 'none' : this.#caches.right(entry)
  }

  /** The state of our copy, by its name in the table. */
  copyState(page: number): string {
    return this.#caches.stateName(this.#copies.get(page) ?? this.#caches.newEntry())
  }

  /** The directory entry of a page whose home we are. */
  directory(page: number): { state: string; owner: number; sharers: number[]; version: number; waiting: number } {
    const entry = this.#entries.get(page) ?? this.#directories.newEntry()
    const { owner, sharers, version, queue } = entry
    return { state: this.#directories.stateName(entry), owner, sharers: [...sharers], version, waiting: queue.length }
  }

  /** True where no page is in a transient state and nothing is deferred. */
  isQuiescent(): boolean {
    for (const entry of this.#copies.values()) if (this.#caches.isTransient(entry)) return false
    for (const entry of this.#entries.values())
      if (this.#directories.isTransient(entry) || entry.queue.length > 0) return false
    return this.#deferred.size === 0
  }

  /** Everything that decides what happens next, as text: two nodes with the same fingerprint behave the same. For the explorer. */
  fingerprint(): string {
    const copies = [...this.#copies].map(([page, entry]) => [
      page,
      entry.state,
      entry.acksMissing,
      entry.granted,
      entry.ackedBy,
    ])
    const entries = [...this.#entries].map(([page, { version: _, sharers, ...entry }]) => [
      page,
      { ...entry, sharers: [...sharers] },
    ])
    return JSON.stringify([copies.sort(), entries.sort(), [...this.#deferred]])
  }

  // ---- what the controllers ask for -----------------------------------------------------------------------------------------

  request(kind: MessageKind, page: number): void {
    const home = this.#homeOf(page)
    // A request to the dead is answered at once, in order with everything else.
    if (this.isAlive(home))
      this.#send(home, this.#message(kind, page, this.rank, 0, this.#port.ownFrame(page), noFrame))
    else this.#send(this.rank, this.#message(MessageKind.Refused, page, this.rank, home, noFrame, noFrame))
  }

  tellHome(kind: MessageKind, page: number): void {
    this.#send(this.#homeOf(page), this.#message(kind, page, this.rank, 0, noFrame, noFrame))
  }

  respond(kind: MessageKind, page: number, message: CoherenceMessage): void {
    this.#respond(kind, page, message, 0)
  }

  pushToRequester(page: number, message: CoherenceMessage): void {
    if (message.requester !== this.rank && this.isAlive(message.requester))
      this.#port.push(page, message.requester, message.requesterFrame)
  }

  pushToHome(page: number, message: CoherenceMessage): void {
    const home = this.#homeOf(page)
    if (home !== this.rank && home !== message.requester && this.isAlive(home))
      this.#port.push(page, home, message.homeFrame)
  }

  mapReadOnly(page: number): void {
    this.#port.mapReadOnly(page)
  }

  mapWritable(page: number): void {
    this.#port.mapWritable(page)
  }

  protect(page: number): void {
    this.#port.protect(page)
  }

  unmap(page: number): void {
    this.#port.unmap(page)
  }

  failed(page: number, rank: number, wantsMemory: boolean): void {
    this.#port.failed(page, rank, wantsMemory)
  }

  isAlive(rank: number): boolean {
    return rank === this.rank || this.#port.isAlive(rank)
  }

  // ---- plumbing --------------------------------------------------------------------------------------------------------------

  #respond(kind: MessageKind, page: number, message: CoherenceMessage, acks: number): void {
    this.#send(message.requester, this.#message(kind, page, message.requester, acks, noFrame, noFrame))
  }

  #forward(kind: MessageKind, page: number, holder: number, message: CoherenceMessage): void {
    const homeFrame = kind === MessageKind.ForwardShared ? this.#port.ownFrame(page) : noFrame
    this.#send(holder, this.#message(kind, page, message.requester, 0, message.requesterFrame, homeFrame))
  }

  #message(
    kind: MessageKind,
    page: number,
    requester: number,
    acks: number,
    requesterFrame: FrameReference,
    homeFrame: FrameReference,
  ): CoherenceMessage {
    return { kind, page, from: this.rank, requester, acks, requesterFrame, homeFrame }
  }

  #send(to: number, message: CoherenceMessage): void {
    if (to === this.rank) this.#toSelf.push(message)
    else if (this.isAlive(to)) this.#port.send(to, message)
  }

  #deliverToSelf(): void {
    if (this.#delivering) return
    this.#delivering = true
    try {
      for (let message = this.#toSelf.shift(); message !== undefined; message = this.#toSelf.shift())
        this.#route(message)
    } finally {
      this.#delivering = false
    }
  }

  #route(message: CoherenceMessage): void {
    const { page, kind } = message
    if (isForDirectory(kind)) {
      this.#directories.receive(this.#entry(page), message)
      return
    }
    const takesAway =
      kind === MessageKind.Invalidate || kind === MessageKind.ForwardShared || kind === MessageKind.ForwardModified
    if (takesAway && this.#port.mustHold(page)) {
      this.#deferred.set(page, message)
      return
    }
    this.#caches.receive(this.#copy(page), message)
  }

  #copy(page: number): CacheEntry {
    let entry = this.#copies.get(page)
    if (entry === undefined) {
      entry = this.#caches.newEntry()
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
