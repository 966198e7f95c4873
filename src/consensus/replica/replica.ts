import { TraceLevel, traceChannel } from '../../profiling/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import { type Entry, EntryFlag } from './cell.ts'
import { type Configuration, decodeConfiguration, majorityOf, type Voter } from './configuration.ts'
import { Connections, type Peer, type ReplicaCard } from './connections.ts'
import { DurableState } from './durable-state.ts'
import type { FailOver } from './fail-over.ts'
import type { Journal, Recovered, SnapshotHead } from './journal.ts'
import { LogHistory } from './log-history.ts'
import { LogMarks } from './log-marks.ts'
import { type PassedEntry, Proposer } from './proposer.ts'
import type { ReplicaLink } from './replica-link.ts'
import type { ReplicaMemory } from './replica-memory.ts'
import { LEAVES_NOT, LEAVES_ONCE_REPLACED, MessageType, NOTHING, numberAt, numbers } from './replica-messages.ts'
import type { Protocol } from './rights.ts'
import { graceNsOf, type ReplicaSettings } from './settings.ts'
import { type SnapshotOffer, SnapshotTransfer } from './snapshot-transfer.ts'
import { CHECK_EVERY, packCheck, StateChecks } from './state-checks.ts'
import { proposerOf, TERM_MAX, termAbove } from './term.ts'
import { VoterChanges } from './voter-changes.ts'

const trace = traceChannel('consensus')

/** What a replica tells its program. */
interface ReplicaEvents {
  /** The next decided entry. */
  decided(entry: Entry): void
  /** To the replica with that id, by another way than its link. */
  say(id: number, card: ReplicaCard): void
  /** What was proposed and is not decided has to be proposed again. */
  proposeAgain(): void
  /** Take a snapshot of all entries so far: see {@link Replica.addToSnapshot}. It comes again if one is late. */
  snapshotWanted(): void
  /** Begin again from this snapshot. Entries from `index + 1` on follow. */
  restore(index: number, bytes: Uint8Array): void
  /** A read that was asked for may be answered once entries up to `index` are applied; undefined: ask again. */
  readable(token: number, index: number | undefined): void
  /** Whether the program does what it is asked. One that does not is not to lead. */
  isResponsive(): boolean
  /** The machine of this replica came to something else than the others': it is to be closed. */
  deviates(): void
  /** Whether the program has room for more entries. */
  mayTake(): boolean
}

/** A journal, and what it held when it was opened. */
interface ReplicaJournal {
  readonly journal: Journal
  readonly recovered: Recovered
}

export interface ReplicaOptions {
  /** Name of the verbs device. */
  readonly device: string
  readonly id: number
  readonly settings: ReplicaSettings
  /** How its memory is written: see `AcceptorView`. */
  readonly protocol: Protocol
  /** Undefined for a replica that is not there from the start: it learns who votes. */
  readonly founding: Configuration | undefined
  /** As many voters as there should be. */
  readonly votersWanted: number
  /** An entry counts once a majority has it in its journal. Default: once a majority has it in memory. */
  readonly durability?: ReplicaJournal | undefined
  readonly runtime: Runtime
  /** Milliseconds since 1970. */
  readonly clockMs: () => number
  readonly events: ReplicaEvents
}

/** How long a leader that gave up does not try again, in times that a replica may be silent. */
const RESTING_TICKS = 2
/** Distance between those who would be leader, in ticks. */
const STAGGER_TICKS = 6
const CERTAIN_STAGGER_TICKS = 1
/** A replica that lacks entries is offered a snapshot again after this number of ticks. */
const OFFER_TICKS = 4
/** How long what follows on a snapshot is held for those who get it. */
const HOLD_NS = 10_000_000_000
/** The least time between two looks at an acceptor that has no room. */
const FULL_LOOK_NS = 50_000

/**
 * One replica of a log: its memory, which others read and change one-sided, its connections, and its part in who leads.
 * It belongs to one thread, and does nothing but in `turn`. It has no clock and no randomness of its own.
 */
export class Replica {
  readonly id: number
  /** When it was asked for something last, by its program or another's. */
  askedNs: number = Number.NEGATIVE_INFINITY
  readonly #options: ReplicaOptions
  readonly #connections: Connections
  readonly #snapshots: SnapshotTransfer
  readonly #checks: StateChecks
  readonly #durable: DurableState | undefined
  #history: LogHistory
  #configuration: Configuration | undefined
  readonly #marks = new LogMarks()
  readonly #voterChanges: VoterChanges
  #leader: Proposer | undefined
  /** Whose term the newest decided `Begin` is of. */
  #leaderId: number | undefined
  #beginTerm = 0
  #leaderlessTicks = 0
  /** When no leader was found, and when it began its last campaign. */
  #leaderlessNs = 0
  #leaderlessMs = 0
  #campaignNs = 0
  #lastFailOver: FailOver | undefined
  #restingTicks = 0
  /** The highest term that it has wanted to lead in. */
  #ownTerm = 0
  #fullLookNs = 0
  #hasNews = false
  /** Proposals that the leader had no room for. */
  readonly #unsent: Uint8Array[] = []
  #leaving: (() => void) | undefined
  /** It leaves only once another votes in its place. */
  #isPatient = false
  /** More is on the disk than the leader was told. */
  #mustReport = false
  /** It says nothing before: see `graceNsOf`. */
  #reportsFromNs = Number.NEGATIVE_INFINITY
  #asksForSnapshot = false
  #heldUntilNs = 0
  #closed = false

  constructor(options: ReplicaOptions) {
    const { id, settings, founding, device, protocol, runtime, events } = options
    this.id = id
    this.#options = { ...options, durability: undefined }
    this.#connections = new Connections({
      ...{ device, id, settings, protocol },
      events: {
        say: (peer, card) => events.say(peer, card),
        message: (peer, type, bytes) => this.#message(peer, type, bytes),
        noticed: () => {
          this.#hasNews = true
        },
        joined: (peer) => {
          this.#joinLeader(peer)
          this.#mustReport = this.#durable !== undefined
          if (peer.id === this.#leaderId) events.proposeAgain()
        },
        left: (peer) => {
          this.#leader?.remove(peer)
          if (peer === id) this.#leader?.add(id, this.#connections.self, this.#connections.selfFrame)
        },
      },
    })
    this.#checks = new StateChecks(settings.silentTicks)
    this.#history = new LogHistory(0, settings.historyBytes)
    this.#snapshots = new SnapshotTransfer(this.#connections.domain)
    const { durability } = options
    if (durability !== undefined)
      this.#durable = new DurableState(durability.journal, this.#connections.memory, durability.recovered)
    this.#voterChanges = new VoterChanges({
      ...{ id, connections: this.#connections, votersWanted: options.votersWanted },
      ...{ isDurable: durability !== undefined, ahead: settings.ahead },
    })
    if (founding !== undefined) this.#configure(0, founding)
    runtime.timers.at(runtime.now() + settings.tickNs, () => this.#tick())
  }

  /** For those who look on from outside, as simulations do. */
  get memory(): ReplicaMemory {
    return this.#connections.memory
  }

  /** The last entry that is decided and here. */
  get taken(): number {
    return this.#history.last
  }

  /** Entries up to this one are in its journal; undefined where it has none. */
  get durable(): number | undefined {
    return this.#durable?.index
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

  /** Replicas whose machines were found not to be deterministic. */
  get deviating(): readonly number[] {
    return [...this.#checks.deviating]
  }

  get lastFailOver(): FailOver | undefined {
    return this.#lastFailOver
  }

  /** Go on from what its journal held. Called before anything else, if there is one. */
  recover({ snapshot, entries, decided, promise }: Recovered): void {
    if (snapshot !== undefined) this.#begin(snapshot.head, snapshot.bytes)
    for (const entry of entries) if (entry.index <= decided) this.#decided(entry)
    const { memory, selfFrame } = this.#connections
    memory.recover({ snapshot, entries, decided, promise }, selfFrame)
    const { runtime, settings } = this.#options
    if (promise > 0) this.#reportsFromNs = runtime.now() + graceNsOf(settings)
    // It leads in no term that it led in before: no one has to wait for it.
    memory.left = TERM_MAX
    trace.publish(TraceLevel.Info, 'recovered', () => ({ replica: this.id, decided, promise }))
  }

  /** Begin a new log, alone. Those who come are added until as many vote as should. */
  found(configuration: Configuration): void {
    if (this.#configuration === undefined) this.#configure(0, configuration)
  }

  /** There is a replica with that id. */
  meet(id: number): void {
    if (!this.#closed) this.#connections.meet(id)
  }

  /** That replica was begun again, from its journal: what is known of it is of its past. */
  restarted(id: number): void {
    if (!this.#closed) this.#connections.forget(id)
  }

  /** Another replica says how it is reached. */
  hear(card: ReplicaCard): void {
    if (!this.#closed) this.#connections.hear(card)
  }

  /** The process of a replica has ended for certain. */
  ended(id: number): void {
    if (this.#closed || !this.#connections.ended(id)) return
    this.#hasNews = true
    if (this.#leader !== undefined) {
      this.#voterChanges.keep(this.#leader, this.#configuration!, this.#history.last)
      return
    }
    // What is certain is not waited for. All others are told at the same time: how far each was at the last tick would
    // make several of them candidates.
    this.#take()
    this.#connections.look(this.#options.runtime.now(), () => {
      if (this.#leader === undefined && !this.#closed) this.#considerLeading()
    })
  }

  // ---- what the program asks for
  // ---------------------------------------------------------------------------------------------------------------

  /** Records for the leader to decide. If there is none, they are dropped; see `proposeAgain`. */
  propose(records: Uint8Array): void {
    this.#wasAsked()
    if (this.#leader !== undefined) this.#leader.propose(records, this.id)
    else this.#unsent.push(records)
  }

  /**
   * Decide the next entry at once, for a program that has it, and has applied `applied` of them. No log holds it: who
   * comes gets a snapshot. Undefined if this replica is not all there is, or something is under way; then it has to be
   * proposed.
   */
  pass(applied: number): PassedEntry | undefined {
    if (this.#history.last !== applied || !this.#connections.isEmpty) return undefined
    const passed = this.#leader?.pass()
    if (passed === undefined) return undefined
    const { memory } = this.#connections
    memory.known = passed.index
    memory.taken = passed.index
    return passed
  }

  /** Find out from which index on what is read here is not older than this call. */
  askIndex(token: number): void {
    this.#wasAsked()
    if (this.#leader !== undefined) this.#answerIndex((index) => this.#options.events.readable(token, index))
    else {
      const asked = this.#linkToLeader()?.send(MessageType.AskIndex, numbers(token))
      if (asked !== true) this.#options.events.readable(token, undefined)
    }
  }

  /**
   * A part of a snapshot that is being taken, for those that lack what is not kept any more. Its memory is the
   * replica's from now on. `index`: that of its last entry. `isFirst`: what came before is of no use.
   */
  addToSnapshot(part: Uint8Array, index: number, isFirst: boolean): void {
    this.#snapshots.add(part, isFirst)
    this.#hold(index)
  }

  /**
   * All parts came, and `first` is before them: a snapshot of all entries up to `index`. True if there is more to do
   * for that: call it again.
   */
  offerSnapshot(index: number, first: Uint8Array): boolean {
    const head = this.#marks.at(index)
    if (head === undefined) {
      this.#asksForSnapshot = false
      this.#snapshots.drop()
      return false
    }
    const parts = this.#snapshots.offerParts(head, first)
    if (parts === undefined) return true
    this.#asksForSnapshot = false
    this.#hasNews = true
    this.#hold(index)
    if (this.#isJournalLong) this.#durable?.snapshot(head, parts, this.#history.last)
    return false
  }

  /** That number of records of the journal is on the disk. */
  synced(records: number): void {
    if (this.#closed || this.#durable?.synced(records) !== true) return
    this.#publishTaken()
    this.#hasNews = true
    this.#mustReport = true
  }

  /** What the machine came to at the check with that number. */
  checked(number: number, hash: number): void {
    this.#connections.memory.check = packCheck(number, hash)
    this.#checks.see(this.id, this.#connections.memory.check)
  }

  /** Let another replica lead. False if this one does not, or that one cannot. */
  transfer(id: number): boolean {
    const peer = this.#connections.get(id)
    const votes = this.#configuration?.voters.some((voter) => voter.id === id) === true
    // One that is stopped would not lead, and until others see that, no one would.
    if (!this.isLeader || !votes || peer?.link.isUp !== true || !this.#connections.isAlive(id)) return false
    if (!peer.link.send(MessageType.Campaign, NOTHING)) return false
    this.#rest('it lets another lead')
    return true
  }

  /**
   * Vote no more, so that the others need not find out that this replica has ended. Calls `done` once that is so.
   * `isPatient`: not before another votes in its place. With fewer voters, the next death might be one too many.
   */
  leave(done: () => void, isPatient: boolean = false): void {
    this.#leaving = done
    this.#isPatient = isPatient
    this.#tryToLeave()
  }

  /** It does not leave after all, or may vote again. */
  stay(): void {
    const done = this.#leaving
    this.#leaving = undefined
    for (const { link } of this.#connections) if (link.isUp) link.send(MessageType.Leave, LEAVES_NOT)
    done?.()
  }

  // ---- running
  // ---------------------------------------------------------------------------------------------------------------

  get descriptors(): readonly number[] {
    return this.#connections.descriptors
  }

  whenReadable(ready: () => void): () => void {
    return this.#connections.whenReadable(ready)
  }

  /** Do what there is to do. True if there was anything. */
  turn(): boolean {
    let any = this.#connections.reap()
    if (this.#durable !== undefined && (any || this.#hasNews)) this.#durable.record(this.#history)
    if (this.#leader === undefined) {
      any = this.#flushUnsent() || any
      if (this.#hasNews) {
        this.#hasNews = false
        this.#take()
        any = true
      }
    } else any = this.#leader.turn() || any
    if (this.#mustReport) any = this.#report() || any
    return any
  }

  prepareSleep(): boolean {
    this.#connections.arm()
    return !this.turn()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#leader?.end()
    this.#connections.close()
  }

  // ---- inside
  // ---------------------------------------------------------------------------------------------------------------

  #message(peer: Peer, type: number, bytes: Uint8Array): void {
    if (type === MessageType.Forward || type === MessageType.AskIndex) this.#wasAsked()
    if (type === MessageType.Forward) this.#leader?.propose(bytes.slice(), peer.id)
    else if (type === MessageType.AskIndex) {
      const token = numberAt(bytes, 0)
      if (this.#leader === undefined) peer.link.send(MessageType.Index, numbers(token, -1))
      else this.#answerIndex((index = -1) => peer.link.send(MessageType.Index, numbers(token, index)))
    } else if (type === MessageType.Index) {
      // What it names lies here by now.
      this.#hasNews = true
      const index = numberAt(bytes, 8)
      this.#options.events.readable(numberAt(bytes, 0), index < 0 ? undefined : index)
    } else if (type === MessageType.Snapshot)
      this.#fetchSnapshot(peer, JSON.parse(Buffer.from(bytes).toString()) as SnapshotOffer)
    else if (type === MessageType.Campaign) this.#campaign()
    else if (type === MessageType.Leave) {
      // Releases before said nothing more, and were not patient.
      peer.isLeaving = bytes[0] !== LEAVES_NOT[0]
      peer.isPatient = bytes[0] === LEAVES_ONCE_REPLACED[0]
    } else if (type === MessageType.Durable) {
      peer.durable = { term: numberAt(bytes, 0), index: numberAt(bytes, 8) }
      this.#leader?.reported(peer.id, peer.durable.term, peer.durable.index)
    } else if (type === MessageType.Ask) {
      const term = numberAt(bytes, 0)
      if (this.#grant(peer.id, term)) peer.link.send(MessageType.Granted, numbers(term))
    } else if (type === MessageType.Granted) this.#leader?.granted(peer.id, numberAt(bytes, 0))
  }

  /** Let that one alone write the slots here, in the term that was promised last. False if that is another. */
  #grant(id: number, term: number): boolean {
    if (this.#connections.memory.promise !== term) return false
    if (id !== this.id) this.#stepDown('another writes here')
    this.#connections.grant(id, term)
    trace.publish(TraceLevel.Debug, 'granted', () => ({ replica: this.id, term, to: id }))
    return true
  }

  /** Ask for the right to write the slots there. What is lost is asked for again. */
  #ask(id: number, { term }: Proposer): void {
    if (id !== this.id) this.#connections.get(id)?.link.send(MessageType.Ask, numbers(term))
    else if (this.#grant(id, term)) this.#leader?.granted(id, term)
  }

  #wasAsked(): void {
    this.askedNs = this.#options.runtime.now()
  }

  #answerIndex(done: (index: number | undefined) => void): void {
    const leader = this.#leader!
    const index = this.#history.last
    if (leader.isReady) leader.confirm(() => done(index))
    else done(undefined)
  }

  #linkToLeader(): ReplicaLink | undefined {
    const peer = this.#leaderId === undefined ? undefined : this.#connections.get(this.#leaderId)
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
    const { decided } = this.#connections.memory
    while (this.#history.last < decided && this.#options.events.mayTake() && this.#keepsUp) {
      const entry = this.#connections.memory.accepted(this.#history.last + 1)
      // Not all of it can be seen yet, or a snapshot has to come first.
      if (entry === undefined || this.#durable?.isRecorded(entry) === false) return
      this.#decided(entry)
    }
  }

  #decided(entry: Entry): void {
    this.#history.push(entry, this.#connections.isEmpty)
    this.#connections.memory.known = entry.index
    this.#publishTaken()
    if ((entry.flags & EntryFlag.Configuration) !== 0) this.#configure(entry.index, decodeConfiguration(entry.payload))
    // One that was adopted may be of an older term than one before it, which another leader decided.
    if ((entry.flags & EntryFlag.Begin) !== 0 && entry.term > this.#beginTerm) this.#begun(entry.index, entry.term)
    if (entry.index % CHECK_EVERY === 0 && this.#configuration !== undefined)
      this.#checks.decided(entry.index / CHECK_EVERY, this.#configuration, this.#leaderId)
    this.#options.events.decided(entry)
  }

  #begun(index: number, term: number): void {
    this.#beginTerm = term
    this.#marks.begun(index, term)
    const number = proposerOf(term)
    this.#leaderId = this.#configuration?.voters.find((voter) => voter.number === number)?.id
    this.#leaderlessTicks = 0
    trace.publish(TraceLevel.Info, 'term', () => ({ replica: this.id, term, leader: this.#leaderId ?? -1 }))
    this.#options.events.proposeAgain()
  }

  #configure(index: number, configuration: Configuration): void {
    this.#configuration = configuration
    this.#connections.memory.version = configuration.version
    this.#marks.configured(index, configuration)
    trace.publish(TraceLevel.Info, 'configuration', () => ({ replica: this.id, index, version: configuration.version }))
  }

  #fetchSnapshot(peer: Peer, offer: SnapshotOffer): void {
    if (offer.index <= this.#history.last || this.#leader !== undefined) return
    this.#snapshots.fetch(peer.link, offer, (bytes) => {
      if (offer.index <= this.#history.last || this.#leader !== undefined) return
      const { last } = this.#history
      this.#begin(offer, bytes)
      this.#durable?.snapshot(offer, [bytes], last)
      this.#publishTaken()
      trace.publish(TraceLevel.Info, 'restored', () => ({ replica: this.id, index: offer.index }))
      this.#hasNews = true
    })
  }

  /** Begin again from a snapshot. */
  #begin({ index, term, configuration }: SnapshotHead, bytes: Uint8Array): void {
    this.#history = new LogHistory(index, this.#options.settings.historyBytes)
    this.#connections.memory.known = index
    this.#configure(index, configuration)
    this.#begun(index, term)
    this.#options.events.restore(index, bytes)
  }

  // ---- the disk
  // ---------------------------------------------------------------------------------------------------------------

  /** Those entries may be overwritten here by later ones. */
  #publishTaken(): void {
    const { memory } = this.#connections
    const { last } = this.#history
    const taken = this.#durable === undefined ? last : Math.min(last, this.#durable.index)
    if (taken > memory.taken) memory.taken = taken
  }

  /** The disk is not too far behind what is decided. */
  get #keepsUp(): boolean {
    return this.#durable === undefined || this.#history.last - this.#durable.index < this.#options.settings.window
  }

  get #isJournalLong(): boolean {
    return this.#durable?.isLong(this.#options.settings.journalBytes) === true
  }

  /** Have a snapshot take the place of entries. A program that has applied none of them is asked again later. */
  #shortenJournal(): void {
    if (!this.#isJournalLong || this.#asksForSnapshot || this.#history.last <= this.#durable!.snapshotIndex) return
    this.#asksForSnapshot = true
    this.#options.events.snapshotWanted()
  }

  /** Tell the leader of the promised term what is on the disk. All are told while its replica is not known. */
  #report(): boolean {
    if (this.#options.runtime.now() < this.#reportsFromNs) return false
    const { term, index } = this.#durable!
    this.#mustReport = false
    this.#leader?.reported(this.id, term, index)
    if (this.#leader?.term === term) return true
    const number = proposerOf(term)
    const id = this.#configuration?.voters.find((voter) => voter.number === number)?.id
    const known = id === undefined ? undefined : this.#connections.get(id)
    for (const { link } of known === undefined ? this.#connections : [known])
      if (link.isUp && !link.send(MessageType.Durable, numbers(term, index))) this.#mustReport = true
    return !this.#mustReport
  }

  #needsSnapshot(id: number): void {
    const { runtime, settings } = this.#options
    const link = id === this.id ? undefined : this.#connections.get(id)?.link
    const offer = this.#snapshots.offer
    const againNs = OFFER_TICKS * settings.tickNs
    if (offer === undefined || offer.index < this.#history.base) this.#options.events.snapshotWanted()
    else if (link?.isUp === true && this.#snapshots.mayOffer(id, runtime.now(), againNs)) {
      this.#hold(offer.index)
      link.send(MessageType.Snapshot, Buffer.from(JSON.stringify(offer)))
    }
  }

  /** A snapshot takes a while, and so does its way: those who get it go on with what is kept here. */
  #hold(index: number): void {
    this.#history.held = index
    this.#heldUntilNs = this.#options.runtime.now() + HOLD_NS
  }

  // ---- who leads
  // ---------------------------------------------------------------------------------------------------------------

  #tick(): void {
    if (this.#closed) return
    const { runtime, settings, events } = this.#options
    runtime.timers.at(runtime.now() + settings.tickNs, () => this.#tick())
    this.#connections.memory.counter += 1
    if (!events.isResponsive()) this.#rest('its program does not answer')
    else if (this.#restingTicks > 0) this.#restingTicks -= 1
    this.#connections.look(runtime.now())
    this.#connections.mend()
    this.#compare()
    this.#shortenJournal()
    if (runtime.now() > this.#heldUntilNs) this.#history.held = undefined
    this.#tryToLeave()
    this.#hasNews = true
    if (this.#leader === undefined) this.#considerLeading()
    else this.#lead(this.#leader)
  }

  /** Find out whose machine is not deterministic. */
  #compare(): void {
    for (const peer of this.#connections) this.#checks.see(peer.id, peer.check)
    for (const id of this.#checks.judge((replica) => this.#connections.isAlive(replica))) {
      trace.publish(TraceLevel.Error, 'deviates', () => ({ replica: this.id, deviating: id }))
      if (id === this.id) this.#options.events.deviates()
    }
  }

  /** The highest term that was promised anywhere, as far as is known, or asked for here. */
  get #highestTerm(): number {
    return Math.max(this.#ownTerm, this.#connections.highestPromise)
  }

  #considerLeading(): void {
    if (this.#leaving !== undefined) return
    const configuration = this.#configuration
    const own = configuration?.voters.find(({ id }) => id === this.id)
    if (configuration === undefined || own === undefined || this.#restingTicks > 0) return
    const living = configuration.voters.filter((voter) => this.#connections.isAlive(voter.id))
    const highest = this.#highestTerm
    const leading = highest === 0 ? undefined : living.find(({ number }) => number === proposerOf(highest))
    const isLed = leading !== undefined && leading.id !== this.id && this.#connections.get(leading.id)!.left < highest
    if (living.length < majorityOf(configuration) || isLed) {
      this.#leaderlessTicks = 0
      return
    }
    if (this.#leaderlessTicks === 0) this.#noteLeaderless()
    this.#leaderlessTicks += 1
    if (this.#leaderlessTicks > this.#place(own, living) * this.#staggerTicks(highest)) this.#campaign()
  }

  /** Silence is noticed at different times. A certain death is told to all at once, so who is first has soon begun. */
  #staggerTicks(term: number): number {
    const leader = this.#configuration?.voters.find(({ number }) => number === proposerOf(term))
    return leader !== undefined && this.#connections.isDead(leader.id) ? CERTAIN_STAGGER_TICKS : STAGGER_TICKS
  }

  /** How many of those who live would better lead: they have more entries, or the lower number. */
  #place(own: Voter, living: readonly Voter[]): number {
    const mine = this.#connections.memory.taken
    return living.filter(({ id, number }) => {
      if (id === this.id) return false
      const { taken } = this.#connections.get(id)!
      return taken > mine || (taken === mine && number < own.number)
    }).length
  }

  #campaign(): void {
    const own = this.#configuration?.voters.find(({ id }) => id === this.id)
    if (own === undefined || this.#leader !== undefined) return
    const term = termAbove(this.#highestTerm, own.number)
    // Terms are used up after four million changes of leader.
    if (term === undefined) return
    this.#campaignNs = this.#options.runtime.now()
    // It was asked to lead, and nothing was missing.
    if (this.#leaderlessTicks === 0) this.#noteLeaderless()
    this.#leaderlessTicks = 0
    this.#ownTerm = term
    this.#connections.memory.left = term - 1
    trace.publish(TraceLevel.Info, 'campaign', () => ({ replica: this.id, term }))
    const { settings, runtime, clockMs } = this.#options
    const leader = new Proposer(term, {
      settings,
      layout: this.#connections.memory.layout,
      // A leader takes no snapshot of another.
      history: this.#history,
      configuration: () => this.#configuration!,
      clockMs,
      nowNs: () => runtime.now(),
      later: (delayNs, act) => runtime.timers.at(runtime.now() + delayNs, act),
      id: this.id,
      decided: (entry) => {
        this.#decided(entry)
        this.#afterDecision()
      },
      deposed: (seen) => this.#stepDown(`term ${seen} has come`),
      behind: () => this.#rest('others have more entries'),
      needsSnapshot: (id) => this.#needsSnapshot(id),
      ask: (id) => this.#ask(id, leader),
      isDurable: this.#durable !== undefined,
      mayChoose: () => this.#keepsUp,
      isCurrent: (id) => this.#durable === undefined || this.#connections.isCurrent(id, runtime.now()),
    })
    this.#leader = leader
    leader.add(this.id, this.#connections.self, this.#connections.selfFrame)
    for (const peer of this.#connections) this.#joinLeader(peer)
  }

  #joinLeader(peer: Peer): void {
    if (this.#leader === undefined || !peer.link.isUp || peer.frame < 0) return
    this.#leader.add(peer.id, peer.link, peer.frame)
    // It may have reported this very term, which this replica wanted before it began again. It will not do so twice.
    if (peer.durable !== undefined) this.#leader.reported(peer.id, peer.durable.term, peer.durable.index)
  }

  /** A configuration without this replica is in force: others lead. */
  #afterDecision(): void {
    const votes = this.#configuration!.voters.some(({ id }) => id === this.id)
    if (!votes) this.#stepDown('it votes no more')
    else if (this.#leader?.isReady === true && this.#lastFailOver?.term !== this.#leader.term) {
      this.#connections.memory.leads = this.#leader.term
      this.#tookOver(this.#leader)
    }
  }

  #noteLeaderless(): void {
    const { runtime, clockMs } = this.#options
    this.#leaderlessNs = runtime.now()
    // A turn may have begun long before what it finds.
    this.#leaderlessMs = clockMs()
  }

  #tookOver({ term, promisedNs, caughtUpNs }: Proposer): void {
    const now = this.#options.runtime.now()
    const since = (ns: number): number => (ns - this.#leaderlessNs) / 1e6
    this.#lastFailOver = {
      term,
      atMs: this.#leaderlessMs,
      campaignMs: since(this.#campaignNs),
      promisedMs: since(promisedNs),
      caughtUpMs: since(caughtUpNs),
      decidedMs: since(now),
    }
  }

  #lead(leader: Proposer): void {
    const { runtime } = this.#options
    if (this.#highestTerm > leader.term) this.#stepDown('a higher term was promised')
    else if (leader.isStuck) this.#rest('it cannot replicate')
    if (this.#leader !== leader) return
    if (runtime.now() - this.#fullLookNs >= FULL_LOOK_NS) {
      this.#fullLookNs = runtime.now()
      leader.lookAgain()
    }
    leader.progressed()
    this.#voterChanges.countAbsent(this.#configuration!)
    this.#voterChanges.keep(leader, this.#configuration!, this.#history.last)
  }

  #tryToLeave(): void {
    const done = this.#leaving
    if (done === undefined) return
    const others = this.#configuration?.voters.filter(({ id }) => id !== this.id) ?? []
    const isIn = this.#configuration?.voters.length !== others.length
    // What has a journal comes back, and votes again.
    if (this.#durable !== undefined) {
      this.#leaving = undefined
      if (this.#leader !== undefined) this.#handOver(others, () => undefined)
      done()
    } else if (!isIn || others.length === 0) {
      this.#leaving = undefined
      done()
    } else if (this.#leader === undefined)
      this.#linkToLeader()?.send(MessageType.Leave, this.#isPatient ? LEAVES_ONCE_REPLACED : NOTHING)
    else this.#handOver(others, done)
  }

  /** Those who leave as well are no heirs: they are removed first, and the last one simply goes. */
  #handOver(others: readonly Voter[], done: () => void): void {
    const living = others.filter((voter) => this.#connections.isAlive(voter.id))
    const staying = living.filter((voter) => !this.#connections.isLeaving(voter.id))
    const [heir] = staying.sort((a, b) => this.#takenBy(b) - this.#takenBy(a))
    if (heir !== undefined) this.transfer(heir.id)
    else if (living.length === 0) {
      this.#leaving = undefined
      done()
    }
  }

  #takenBy({ id }: Voter): number {
    return this.#connections.get(id)?.taken ?? 0
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
    this.#voterChanges.forgetAbsent()
    this.#connections.memory.leads = 0
    this.#connections.memory.left = leader.term
    this.#leaderlessTicks = 0
    this.#hasNews = true
  }
}
