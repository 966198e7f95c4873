import { TraceLevel, traceChannel } from '../../profiling/index.ts'
import {
  Access,
  CompletionBatch,
  type CompletionChannel,
  type CompletionQueue,
  type Device,
  openDevice,
  type ProtectionDomain,
  type RemoteEndpoint,
} from '../../verbs/index.ts'
import type { AcceptorLink } from './acceptor-link.ts'
import { HeadWord, LOOK_BYTES } from './layout.ts'
import { OwnLink } from './own-link.ts'
import { RECEIVES_MAX, REQUESTS_MAX, type RemoteRegion, ReplicaLink } from './replica-link.ts'
import { ReplicaMemory } from './replica-memory.ts'
import { type Protocol, takesRights } from './rights.ts'
import { currentNsOf, type ReplicaSettings } from './settings.ts'

const trace = traceChannel('consensus')

/** How a replica is reached by one other. */
export interface ReplicaCard {
  readonly id: number
  /** Counts the connections between the two: the higher one is the newer. */
  readonly attempt: number
  readonly endpoint: RemoteEndpoint
  readonly region: RemoteRegion
  /** Where the other may write its values; -1 where there is no room. */
  readonly frame: number
}

/** What a replica knows of another. */
export interface Peer {
  readonly id: number
  readonly link: ReplicaLink
  readonly attempt: number
  /** The frame of its memory that is ours. */
  frame: number
  counter: number
  /** Looks at which its counter stood still. */
  silent: number
  /** When it was looked at last, and a time at which or after which its counter went on. */
  lookedNs: number
  aliveNs: number
  taken: number
  promise: number
  left: number
  /** Its newest check; see `state-checks.ts`. */
  check: bigint
  isLooking: boolean
  /** What it has reported to be on its disk, over this link. */
  durable: { readonly term: number; readonly index: number } | undefined
  /** It has ended for certain. */
  isDead: boolean
  /** It has asked to vote no more. */
  isLeaving: boolean
  /** It leaves once another votes in its place, and not before. */
  isPatient: boolean
}

interface ConnectionsEvents {
  /** To the replica with that id, by another way than its link. */
  say(id: number, card: ReplicaCard): void
  /** `bytes` are valid during the call. */
  message(peer: Peer, type: number, bytes: Uint8Array): void
  /** Someone has written something into our memory. */
  noticed(): void
  joined(peer: Peer): void
  /** The connection to that replica has ended. That to itself has been made again by then. */
  left(id: number): void
}

export interface ConnectionsOptions {
  /** Name of the verbs device. */
  readonly device: string
  readonly id: number
  readonly settings: ReplicaSettings
  /** With `mu` only the leader that was granted it may write into this replica's memory. */
  readonly protocol: Protocol
  readonly events: ConnectionsEvents
}

/**
 * Until the connection of one that has ended is given back. That takes as long as to find another leader, and waits for
 * what the kernel still does for the one that has ended.
 */
const BURIAL_TICKS = 20
/** A look is answered before the next but one. */
const FRESH_LOOKS = 4
/** What everyone may do, and what one whose compare-and-swaps decide may. */
const VISITOR = Access.RemoteRead | Access.RemoteAtomic
const WRITER = VISITOR | Access.RemoteWrite

/**
 * A replica's memory, and its connections to other replicas and to itself. The atomics of some devices
 * are atomic among themselves only: there its own memory is reached as that of others is.
 */
export class Connections implements Iterable<Peer> {
  readonly domain: ProtectionDomain
  readonly memory: ReplicaMemory
  /** Which frame of its own memory is its own. */
  readonly selfFrame: number
  readonly #options: ConnectionsOptions
  readonly #device: Device
  readonly #channel: CompletionChannel
  readonly #queue: CompletionQueue
  readonly #batch = new CompletionBatch(64)
  readonly #peers = new Map<number, Peer>()
  readonly #byNumber = new Map<number, ReplicaLink>()
  /** Replicas that have ended for certain. */
  readonly #dead = new Set<number>()
  /** Those of them that may still finish a WRITE. */
  readonly #unfenced = new Set<number>()
  /** Those of them whose connections were not given back yet: ticks until then. */
  readonly #dying = new Map<Peer, number>()
  /** Its own memory is reached directly where the device lets the processor's atomics be. */
  readonly #own: OwnLink | undefined
  #self: ReplicaLink | undefined
  /** With `mu`: the connection of the leader that may write here. */
  #writer: ReplicaLink | undefined
  /** An event of the channel is still to come, or to be taken. */
  #isArmed = false

  constructor(options: ConnectionsOptions) {
    const { id, settings, device } = options
    this.#options = options
    this.#device = openDevice(device)
    this.domain = this.#device.createProtectionDomain()
    this.#channel = this.#device.createCompletionChannel()
    const depth = settings.frames * (REQUESTS_MAX + RECEIVES_MAX)
    this.#queue = this.#device.createCompletionQueue({ depth, channel: this.#channel })
    this.memory = new ReplicaMemory(this.domain, settings, id)
    this.memory.isByRights = takesRights(this.#device, options.protocol)
    this.selfFrame = this.memory.frameFor(id)!
    const { region, layout } = this.memory
    if (this.#device.attributes.atomics === 'global') this.#own = new OwnLink(region.bytes, layout.headBytes)
    else this.#self = this.#newSelf()
  }

  get self(): AcceptorLink {
    return this.#own ?? this.#self!
  }

  get(id: number): Peer | undefined {
    return this.#peers.get(id)
  }

  /** No other replica is known. */
  get isEmpty(): boolean {
    return this.#peers.size === 0
  }

  [Symbol.iterator](): Iterator<Peer> {
    return this.#peers.values()
  }

  /** The process of that replica has ended for certain. */
  isDead(id: number): boolean {
    return this.#dead.has(id)
  }

  isAlive(id: number): boolean {
    if (id === this.#options.id) return true
    const peer = this.#peers.get(id)
    return peer !== undefined && !peer.isDead && peer.link.isUp && peer.silent < this.#options.settings.silentTicks
  }

  /** Its counter went on within the last looks, so it has not ended before them. */
  isFresh(id: number): boolean {
    return this.isAlive(id) && (this.#peers.get(id)?.silent ?? 0) < FRESH_LOOKS
  }

  /** That replica has not begun again in a way that counts: it is this one, or was seen alive a short time ago. */
  isCurrent(id: number, nowNs: number): boolean {
    if (id === this.#options.id) return true
    const { aliveNs = Number.NEGATIVE_INFINITY } = this.#peers.get(id) ?? {}
    return nowNs - aliveNs < currentNsOf(this.#options.settings)
  }

  isLeaving(id: number): boolean {
    return this.#peers.get(id)?.isLeaving === true
  }

  /** It is to be replaced, and votes until then. */
  waitsToLeave(id: number): boolean {
    const { isLeaving = false, isPatient = false, isDead = false } = this.#peers.get(id) ?? {}
    return isLeaving && isPatient && !isDead
  }

  /** The highest term that was promised anywhere, as far as is known. */
  get highestPromise(): number {
    let highest = this.memory.promise
    for (const { promise } of this.#peers.values()) highest = Math.max(highest, promise)
    return highest
  }

  /** There is a replica with that id. The one with the lower id begins. */
  meet(id: number): void {
    const { id: own } = this.#options
    if (id !== own && own < id && !this.#peers.has(id)) this.#connectAnew(id, 1)
  }

  /** Another replica says how it is reached. */
  hear(card: ReplicaCard): void {
    const before = this.#peers.get(card.id)
    if (before === undefined || card.attempt > before.attempt) this.#connectAnew(card.id, card.attempt)
    const peer = this.#peers.get(card.id)
    if (peer === undefined || card.attempt < peer.attempt || peer.isDead || peer.link.isUp) return
    const { events } = this.#options
    peer.frame = card.frame
    try {
      peer.link.connect(card.endpoint, card.region, this.#terms, {
        message: (type, bytes) => events.message(peer, type, bytes),
        noticed: () => events.noticed(),
      })
    } catch (error) {
      peer.link.broken ??= (error as Error).message
      return
    }
    peer.silent = 0
    events.joined(peer)
  }

  /**
   * The process of a replica has ended for certain. False if that was known. What connected the two is given back by
   * {@link mend}, later.
   */
  ended(id: number): boolean {
    if (id === this.#options.id || this.#dead.has(id)) return false
    this.#dead.add(id)
    const peer = this.#peers.get(id)
    if (peer === undefined) return true
    peer.isDead = true
    peer.link.broken ??= 'its process has ended'
    this.#dying.set(peer, BURIAL_TICKS)
    this.#options.events.left(id)
    return true
  }

  /**
   * From now on the leader of that term writes into this memory, and no one else. What others had under way has landed,
   * or does not land any more.
   */
  grant(id: number, term: number): void {
    const link = id === this.#options.id ? this.#self : this.#peers.get(id)?.link
    if (this.#writer !== link) this.#writer?.allow(VISITOR)
    this.#writer = link
    link?.allow(WRITER)
    this.memory.granted = term
  }

  /** That replica was begun again: nothing is known of it. */
  forget(id: number): void {
    const peer = this.#peers.get(id)
    if (peer !== undefined) this.#drop(peer)
    this.#peers.delete(id)
    this.#dead.delete(id)
  }

  /** Look how far each is, and whether it lives. `done`: what can be seen has been seen. */
  look(nowNs: number, done: () => void = nothing): void {
    let left = 1
    const seen = (): void => {
      left -= 1
      if (left === 0) done()
    }
    for (const peer of this.#peers.values()) if (lookAt(peer, nowNs, seen)) left += 1
    seen()
  }

  /** At each tick. Make connections that broke again, if this is the lower id. Give back those to ended processes. */
  mend(): void {
    const { id, events } = this.#options
    for (const [peer, ticks] of this.#dying)
      if (ticks > 0) this.#dying.set(peer, ticks - 1)
      else this.#fence(peer)
    if (this.#self?.broken !== undefined) {
      this.#byNumber.delete(this.#self.number)
      this.#self.close()
      this.#self = this.#newSelf()
      events.left(id)
    }
    for (const peer of [...this.#peers.values()])
      if (!peer.isDead && peer.link.broken !== undefined) this.#connectAnew(peer.id, peer.attempt + 1)
  }

  get descriptors(): readonly number[] {
    return [this.#channel.descriptor]
  }

  whenReadable(ready: () => void): () => void {
    return this.#channel.whenReadable(ready)
  }

  /** Take what has completed. True if anything has. */
  reap(): boolean {
    const batch = this.#batch
    let any = this.#own?.tell() === true
    if (this.#own !== undefined && this.#peers.size === 0) return any
    for (let count = this.#queue.poll(batch); count > 0; count = this.#queue.poll(batch)) {
      any = true
      for (let row = 0; row < count; row += 1) this.#byNumber.get(batch.queuePairNumber[row]!)?.completed(batch, row)
    }
    return any
  }

  /** What completes from here on makes the descriptor readable. A replica that is alone has nothing under way. */
  arm(): void {
    const isIdle = this.#peers.size === 0 && this.#self?.isAwaited !== true
    if (isIdle && !this.#isArmed) return
    // What it was armed for may have come: not taken, that would end each sleep at once.
    const hasFired = this.#channel.drain().length > 0
    if (!isIdle) this.#queue.arm()
    this.#isArmed = !isIdle || !hasFired
  }

  close(): void {
    this.#device.close()
    this.memory.close()
  }

  /** The timeout is an exponent; 0 for ever. */
  get #terms(): { readonly timeout: number; readonly access: number } {
    const { linkLayer } = this.#device.attributes
    const { settings } = this.#options
    return {
      timeout: linkLayer === 'shared-memory' ? 0 : settings.acknowledgeTimeout,
      access: this.memory.isByRights ? VISITOR : WRITER,
    }
  }

  get #region(): RemoteRegion {
    const { address, remoteKey } = this.memory.region
    return { address, key: remoteKey }
  }

  #newLink(): ReplicaLink {
    const link = new ReplicaLink(this.domain, this.#queue, this.#options.settings.cellBytes)
    this.#byNumber.set(link.number, link)
    return link
  }

  #newSelf(): ReplicaLink {
    const link = this.#newLink()
    link.connect(link.endpoint, this.#region, this.#terms, { message: nothing, noticed: nothing })
    return link
  }

  #connectAnew(id: number, attempt: number): void {
    if (this.#dead.has(id)) return
    const before = this.#peers.get(id)
    const { id: own, events } = this.#options
    if (before !== undefined) {
      trace.publish(TraceLevel.Info, 'connects again', () => ({ replica: own, peer: id, attempt }))
      this.#drop(before)
    }
    const link = this.#newLink()
    const { counter = -1, silent = 0, taken = 0, promise = 0, left = 0, check = 0n } = before ?? {}
    const { isLeaving = false, isPatient = false } = before ?? {}
    const known = { counter, silent, taken, promise, left, check, isLeaving, isPatient }
    const unseen = { lookedNs: Number.NEGATIVE_INFINITY, aliveNs: Number.NEGATIVE_INFINITY, isLooking: false }
    this.#peers.set(id, { id, link, attempt, frame: -1, ...known, ...unseen, durable: undefined, isDead: false })
    const frame = this.#frameFor(id)
    events.say(id, { id: own, attempt, endpoint: link.endpoint, region: this.#region, frame })
  }

  #frameFor(id: number): number {
    let frame = this.memory.frameFor(id)
    if (frame === undefined) {
      for (const peer of this.#dying.keys()) this.#fence(peer)
      for (const dead of this.#dead) if (!this.#unfenced.has(dead)) this.memory.release(dead)
      frame = this.memory.frameFor(id)
    }
    return frame ?? -1
  }

  #drop(peer: Peer): void {
    this.#options.events.left(peer.id)
    this.#fence(peer)
  }

  /** Nothing from there arrives any more. */
  #fence(peer: Peer): void {
    this.#dying.delete(peer)
    this.#byNumber.delete(peer.link.number)
    const isFenced = peer.link.close()
    if (!isFenced) this.#unfenced.add(peer.id)
    else if (peer.isDead && !this.#unfenced.has(peer.id)) this.memory.release(peer.id)
  }
}

/** False if nothing is to be seen there now. */
function lookAt(peer: Peer, nowNs: number, seen: () => void): boolean {
  if (peer.isDead) return false
  peer.silent += 1
  if (peer.isLooking || !peer.link.isUp) return false
  peer.isLooking = true
  // Its counter has gone on since then, if it has.
  const beforeNs = peer.lookedNs
  peer.lookedNs = nowNs
  peer.link.read(0, LOOK_BYTES, (bytes) => {
    peer.isLooking = false
    const words = new DataView(bytes.buffer, bytes.byteOffset, LOOK_BYTES)
    const counter = Number(words.getBigUint64(HeadWord.Counter, true))
    if (counter !== peer.counter) {
      peer.silent = 0
      peer.aliveNs = beforeNs
    }
    peer.counter = counter
    peer.taken = Number(words.getBigUint64(HeadWord.Taken, true))
    peer.promise = Number(words.getBigUint64(HeadWord.Promise, true))
    peer.left = Number(words.getBigUint64(HeadWord.Left, true))
    peer.check = words.getBigUint64(HeadWord.Check, true)
    seen()
  })
  return true
}

function nothing(): void {
  return
}
