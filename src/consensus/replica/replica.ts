import { TraceLevel, traceChannel } from '../../profiling/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import {
  CompletionBatch,
  type CompletionChannel,
  type CompletionQueue,
  type Device,
  openDevice,
  type ProtectionDomain,
  type RemoteEndpoint,
} from '../../verbs/index.ts'
import { type Entry, EntryFlag } from './cell.ts'
import {
  type Configuration,
  decodeConfiguration,
  majorityOf,
  type Voter,
  withoutVoter,
  withVoters,
} from './configuration.ts'
import { HeadWord, LOOK_BYTES } from './layout.ts'
import { LogHistory } from './log-history.ts'
import { Proposer } from './proposer.ts'
import { RECEIVES_MAX, REQUESTS_MAX, type RemoteRegion, ReplicaLink } from './replica-link.ts'
import { ReplicaMemory } from './replica-memory.ts'
import type { ReplicaSettings } from './settings.ts'
import { type SnapshotOffer, SnapshotTransfer } from './snapshot-transfer.ts'
import { NUMBERS, proposerOf, termAbove } from './term.ts'

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

/** What a replica tells its program. */
interface ReplicaEvents {
  /** The next decided entry. */
  decided(entry: Entry): void
  /** To the replica with that id, by another way than its link. */
  say(id: number, card: ReplicaCard): void
  /** What was proposed and is not decided has to be proposed again. */
  proposeAgain(): void
  /** Take a snapshot of all entries so far, and give it to {@link Replica.offerSnapshot}. */
  snapshotWanted(): void
  /** Begin again from this snapshot. Entries from `index + 1` on follow. */
  restore(index: number, bytes: Uint8Array): void
  /** A read that was asked for may be answered once entries up to `index` are applied; undefined: ask again. */
  readable(token: number, index: number | undefined): void
  /** Whether the program does what it is asked. One that does not is not to lead. */
  isResponsive(): boolean
  /** Whether the program has room for more entries. */
  mayTake(): boolean
}

export interface ReplicaOptions {
  /** Name of the verbs device. */
  readonly device: string
  readonly id: number
  readonly settings: ReplicaSettings
  /** Undefined for a replica that is not there from the start: it learns who votes. */
  readonly founding: Configuration | undefined
  /** As many voters as there should be. */
  readonly votersWanted: number
  readonly runtime: Runtime
  /** Milliseconds since 1970. */
  readonly clockMs: () => number
  readonly events: ReplicaEvents
}

/** What a replica knows of another. */
interface Peer {
  readonly id: number
  link: ReplicaLink
  attempt: number
  /** The frame of its memory that is ours. */
  frame: number
  counter: number
  /** Looks at which its counter stood still. */
  silent: number
  taken: number
  promise: number
  left: number
  isLooking: boolean
  /** It has ended for certain. */
  isDead: boolean
  /** It has asked to vote no more. */
  isLeaving: boolean
}

const MessageType = { Forward: 1, AskIndex: 2, Index: 3, Snapshot: 4, Campaign: 5, Leave: 6 } as const

/** How long a leader that gave up does not try again, in times that a replica may be silent. */
const RESTING_TICKS = 2
/** Distance between those who would be leader, in ticks. */
const STAGGER_TICKS = 6
/** A replica that lacks entries is offered a snapshot again after this number of ticks. */
const OFFER_TICKS = 4
/** The least time between two looks at an acceptor that has no room. */
const FULL_LOOK_NS = 50_000

/**
 * One replica of a log: its memory, which others read and change one-sided, its connections, and its part in who leads.
 * It belongs to one thread, and does nothing but in `turn`. It has no clock and no randomness of its own.
 */
export class Replica {
  readonly id: number
  readonly #options: ReplicaOptions
  readonly #device: Device
  readonly #domain: ProtectionDomain
  readonly #channel: CompletionChannel
  readonly #queue: CompletionQueue
  readonly #batch = new CompletionBatch(64)
  readonly #memory: ReplicaMemory
  readonly #peers = new Map<number, Peer>()
  readonly #byNumber = new Map<number, ReplicaLink>()
  #self: ReplicaLink
  readonly #selfFrame: number
  readonly #snapshots: SnapshotTransfer
  #history: LogHistory
  #configuration: Configuration | undefined
  /** The newest ones, with the index from which each holds. */
  #configurations: { readonly index: number; readonly configuration: Configuration }[] = []
  #leader: Proposer | undefined
  /** Whose term the newest decided `Begin` is of. */
  #leaderId: number | undefined
  #beginTerm = 0
  #leaderlessTicks = 0
  #restingTicks = 0
  /** The highest term that it has wanted to lead in. */
  #ownTerm = 0
  #fullLookNs = 0
  #hasNews = false
  /** Replicas that have ended for certain. */
  readonly #dead = new Set<number>()
  /** Those of them that may still finish a WRITE. */
  readonly #unfenced = new Set<number>()
  /** Proposals that the leader had no room for. */
  readonly #unsent: Uint8Array[] = []
  #leaving: (() => void) | undefined
  #closed = false

  constructor(options: ReplicaOptions) {
    const { id, settings, founding, device, runtime } = options
    this.id = id
    this.#options = options
    this.#device = openDevice(device)
    this.#domain = this.#device.createProtectionDomain()
    this.#channel = this.#device.createCompletionChannel()
    const depth = settings.frames * (REQUESTS_MAX + RECEIVES_MAX)
    this.#queue = this.#device.createCompletionQueue({ depth, channel: this.#channel })
    this.#memory = new ReplicaMemory(this.#domain, settings)
    this.#history = new LogHistory(0, settings.historyBytes)
    this.#snapshots = new SnapshotTransfer(this.#domain)
    if (founding !== undefined) this.#configure(0, founding)
    this.#selfFrame = this.#memory.frameFor(id)!
    this.#self = this.#newSelf()
    runtime.timers.at(runtime.now() + settings.tickNs, () => this.#tick())
  }

  get region(): RemoteRegion {
    const { address, remoteKey } = this.#memory.region
    return { address, key: remoteKey }
  }

  /** For those who look on from outside, as simulations do. */
  get memory(): ReplicaMemory {
    return this.#memory
  }

  /** The last entry that is decided and here. */
  get taken(): number {
    return this.#history.last
  }

  get configuration(): Configuration | undefined {
    return this.#configuration
  }

  get isLeader(): boolean {
    return this.#leader?.isReady === true
  }

  /** The replica whose term began last; undefined before the first. */
  get leaderId(): number | undefined {
    return this.#leaderId
  }

  get term(): number {
    return this.#beginTerm
  }

  /** As the leader sees it: by how many entries each replica is behind. */
  get lags(): readonly { readonly id: number; readonly entries: number }[] {
    const acceptors = [...(this.#leader?.acceptors.values() ?? [])]
    return acceptors.map(({ id, taken }) => ({ id, entries: Math.max(0, this.#history.last - taken) }))
  }

  // ---- connections
  // ---------------------------------------------------------------------------------------------------------------

  /** There is a replica with that id. The one with the lower id begins. */
  meet(id: number): void {
    if (id === this.id || this.#peers.has(id) || this.#dead.has(id) || this.#closed) return
    if (this.id < id) this.#connectAnew(id, 1)
  }

  /** Another replica says how it is reached. */
  hear(card: ReplicaCard): void {
    if (this.#closed) return
    const peer = this.#peers.get(card.id)
    if (peer === undefined || card.attempt > peer.attempt) this.#connectAnew(card.id, card.attempt)
    const now = this.#peers.get(card.id)
    if (now === undefined || card.attempt < now.attempt || now.isDead || now.link.isUp) return
    now.frame = card.frame
    try {
      now.link.connect(card.endpoint, card.region, this.#linkTimeout, {
        message: (type, bytes) => this.#message(now, type, bytes),
        noticed: () => {
          this.#hasNews = true
        },
      })
    } catch (error) {
      now.link.broken ??= (error as Error).message
      return
    }
    now.silent = 0
    this.#joinLeader(now)
    if (now.id === this.#leaderId) this.#options.events.proposeAgain()
  }

  /** The process of a replica has ended for certain. */
  ended(id: number): void {
    if (id === this.id || this.#closed || this.#dead.has(id)) return
    this.#dead.add(id)
    const peer = this.#peers.get(id)
    if (peer !== undefined) {
      peer.isDead = true
      this.#drop(peer)
    }
    this.#hasNews = true
    // What is certain is not waited for.
    if (this.#leader === undefined) this.#considerLeading()
    else this.#keepVoters(this.#leader)
  }

  // ---- what the program asks for
  // ---------------------------------------------------------------------------------------------------------------

  /** Records for the leader to decide. If there is none, they are dropped; see `proposeAgain`. */
  propose(records: Uint8Array): void {
    if (this.#leader !== undefined) this.#leader.propose(records)
    else this.#unsent.push(records)
  }

  /** Find out from which index on what is read here is not older than this call. */
  askIndex(token: number): void {
    if (this.#leader !== undefined) this.#answerIndex((index) => this.#options.events.readable(token, index))
    else {
      const asked = this.#linkToLeader()?.send(MessageType.AskIndex, numbers(token))
      if (asked !== true) this.#options.events.readable(token, undefined)
    }
  }

  /** A snapshot of all entries up to `index`, for those that lack what is not kept any more. */
  offerSnapshot(index: number, bytes: Uint8Array): void {
    const known = this.#configurations.findLast((each) => each.index <= index)
    if (known !== undefined)
      this.#snapshots.keep({ index, term: this.#beginTerm, configuration: known.configuration }, bytes)
    this.#hasNews = true
  }

  /** Let another replica lead. False if this one does not, or that one cannot. */
  transfer(id: number): boolean {
    const peer = this.#peers.get(id)
    const votes = this.#configuration?.voters.some((voter) => voter.id === id) === true
    if (!this.isLeader || !votes || peer?.link.isUp !== true) return false
    if (!peer.link.send(MessageType.Campaign, NOTHING)) return false
    this.#rest('it lets another lead')
    return true
  }

  /** Vote no more, so that the others need not find out that this replica has ended. Calls `done` once that is so. */
  leave(done: () => void): void {
    this.#leaving = done
    this.#tryToLeave()
  }

  // ---- running
  // ---------------------------------------------------------------------------------------------------------------

  get descriptors(): readonly number[] {
    return [this.#channel.descriptor]
  }

  whenReadable(ready: () => void): () => void {
    return this.#channel.whenReadable(ready)
  }

  /** Do what there is to do. True if there was anything. */
  turn(): boolean {
    let any = this.#reap()
    if (this.#leader === undefined) {
      any = this.#flushUnsent() || any
      if (this.#hasNews) {
        this.#hasNews = false
        this.#take()
        any = true
      }
    } else any = this.#leader.turn() || any
    return any
  }

  prepareSleep(): boolean {
    this.#channel.drain()
    this.#queue.arm()
    return !this.turn()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#leader?.end()
    this.#device.close()
  }

  // ---- inside
  // ---------------------------------------------------------------------------------------------------------------

  /** As an exponent; 0 for ever. */
  get #linkTimeout(): number {
    const { linkLayer } = this.#device.attributes
    return linkLayer === 'shared-memory' ? 0 : this.#options.settings.acknowledgeTimeout
  }

  #newLink(): ReplicaLink {
    const link = new ReplicaLink(this.#domain, this.#queue, this.#options.settings.cellBytes)
    this.#byNumber.set(link.number, link)
    return link
  }

  /** Its own memory is reached as that of others is: a device's atomics are atomic among themselves only. */
  #newSelf(): ReplicaLink {
    const link = this.#newLink()
    link.connect(link.endpoint, this.region, this.#linkTimeout, { message: nothing, noticed: nothing })
    return link
  }

  #connectAnew(id: number, attempt: number): void {
    const before = this.#peers.get(id)
    if (this.#dead.has(id)) return
    if (before !== undefined) {
      trace.publish(TraceLevel.Info, 'connects again', () => ({ replica: this.id, peer: id, attempt }))
      this.#drop(before)
    }
    const link = this.#newLink()
    const peer: Peer = {
      id,
      link,
      attempt,
      frame: -1,
      counter: before?.counter ?? -1,
      silent: before?.silent ?? 0,
      taken: before?.taken ?? 0,
      promise: before?.promise ?? 0,
      left: before?.left ?? 0,
      isLooking: false,
      isDead: false,
      isLeaving: before?.isLeaving ?? false,
    }
    this.#peers.set(id, peer)
    const frame = this.#frameFor(id)
    this.#options.events.say(id, { id: this.id, attempt, endpoint: link.endpoint, region: this.region, frame })
  }

  #frameFor(id: number): number {
    let frame = this.#memory.frameFor(id)
    if (frame === undefined) {
      for (const dead of this.#dead) if (!this.#unfenced.has(dead)) this.#memory.release(dead)
      frame = this.#memory.frameFor(id)
    }
    return frame ?? -1
  }

  /** Nothing from there arrives any more. */
  #drop(peer: Peer): void {
    this.#leader?.remove(peer.id)
    this.#byNumber.delete(peer.link.number)
    const isFenced = peer.link.close()
    if (!isFenced) this.#unfenced.add(peer.id)
    else if (peer.isDead && !this.#unfenced.has(peer.id)) this.#memory.release(peer.id)
  }

  #reap(): boolean {
    const batch = this.#batch
    let any = false
    for (let count = this.#queue.poll(batch); count > 0; count = this.#queue.poll(batch)) {
      any = true
      for (let row = 0; row < count; row += 1) this.#byNumber.get(batch.queuePairNumber[row]!)?.completed(batch, row)
    }
    return any
  }

  #message(peer: Peer, type: number, bytes: Uint8Array): void {
    if (type === MessageType.Forward) this.#leader?.propose(bytes.slice())
    else if (type === MessageType.AskIndex) {
      const token = numberAt(bytes, 0)
      if (this.#leader === undefined) peer.link.send(MessageType.Index, numbers(token, -1))
      else this.#answerIndex((index = -1) => peer.link.send(MessageType.Index, numbers(token, index)))
    } else if (type === MessageType.Index) {
      const index = numberAt(bytes, 8)
      this.#options.events.readable(numberAt(bytes, 0), index < 0 ? undefined : index)
    } else if (type === MessageType.Snapshot)
      this.#fetchSnapshot(peer, JSON.parse(Buffer.from(bytes).toString()) as SnapshotOffer)
    else if (type === MessageType.Campaign) this.#campaign()
    else if (type === MessageType.Leave) peer.isLeaving = true
  }

  #answerIndex(done: (index: number | undefined) => void): void {
    const leader = this.#leader!
    const index = this.#history.last
    if (leader.isReady) leader.confirm(() => done(index))
    else done(undefined)
  }

  #linkToLeader(): ReplicaLink | undefined {
    const peer = this.#leaderId === undefined ? undefined : this.#peers.get(this.#leaderId)
    return peer?.link.isUp === true ? peer.link : undefined
  }

  #flushUnsent(): boolean {
    if (this.#unsent.length === 0) return false
    const link = this.#linkToLeader()
    // The next leader's first entry tells of it, and then they are proposed again.
    if (link === undefined) return this.#unsent.splice(0).length > 0
    let sent = 0
    while (sent < this.#unsent.length && link.send(MessageType.Forward, this.#unsent[sent]!)) sent += 1
    this.#unsent.splice(0, sent)
    return sent > 0
  }

  // ---- the log
  // ---------------------------------------------------------------------------------------------------------------

  /** Take decided entries out of the ring. */
  #take(): void {
    const { decided } = this.#memory
    while (this.#history.last < decided && this.#options.events.mayTake()) {
      const entry = this.#memory.accepted(this.#history.last + 1)
      // Not all of it can be seen yet, or a snapshot has to come first.
      if (entry === undefined) return
      this.#decided(entry)
    }
  }

  #decided(entry: Entry): void {
    this.#history.push(entry)
    this.#memory.taken = entry.index
    if ((entry.flags & EntryFlag.Configuration) !== 0) this.#configure(entry.index, decodeConfiguration(entry.payload))
    // One that was adopted may be of an older term than one before it, which another leader decided.
    if ((entry.flags & EntryFlag.Begin) !== 0 && entry.term > this.#beginTerm) this.#begun(entry.term)
    this.#options.events.decided(entry)
  }

  #begun(term: number): void {
    this.#beginTerm = term
    const number = proposerOf(term)
    this.#leaderId = this.#configuration?.voters.find((voter) => voter.number === number)?.id
    this.#leaderlessTicks = 0
    trace.publish(TraceLevel.Info, 'term', () => ({ replica: this.id, term, leader: this.#leaderId ?? -1 }))
    this.#options.events.proposeAgain()
  }

  #configure(index: number, configuration: Configuration): void {
    this.#configuration = configuration
    this.#configurations.push({ index, configuration })
    if (this.#configurations.length > 64) this.#configurations.shift()
    trace.publish(TraceLevel.Info, 'configuration', () => ({ replica: this.id, index, version: configuration.version }))
  }

  #fetchSnapshot(peer: Peer, offer: SnapshotOffer): void {
    if (offer.index <= this.#history.last || this.#leader !== undefined) return
    this.#snapshots.fetch(peer.link, offer, (bytes) => {
      if (offer.index <= this.#history.last || this.#leader !== undefined) return
      this.#history = new LogHistory(offer.index, this.#options.settings.historyBytes)
      this.#memory.taken = offer.index
      this.#configure(offer.index, offer.configuration)
      this.#begun(offer.term)
      trace.publish(TraceLevel.Info, 'restored', () => ({ replica: this.id, index: offer.index }))
      this.#options.events.restore(offer.index, bytes)
      this.#hasNews = true
    })
  }

  #needsSnapshot(id: number): void {
    const { runtime, settings } = this.#options
    const link = id === this.id ? undefined : this.#peers.get(id)?.link
    const offer = this.#snapshots.offer
    const againNs = OFFER_TICKS * settings.tickNs
    if (offer === undefined || offer.index < this.#history.base) this.#options.events.snapshotWanted()
    else if (link?.isUp === true && this.#snapshots.mayOffer(id, runtime.now(), againNs))
      link.send(MessageType.Snapshot, Buffer.from(JSON.stringify(offer)))
  }

  // ---- who leads
  // ---------------------------------------------------------------------------------------------------------------

  #tick(): void {
    if (this.#closed) return
    const { runtime, settings, events } = this.#options
    runtime.timers.at(runtime.now() + settings.tickNs, () => this.#tick())
    this.#memory.counter += 1
    if (!events.isResponsive()) this.#rest('its program does not answer')
    else if (this.#restingTicks > 0) this.#restingTicks -= 1
    for (const peer of this.#peers.values()) this.#look(peer)
    this.#mendLinks()
    this.#tryToLeave()
    this.#hasNews = true
    if (this.#leader === undefined) this.#considerLeading()
    else this.#lead(this.#leader)
  }

  #look(peer: Peer): void {
    if (peer.isDead) return
    peer.silent += 1
    if (peer.isLooking || !peer.link.isUp) return
    peer.isLooking = true
    peer.link.read(0, LOOK_BYTES, (bytes) => {
      peer.isLooking = false
      const words = new DataView(bytes.buffer, bytes.byteOffset, LOOK_BYTES)
      const counter = Number(words.getBigUint64(HeadWord.Counter, true))
      if (counter !== peer.counter) peer.silent = 0
      peer.counter = counter
      peer.taken = Number(words.getBigUint64(HeadWord.Taken, true))
      peer.promise = Number(words.getBigUint64(HeadWord.Promise, true))
      peer.left = Number(words.getBigUint64(HeadWord.Left, true))
    })
  }

  /** Connections that broke are made again by the one with the lower id. */
  #mendLinks(): void {
    if (this.#self.broken !== undefined) {
      this.#leader?.remove(this.id)
      this.#byNumber.delete(this.#self.number)
      this.#self.close()
      this.#self = this.#newSelf()
      this.#leader?.add(this.id, this.#self, this.#selfFrame)
    }
    for (const peer of [...this.#peers.values()]) {
      if (peer.isDead || peer.link.broken === undefined) continue
      this.#leader?.remove(peer.id)
      this.#connectAnew(peer.id, peer.attempt + 1)
    }
  }

  #isAlive({ id }: Voter): boolean {
    if (id === this.id) return true
    const peer = this.#peers.get(id)
    return peer !== undefined && !peer.isDead && peer.link.isUp && peer.silent < this.#options.settings.silentTicks
  }

  /** The highest term that was promised anywhere, as far as is known, or asked for here. */
  get #highestTerm(): number {
    let highest = Math.max(this.#ownTerm, this.#memory.promise)
    for (const { promise } of this.#peers.values()) highest = Math.max(highest, promise)
    return highest
  }

  #considerLeading(): void {
    if (this.#leaving !== undefined) return
    const configuration = this.#configuration
    const own = configuration?.voters.find(({ id }) => id === this.id)
    if (configuration === undefined || own === undefined || this.#restingTicks > 0) return
    const living = configuration.voters.filter((voter) => this.#isAlive(voter))
    const highest = this.#highestTerm
    const leading = highest === 0 ? undefined : living.find(({ number }) => number === proposerOf(highest))
    const isLed = leading !== undefined && leading.id !== this.id && this.#peers.get(leading.id)!.left < highest
    if (living.length < majorityOf(configuration) || isLed) {
      this.#leaderlessTicks = 0
      return
    }
    this.#leaderlessTicks += 1
    if (this.#leaderlessTicks > this.#place(own, living) * STAGGER_TICKS) this.#campaign()
  }

  /** How many of those who live would better lead: they have more entries, or the lower number. */
  #place(own: Voter, living: readonly Voter[]): number {
    const mine = this.#history.last
    return living.filter(({ id, number }) => {
      if (id === this.id) return false
      const { taken } = this.#peers.get(id)!
      return taken > mine || (taken === mine && number < own.number)
    }).length
  }

  #campaign(): void {
    const own = this.#configuration?.voters.find(({ id }) => id === this.id)
    if (own === undefined || this.#leader !== undefined) return
    const term = termAbove(this.#highestTerm, own.number)
    // Terms are used up after four million changes of leader.
    if (term === undefined) return
    this.#leaderlessTicks = 0
    this.#ownTerm = term
    trace.publish(TraceLevel.Info, 'campaign', () => ({ replica: this.id, term }))
    const { settings, runtime, clockMs } = this.#options
    const host = this
    this.#leader = new Proposer(term, {
      settings,
      layout: this.#memory.layout,
      get history() {
        return host.#history
      },
      get configuration() {
        return host.#configuration!
      },
      clockMs,
      nowNs: () => runtime.now(),
      id: this.id,
      decided: (entry) => {
        this.#decided(entry)
        this.#afterDecision()
      },
      deposed: (seen) => this.#stepDown(`term ${seen} has come`),
      behind: () => this.#rest('others have more entries'),
      needsSnapshot: (id) => this.#needsSnapshot(id),
    })
    this.#leader.add(this.id, this.#self, this.#selfFrame)
    for (const peer of this.#peers.values()) this.#joinLeader(peer)
  }

  #joinLeader(peer: Peer): void {
    if (this.#leader !== undefined && peer.link.isUp && peer.frame >= 0)
      this.#leader.add(peer.id, peer.link, peer.frame)
  }

  /** A configuration without this replica is in force: others lead. */
  #afterDecision(): void {
    const votes = this.#configuration!.voters.some(({ id }) => id === this.id)
    if (!votes) this.#stepDown('it votes no more')
  }

  #lead(leader: Proposer): void {
    const { runtime } = this.#options
    if (this.#highestTerm > leader.term) this.#stepDown('a higher term was promised')
    else if (leader.isStuck) this.#rest('it cannot replicate')
    if (this.#leader !== leader) return
    if (runtime.now() - this.#fullLookNs >= FULL_LOOK_NS) {
      this.#fullLookNs = runtime.now()
      leader.lookAtFull()
    }
    leader.progressed()
    this.#keepVoters(leader)
  }

  /** Replace voters that have ended, one at a time. */
  #keepVoters(leader: Proposer): void {
    const configuration = this.#configuration!
    const { voters } = configuration
    const { votersWanted } = this.#options
    if (!leader.isReady) return
    const isGone = ({ id }: Voter): boolean => this.#dead.has(id) || this.#peers.get(id)?.isLeaving === true
    const gone = voters.find(isGone)
    const living = voters.filter((voter) => !isGone(voter))
    const learners = [...leader.acceptors.values()].filter(
      ({ id, isHeld, stored }) =>
        isHeld &&
        this.#peers.get(id)?.isLeaving !== true &&
        stored >= this.#history.last - this.#options.settings.ahead &&
        !voters.some((voter) => voter.id === id),
    )
    const missing = votersWanted - living.length
    // Two voters are worse than one: either may end it. So a founder waits until all are there.
    const isEnough = voters.length === 1 ? learners.length >= missing : learners.length > 0
    if (missing > 0 && isEnough) {
      const chosen = learners.slice(0, voters.length === 1 ? missing : 1)
      leader.reconfigure(
        withVoters(
          configuration,
          chosen.map(({ id }) => id),
          NUMBERS,
        ),
      )
    } else if (gone !== undefined) leader.reconfigure(withoutVoter(configuration, gone.id))
  }

  #tryToLeave(): void {
    const done = this.#leaving
    if (done === undefined) return
    const others = this.#configuration?.voters.filter(({ id }) => id !== this.id) ?? []
    const isIn = this.#configuration?.voters.length !== others.length
    if (!isIn || others.length === 0) {
      this.#leaving = undefined
      done()
    } else if (this.#leader === undefined) this.#linkToLeader()?.send(MessageType.Leave, NOTHING)
    else this.#handOver(others, done)
  }

  /** Those who leave as well are no heirs: they are removed first, and the last one simply goes. */
  #handOver(others: readonly Voter[], done: () => void): void {
    const living = others.filter((voter) => this.#isAlive(voter))
    const staying = living.filter((voter) => this.#peers.get(voter.id)?.isLeaving !== true)
    const [heir] = staying.sort((a, b) => this.#takenBy(b) - this.#takenBy(a))
    if (heir !== undefined) this.transfer(heir.id)
    else if (living.length === 0) {
      this.#leaving = undefined
      done()
    }
  }

  #takenBy({ id }: Voter): number {
    return this.#peers.get(id)?.taken ?? 0
  }

  #rest(why: string): void {
    const { silentTicks } = this.#options.settings
    this.#stepDown(why)
    this.#restingTicks = silentTicks * RESTING_TICKS
  }

  #stepDown(why: string): void {
    const leader = this.#leader
    if (leader === undefined) return
    trace.publish(TraceLevel.Info, 'stepped down', () => ({ replica: this.id, term: leader.term, why }))
    leader.end()
    this.#leader = undefined
    this.#memory.left = leader.term
    this.#leaderlessTicks = 0
    this.#hasNews = true
  }
}

const NOTHING = new Uint8Array()

function nothing(): void {
  return
}

function numbers(...values: readonly number[]): Uint8Array {
  return new Uint8Array(Float64Array.from(values).buffer)
}

function numberAt(bytes: Uint8Array, offset: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getFloat64(offset, true)
}
