import { TraceLevel, traceChannel } from '../../profiling/index.ts'
import { RecordWriter } from '../machine/records.ts'
import type { AcceptorLink } from './acceptor-link.ts'
import { type AcceptorsLeader, AcceptorView, WAKE_NS } from './acceptor-view.ts'
import { type AcceptedEntry, CELL_HEADER_BYTES, type Entry, EntryFlag, readCell } from './cell.ts'
import { type Configuration, encodeConfiguration, majorityOf } from './configuration.ts'
import type { ReplicaLayout } from './layout.ts'
import type { LogHistory } from './log-history.ts'
import type { ReplicaSettings } from './settings.ts'

const trace = traceChannel('consensus')

/** What a leader needs of its replica. */
export interface ProposerHost {
  readonly settings: ReplicaSettings
  readonly layout: ReplicaLayout
  readonly history: LogHistory
  configuration(): Configuration
  /** This replica's. */
  readonly id: number
  /** Milliseconds since 1970. */
  clockMs(): number
  nowNs(): number
  later(delayNs: number, act: () => void): void
  /** `entry` is the next that is decided. */
  decided(entry: Entry): void
  /** Another leader has come: this one is none any more. */
  deposed(seen: number): void
  /** It cannot lead: it lacks entries that others have. */
  behind(): void
  needsSnapshot(replica: number): void
  /** Ask that replica to let this leader write its slots. It is told of by {@link Proposer.granted}; again: no harm. */
  ask(replica: number): void
  /** What is accepted has to be on disks. */
  readonly isDurable: boolean
  /** Its own disk keeps up. */
  mayChoose(): boolean
  /** What that acceptor's memory says counts: it has not begun again with another. */
  isCurrent(replica: number): boolean
}

/** How often a value that was accepted is read before it counts as lost. */
const READS_MAX = 100

/** An accepted value that is being read, at all acceptors that have one. */
interface Adoption {
  readonly index: number
  left: number
  best: AcceptedEntry | undefined
}

/** An entry that was decided without being stored. */
export type PassedEntry = Pick<Entry, 'index' | 'term' | 'timeMs'>

/** What a program has proposed, and whose it is. */
interface Proposed {
  readonly records: Uint8Array
  readonly from: number
}

const NOTHING = new Uint8Array()
const NO_HOLDERS: readonly AcceptorView[] = []

/**
 * A replica as leader of one term: multi-decree Paxos, in which acceptors are memories.
 *
 * - An entry is *chosen* here once a majority has prepared its slot. If one of them had accepted a value, the leader
 *   takes that of the highest term, else what was proposed here.
 * - A chosen entry is stored at all acceptors. It is *decided* once a majority has stored it.
 * - After a configuration nothing is chosen until it is decided. From then on the majority is the new one's.
 */
export class Proposer implements AcceptorsLeader {
  readonly term: number
  readonly acceptors: Map<number, AcceptorView> = new Map<number, AcceptorView>()
  /** True once its own first entry is decided, and so all that was decided before. An adopted one does not count. */
  isReady = false
  /** When a majority had promised its term, and when all that was accepted before was adopted; 0 before. */
  promisedNs = 0
  caughtUpNs = 0
  readonly #host: ProposerHost
  /** Chosen and not decided, from `history.last + 1` on. */
  readonly #open: Entry[] = []
  readonly #proposals: Proposed[] = []
  #configuration: Configuration | undefined
  #adoption: Adoption | undefined
  #begun = false
  /** A configuration was decided, and no entry behind it says so: what begins again from disks would not know it. */
  #isConfigurationUntold = false
  #isOver = false
  /** Entries that this leader has decided. */
  #decidedCount = 0
  #hasMoved = true
  /** Followers that have not been woken will be. */
  #wakesLater = false
  #timeMs = 0
  /** When an entry was decided last, or there was nothing to decide. */
  #movedNs: number

  constructor(term: number, host: ProposerHost) {
    this.term = term
    this.#host = host
    this.#movedNs = host.nowNs()
    this.#timeMs = host.history.get(host.history.last)?.timeMs ?? 0
  }

  get layout(): ReplicaLayout {
    return this.#host.layout
  }

  /**
   * A new leader prepares what its first entries need, and more with each that is decided. So these do not wait for
   * slots that are needed later.
   */
  get ahead(): number {
    const { ahead, inFlightMax } = this.#host.settings
    return Math.min(ahead, inFlightMax * (1 + this.#decidedCount))
  }

  get isDurable(): boolean {
    return this.#host.isDurable
  }

  get history(): LogHistory {
    return this.#host.history
  }

  /** Entries under way. */
  get inFlight(): number {
    return this.#open.length
  }

  /** True while it has waited too long for a majority. */
  get isStuck(): boolean {
    const waits = this.#open.length > 0 || this.#proposals.length > 0 || !this.isReady
    return waits && this.#host.nowNs() - this.#movedNs > this.#host.settings.stuckNs
  }

  open(index: number): Entry | undefined {
    return this.#open[index - this.history.last - 1]
  }

  /** There is a connection to a replica. `frame`: where its memory has room for this leader's values. */
  add(id: number, link: AcceptorLink, frame: number): void {
    const acceptor = new AcceptorView(id, link, frame, this, id !== this.#host.id)
    this.acceptors.set(id, acceptor)
    acceptor.begin()
  }

  remove(id: number): void {
    this.acceptors.delete(id)
    // What was being read there may never come.
    this.#adoption = undefined
    this.#hasMoved = true
  }

  /** That replica lets the leader of that term write its slots. */
  granted(id: number, term: number): void {
    if (term === this.term && !this.#isOver) this.acceptors.get(id)?.granted()
  }

  /** What that replica has on its disk. */
  reported(id: number, term: number, index: number): void {
    this.acceptors.get(id)?.reported(term, index)
  }

  /** Records of the program of replica `from`, to put into the next entry that has room. */
  propose(records: Uint8Array, from: number): void {
    // No program sends such: they would never leave.
    if (records.length > this.layout.cellBytes - CELL_HEADER_BYTES) return
    if (this.#open.length === 0 && this.#proposals.length === 0) this.#movedNs = this.#host.nowNs()
    this.#proposals.push({ records, from })
    this.#hasMoved = true
  }

  /**
   * Decide the next entry without storing it: the majority is this replica, and its program has the entry. Undefined
   * where another replica might need it, or something is under way that comes first.
   */
  pass(): PassedEntry | undefined {
    if (!this.isReady || this.#isOver || this.acceptors.size !== 1) return undefined
    if (this.#open.length > 0 || this.#proposals.length > 0) return undefined
    if (this.#configuration !== undefined || this.#isConfigurationUntold || this.isDurable) return undefined
    const own = this.acceptors.get(this.#host.id)
    if (own?.isClear !== true || this.#host.configuration().voters.length > 1) return undefined
    this.history.pass()
    const index = this.history.last
    own.pass(index)
    this.#timeMs = Math.max(this.#timeMs, this.#host.clockMs())
    return { index, term: this.term, timeMs: this.#timeMs }
  }

  /** Have that configuration decided. False while another is under way. */
  reconfigure(configuration: Configuration): boolean {
    if (!this.isReady || this.#configuration !== undefined || this.#open.some(isConfiguration)) return false
    this.#configuration = configuration
    this.#hasMoved = true
    return true
  }

  /** Nothing counts any more. */
  end(): void {
    this.#isOver = true
  }

  deposed(seen: number): void {
    if (!this.#isOver) this.#host.deposed(seen)
  }

  yieldsTo({ id }: AcceptorView): boolean {
    const votes = this.#host.configuration().voters.some((voter) => voter.id === id)
    if (votes && !this.#isOver) this.#host.behind()
    return votes
  }

  progressed(): void {
    this.#hasMoved = true
  }

  ask(acceptor: AcceptorView): void {
    if (!this.#isOver) this.#host.ask(acceptor.id)
  }

  needsSnapshot(acceptor: AcceptorView): void {
    if (!this.#isOver) this.#host.needsSnapshot(acceptor.id)
  }

  /** Do what can be done. True if anything could. */
  turn(): boolean {
    if (!this.#hasMoved || this.#isOver) return false
    while (this.#hasMoved && !this.#isOver) {
      this.#hasMoved = false
      this.#decide()
      this.#choose()
      for (const acceptor of this.acceptors.values()) if (!this.#isOver) acceptor.pump()
    }
    this.#tellCommits()
    return true
  }

  #tellCommits(): void {
    if (this.#isOver) return
    const now = this.#host.nowNs()
    let isLeft = false
    for (const acceptor of this.acceptors.values()) isLeft = acceptor.tellCommit(this.history.last, now) || isLeft
    if (!isLeft || this.#wakesLater) return
    this.#wakesLater = true
    this.#host.later(WAKE_NS, () => {
      this.#wakesLater = false
      this.#tellCommits()
    })
  }

  /** Look again at those who have no room for more, and ask again those who did not answer. Called now and then. */
  lookAgain(): void {
    for (const acceptor of this.acceptors.values()) {
      if (acceptor.isFull) acceptor.look()
      acceptor.askAgain()
    }
  }

  /**
   * Call `done` once a majority has shown that this is still its term, unless it is not. An acceptor that has begun
   * again may have promised another, while what it had in memory before can still be read.
   */
  confirm(done: () => void): void {
    const { voters } = this.#host.configuration()
    let left = majorityOf(this.#host.configuration())
    for (const { id } of voters) {
      const acceptor = this.acceptors.get(id)
      acceptor?.confirm(() => {
        if (!this.#host.isCurrent(id)) return
        left -= 1
        if (left === 0 && !this.#isOver) done()
      })
    }
  }

  #decide(): void {
    while (this.#open.length > 0 && this.#count((acceptor) => acceptor.counted > this.history.last)) {
      const entry = this.#open.shift()!
      this.#decidedCount += 1
      this.#movedNs = this.#host.nowNs()
      if (entry.term === this.term && (entry.flags & EntryFlag.Begin) !== 0) this.isReady = true
      if (this.isDurable && isConfiguration(entry)) this.#isConfigurationUntold = true
      this.#host.decided(entry)
      if (this.#isOver) return
    }
  }

  #choose(): void {
    const { inFlightMax } = this.#host.settings
    // A term that its own disk has forgotten it would use again, for other values.
    if (this.isDurable && !(this.acceptors.get(this.#host.id)?.isHeld === true && this.#host.mayChoose())) return
    while (this.#open.length < inFlightMax && !this.#open.some(isConfiguration)) {
      const index = this.history.last + this.#open.length + 1
      if (!this.#count((acceptor) => acceptor.prepared >= index)) return
      if (this.promisedNs === 0) this.promisedNs = this.#host.nowNs()
      const entry = this.#next(index)
      if (entry === undefined) return
      if (this.#open.length === 0) this.#movedNs = this.#host.nowNs()
      this.#open.push(entry)
    }
  }

  /** What is chosen for that index; undefined if nothing is now. */
  #next(index: number): Entry | undefined {
    const holders = this.#holdersOf(index)
    if (holders.length > 0) return this.#adopt(index, holders)
    for (const { accepted } of this.acceptors.values())
      if (accepted.size > 0 && Math.max(...accepted.keys()) > index) {
        trace.publish(TraceLevel.Debug, 'gap filled', () => ({ term: this.term, index }))
        return this.#entry(index, 0, NOTHING)
      }
    // Replicas that come later learn from the log which ones vote.
    if (index === 1) this.#configuration ??= this.#host.configuration()
    else if (!this.#begun) {
      this.#begun = true
      this.caughtUpNs = this.#host.nowNs()
      for (const acceptor of this.acceptors.values()) acceptor.awaits(index)
      return this.#entry(index, EntryFlag.Begin, beginning(this.term, this.#host.id))
    }
    if (this.#configuration !== undefined) {
      const payload = encodeConfiguration(this.#configuration)
      this.#configuration = undefined
      return this.#entry(index, EntryFlag.Configuration, payload)
    }
    const payload = this.#batch(index) ?? (this.#isConfigurationUntold ? NOTHING : undefined)
    return payload && this.#entry(index, 0, payload)
  }

  /** The acceptors that had accepted a value for it before this term: mostly none. */
  #holdersOf(index: number): readonly AcceptorView[] {
    let holders = NO_HOLDERS
    for (const acceptor of this.acceptors.values())
      if (acceptor.accepted.size > 0 && acceptor.accepted.has(index)) holders = [...holders, acceptor]
    return holders
  }

  #entry(index: number, flags: number, payload: Uint8Array): Entry {
    this.#isConfigurationUntold = false
    this.#timeMs = Math.max(this.#timeMs, this.#host.clockMs())
    return { index, term: this.term, timeMs: this.#timeMs, flags, payload }
  }

  /** As many proposals as one entry holds. */
  #batch(index: number): Uint8Array | undefined {
    if (this.#proposals.length === 0) return undefined
    const room = this.layout.cellBytes - CELL_HEADER_BYTES
    let length = 0
    const parts: Uint8Array[] = []
    for (const { records, from } of this.#proposals) {
      if (length + records.length > room) break
      length += records.length
      parts.push(records)
      this.acceptors.get(from)?.awaits(index)
    }
    this.#proposals.splice(0, parts.length)
    return parts.length === 1 ? parts[0] : Buffer.concat(parts, length)
  }

  /** The value of the highest term among those that were accepted; undefined until it was read. */
  #adopt(index: number, holders: readonly AcceptorView[]): Entry | undefined {
    const adoption = this.#adoption
    if (adoption?.index === index) {
      if (adoption.left > 0 || adoption.best === undefined) return undefined
      this.#adoption = undefined
      for (const { accepted } of holders) accepted.delete(index)
      const { best } = adoption
      this.#timeMs = Math.max(this.#timeMs, best.timeMs)
      trace.publish(TraceLevel.Debug, 'adopted', () => ({ term: this.term, index, from: best.acceptedIn }))
      return best
    }
    const started: Adoption = { index, left: holders.length, best: undefined }
    this.#adoption = started
    for (const holder of holders) this.#readAccepted(holder, started, READS_MAX)
    return undefined
  }

  /** An acceptor whose connection breaks meanwhile is asked again, or not: both begin again. */
  #readAccepted(holder: AcceptorView, adoption: Adoption, attempts: number): void {
    const { frame, bank } = holder.accepted.get(adoption.index)!
    const offset = this.layout.cell(frame, bank, adoption.index)
    holder.link.read(offset, this.layout.cellBytes, (bytes) => {
      if (this.#isOver || this.#adoption !== adoption) return
      const entry = readCell(bytes, adoption.index)
      if (entry === undefined) {
        // Its bytes are not visible yet.
        if (attempts > 0) this.#readAccepted(holder, adoption, attempts - 1)
        return
      }
      if (adoption.best === undefined || entry.acceptedIn > adoption.best.acceptedIn) adoption.best = entry
      adoption.left -= 1
      this.#hasMoved = true
    })
  }

  /** Whether it holds for a majority of the voters. */
  #count(holds: (acceptor: AcceptorView) => boolean): boolean {
    const { voters } = this.#host.configuration()
    let count = 0
    for (const { id } of voters) {
      const acceptor = this.acceptors.get(id)
      if (acceptor?.isHeld === true && holds(acceptor)) count += 1
    }
    return count >= majorityOf(this.#host.configuration())
  }
}

function beginning(term: number, leader: number): Uint8Array {
  const record = new RecordWriter()
  record.begin({ term, leader })
  return record.bytes().slice()
}

function isConfiguration({ flags }: Entry): boolean {
  return (flags & EntryFlag.Configuration) !== 0
}
