import { Buffer } from 'node:buffer'
import type { Codec } from '../codecs/index.ts'
import {
  ArgumentError,
  checkFunction,
  checkMilliseconds,
  checkOptions,
  checkSignal,
  checkWhole,
  DefectError,
  messageOfThrown,
  type OptionNames,
  TIMER_MS_MAX,
} from '../native/index.ts'
import { ENTRY_HEAD_BYTES, News } from './agent/agent-contract.ts'
import type { ReplicaPort } from './agent/replica-process.ts'
import { Condition } from './condition.ts'
import { ConsensusError, type ProposalOutcome } from './errors.ts'
import { LinearizableReads } from './linearizable-reads.ts'
import { Applier } from './machine/applier.ts'
import type { Change } from './machine/changes.ts'
import type { MachineFormats } from './machine/formats.ts'
import type { AnswerOf, AnyMachine, CommandOf, ReplicatedMachine, StateParts } from './machine/machine.ts'
import { answerOf, type Outcome } from './machine/outcome.ts'
import { RecordReader, RecordWriter } from './machine/records.ts'
import { restoreSnapshot, unpackChunks } from './machine/snapshot.ts'
import { MachineMeter } from './machine-meter.ts'
import { ProposalCalls } from './proposal-calls.ts'
import { Proposals } from './proposals.ts'
import { ReadIndex } from './read-index.ts'
import { EntryFlag } from './replica/cell.ts'
import type { Configuration } from './replica/configuration.ts'
import type { ReplicaSight } from './replica/replica-head.ts'
import { numberAt } from './replica/replica-messages.ts'
import { CHECK_EVERY } from './replica/state-checks.ts'
import type { ReplicaGroup } from './replica-group.ts'
import type { ReplicatedStatus } from './replicated-status.ts'
import { SnapshotHandOver } from './snapshot-hand-over.ts'

/** The leader from now on. A term is a fencing token: of two, the later leader's is greater. */
export interface Leadership {
  readonly term: number
  /** Its rank in the group. */
  readonly leader: number
  /** It is this process. */
  readonly isSelf: boolean
}

/** Options of {@link Replicated.propose}. */
export interface ProposeOptions {
  /** How long to wait for the answer, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** Options of {@link Replicated.query}. */
export interface QueryOptions extends ProposeOptions {
  /** Read at once what is here, however old. Default false. */
  readonly stale?: boolean
  /**
   * Read at once what is here if it is at most so old, and otherwise as without this option. So of many reads one in
   * this time asks a majority. Default 0.
   */
  readonly staleMs?: number
}

const proposeNames: OptionNames<ProposeOptions> = { timeoutMs: true, signal: true }
const queryNames: OptionNames<QueryOptions> = { ...proposeNames, stale: true, staleMs: true }
const changesNames: OptionNames<{ readonly from?: number; readonly signal?: AbortSignal }> = {
  from: true,
  signal: true,
}

const signalNames: OptionNames<{ readonly signal?: AbortSignal }> = { signal: true }

const DEFAULT_TIMEOUT_MS = 30_000
/** How long the others have to agree that a replica votes no more, when it is closed. */
const LEAVE_MS_MAX = 1000
/** How often a leader looks whether all know a later format. */
const RAISE_MS = 1000

/** What {@link Replicated} is made of. */
export interface ReplicatedParts<Machine extends AnyMachine> {
  readonly group: Pick<ReplicaGroup, 'rank' | 'closed' | 'isGone'>
  readonly name: string
  readonly machine: Machine
  readonly codec: Codec<CommandOf<Machine>>
  readonly answerCodec: Codec<AnswerOf<Machine>> | undefined
  readonly sessionMs: number
  readonly changesKept?: number | undefined
  readonly formats?: MachineFormats | undefined
  readonly stateParts?: (() => StateParts) | undefined
  readonly cellBytes: number
  /** The rank of a replica; undefined if it is not known. */
  readonly rankOf: (id: number) => number | undefined
  readonly idOf: (rank: number) => number | undefined
  /** Answers are on disks. */
  readonly isDurable: boolean
  /** Where the memories of replicas are that this machine has. */
  readonly sights: () => readonly ReplicaSight[]
  /** The replicas that vote from now on. */
  readonly onConfiguration: (configuration: Configuration) => void
  readonly onClose: () => Promise<void>
}

/** What another process of this machine needs to read without asking: see `ReadIndex`. */
export interface ReadersOf {
  /** Undefined until this replica has heard from a leader. */
  readonly configuration: Configuration | undefined
  readonly sights: readonly ReplicaSight[]
  /** Replicas may come back from their journals. */
  readonly isDurable: boolean
}

/**
 * A state machine that is the same in every process which has opened it, and outlives any minority of them. Made by
 * {@link replicate}.
 */
export class Replicated<Machine extends AnyMachine> implements AsyncDisposable {
  readonly #parts: ReplicatedParts<Machine>
  readonly #applier: Applier<CommandOf<Machine>, AnswerOf<Machine>>
  readonly #session: Proposals
  readonly #calls: ProposalCalls
  readonly #meter: MachineMeter
  readonly #readIndex: ReadIndex
  readonly #reads: LinearizableReads
  readonly #snapshots: SnapshotHandOver<CommandOf<Machine>, AnswerOf<Machine>>
  #process: ReplicaPort | undefined
  #leadership: Leadership | undefined
  #leaderId = 0
  #voters = 0
  #configuration: Configuration | undefined
  #onApplied: (index: number) => void = () => undefined
  readonly #changed = new Condition()
  readonly #raiser: NodeJS.Timeout | undefined
  #closing: Promise<void> | undefined
  #disk: 'well' | 'full' = 'well'
  /** Why it was closed, if not by `close()`. */
  #failure: ConsensusError | undefined

  /** @internal Made by {@link replicate}. */
  constructor(parts: ReplicatedParts<Machine>) {
    const { machine, codec, answerCodec, sessionMs, changesKept, cellBytes } = parts
    this.#parts = parts
    this.#meter = new MachineMeter(parts.name)
    this.#readIndex = new ReadIndex(parts.sights, parts.isDurable)
    this.#applier = new Applier<CommandOf<Machine>, AnswerOf<Machine>>({
      machine: machine as ReplicatedMachine<CommandOf<Machine>, AnswerOf<Machine>>,
      codec,
      ...(answerCodec === undefined ? {} : { answerCodec }),
      sessionMs,
      ...(changesKept === undefined ? {} : { changesKept }),
      formats: parts.formats,
      onConfiguration: (bytes) => {
        this.#configured(JSON.parse(Buffer.from(bytes).toString()) as Configuration)
      },
      onAnswer: (session, sequence, outcome) => this.#session.outcome(session, sequence, outcome),
    })
    this.#session = new Proposals(cellBytes, (records) => this.#process?.propose(records))
    this.#calls = new ProposalCalls(this.#session)
    this.#reads = new LinearizableReads(this.#readIndex, () => this.#applier.index)
    this.#snapshots = new SnapshotHandOver({
      applier: this.#applier,
      stateParts: parts.stateParts,
      orStop: (run) => this.#orStop(run, 'snapshot'),
    })
    if (this.#applier.formatKnown > this.#applier.format)
      this.#raiser = setInterval(() => this.#raise(), RAISE_MS).unref()
  }

  /**
   * @internal Be told how far the log is applied here: now, and after each entry, when all of it has taken effect. It
   * must not throw.
   */
  set onApplied(listener: (index: number) => void) {
    this.#onApplied = listener
    listener(this.#applier.index)
  }

  /** @internal The replicas that vote, and where their memory is found on this machine. */
  get readers(): ReadersOf {
    const { sights, isDurable } = this.#parts
    return { configuration: this.#configuration, sights: sights(), isDurable }
  }

  /** @internal Ranks that vote, -1 for one that is not known; undefined until this replica has heard from a leader. */
  get voters(): readonly number[] | undefined {
    return this.#configuration?.voters.map(({ id }) => this.#parts.rankOf(id) ?? -1)
  }

  /** @internal From here on there are entries. */
  attach(process: ReplicaPort): void {
    this.#process = process
  }

  get closed(): boolean {
    return this.#closing !== undefined
  }

  /** The leader, as far as is known here. */
  get leader(): Leadership | undefined {
    const known = this.#leadership
    if (known?.leader !== -1) return known
    // It was heard of before it was met.
    const rank = this.#parts.rankOf(this.#leaderId)
    if (rank !== undefined) this.#leadership = { ...known, leader: rank }
    return this.#leadership
  }

  /**
   * Have a command applied by every replica, once, and get the answer of this process's machine. It may be proposed by
   * any member; while leaders change, it waits.
   * @throws ConsensusError whose `outcome` says what became of it. `applied`: the machine threw. `unknown`: no answer
   *   came in time. `not-applied`: it was not even sent in time.
   */
  propose(command: CommandOf<Machine>, options: ProposeOptions = {}): Promise<AnswerOf<Machine>> {
    checkOptions('propose', options, proposeNames)
    const { timeoutMs = DEFAULT_TIMEOUT_MS, signal } = options
    checkMilliseconds('options.timeoutMs', timeoutMs)
    // A command that is sent again after its session has expired would be applied again.
    const patienceMs = Math.min(timeoutMs, this.#parts.sessionMs / 2, TIMER_MS_MAX)
    checkSignal('options.signal', signal)
    return new Promise<AnswerOf<Machine>>((resolve, reject) => {
      this.#checkOpen()
      signal?.throwIfAborted()
      // A codec may use the same memory again, and `slice` of a Buffer copies nothing.
      const bytes = Buffer.from(this.#parts.codec.encode(command))
      const process = this.#process!
      const sentMs = performance.now()
      const alone = this.#applyAlone(bytes)
      if (alone !== undefined) {
        this.#reads.knownFresh(sentMs)
        return resolve(answerOf(alone, this.#applier.answerCodec))
      }
      this.#session.renewAfter(this.#parts.sessionMs / 4, Date.now())
      this.#calls.add(process, {
        ...{ bytes, sentMs, patienceMs, signal, reject },
        done: (outcome) => {
          this.#reads.knownFresh(sentMs)
          resolve(answerOf(outcome, this.#applier.answerCodec))
        },
        late: (wasSent) => this.#late(patienceMs, wasSent),
      })
      this.#meter.proposing(this.#session.size)
    })
  }

  /**
   * Read the machine. Unless `stale`, the result is not older than any answer that any process had before this call
   * (linearizable). `read` must not change the machine, and not keep parts of it.
   * @throws ConsensusError if no majority of the voters answers in time.
   */
  query<T>(read: (machine: Machine) => T, options: QueryOptions = {}): Promise<T> {
    checkFunction('read', read, 'which takes the machine')
    checkOptions('query', options, queryNames)
    const { timeoutMs = DEFAULT_TIMEOUT_MS, signal, stale = false, staleMs = 0 } = options
    checkMilliseconds('options.timeoutMs', timeoutMs)
    if (staleMs !== 0) checkMilliseconds('options.staleMs', staleMs)
    checkSignal('options.signal', signal)
    return new Promise<T>((resolve, reject) => {
      this.#checkOpen()
      signal?.throwIfAborted()
      const run = (): void => resolve(read(this.#parts.machine))
      if (stale || this.#reads.staleMs < staleMs) return run()
      const late = (): ConsensusError => this.#late(timeoutMs, false)
      this.#reads.read(this.#process!, { run, reject, late, timeoutMs, signal })
    })
  }

  /**
   * @internal An entry of the log: what has applied all up to it has what anyone was answered before this call.
   * Undefined if a majority has to be asked.
   */
  confirm(): number | undefined {
    this.#checkOpen()
    return this.#readIndex.confirm()
  }

  /**
   * Every command that was applied, from number `from` on (default: the next one), with its answer. The last 4,096 are
   * kept. It ends when this is closed.
   * @throws ConsensusError `ERR_AETHER_CONSENSUS_CHANGES_GONE` if `from` is no longer kept.
   */
  changes(
    options: { readonly from?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<Change<CommandOf<Machine>, AnswerOf<Machine>>, void, undefined> {
    checkOptions('changes', options, changesNames)
    const { from = this.#applier.commands + 1, signal } = options
    checkWhole('options.from', from, 1, Number.MAX_SAFE_INTEGER)
    checkSignal('options.signal', signal)
    this.#checkOpen()
    return this.#changesFrom(from, signal)
  }

  /** The leader, now and after each change. It ends when this is closed. */
  leadership(options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<Leadership, void, undefined> {
    checkOptions('leadership', options, signalNames)
    checkSignal('options.signal', options.signal)
    this.#checkOpen()
    return this.#leaderships(options.signal)
  }

  async status(): Promise<ReplicatedStatus> {
    this.#checkOpen()
    const { term, leader, isLeader, decided, durable, configuration, lags, deviating, lastFailOver, isByRights } =
      await this.#process!.status()
    const { rankOf } = this.#parts
    return {
      ...{ term, isLeader, decided, durable, applied: this.#applier.index, hash: this.#applier.hash.value },
      disk: durable === undefined ? undefined : this.#disk,
      proposing: this.#session.size,
      protocol: isByRights ? 'mu' : 'velos',
      lastFailOver,
      staleMs: this.#reads.staleMs,
      leader: leader === undefined ? undefined : rankOf(leader),
      voters: configuration?.voters.map(({ id }) => rankOf(id) ?? -1),
      deviating: [...new Set(deviating.map((id) => rankOf(id) ?? -1))],
      lags: lags.map(({ id, entries }) => ({ rank: rankOf(id) ?? -1, entries })),
    }
  }

  /**
   * Let the replica of another rank lead. Call it at the leader. False if this is not the leader, or the other does not
   * vote or cannot be reached.
   */
  async transferLeadership(rank: number): Promise<boolean> {
    checkWhole('rank', rank, 0, Number.MAX_SAFE_INTEGER)
    this.#checkOpen()
    const id = this.#parts.idOf(rank)
    if (id === undefined)
      throw new ArgumentError('rank', `rank ${rank} has not opened this machine; pass one that votes`)
    return await this.#process!.transfer(id)
  }

  /**
   * @internal Vote no more, once another replica that follows votes instead. False if none does in time: it votes on.
   * Either way the log is followed until {@link close}.
   */
  async giveUpVote(timeoutMs: number): Promise<boolean> {
    this.#checkOpen()
    const isDone = await this.#process!.leave(timeoutMs, true)
    if (!isDone) this.voteAgain()
    return isDone
  }

  /** @internal It may vote again after {@link giveUpVote}. */
  voteAgain(): void {
    if (!this.closed) this.#process!.stay()
  }

  /** Leave. What was proposed and has no answer rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    // Those who wait see that it is closed from here on.
    this.#changed.wake()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** @internal Resolves when this replica has heard from a leader, and all who are to vote at first do. */
  whenReady(wanted: number, timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    const late = AbortSignal.timeout(Math.ceil(Math.min(timeoutMs, TIMER_MS_MAX)))
    this.#process!.expect()
    return this.#until(
      () => this.#leadership !== undefined && this.#voters >= Math.min(2, wanted),
      signal === undefined ? late : AbortSignal.any([late, signal]),
    )
      .catch((error) => {
        throw late.aborted && error === late.reason ? this.#unready(wanted, timeoutMs) : error
      })
      .finally(() => this.#process!.unexpect())
  }

  // ---- what comes from the replica
  // ---------------------------------------------------------------------------------------------------------------

  /** @internal */
  take(kind: number, bytes: Uint8Array): boolean {
    // What a journal held comes as soon as the thread runs.
    if (this.#process === undefined) return false
    // Nothing of what follows counts here.
    if (this.#failure !== undefined) return true
    switch (kind) {
      case News.Entry:
        this.#apply(bytes)
        return true
      case News.ProposeAgain:
        this.#session.sendAgain()
        this.#reads.askAgain(this.#process)
        return true
      case News.Readable:
        this.#reads.mayRead(this.#process, numberAt(bytes, 0), numberAt(bytes, 8))
        return true
      case News.SnapshotWanted:
        this.#snapshots.wanted(this.#process)
        return true
      case News.Restore:
        return this.#restore(numberAt(bytes, 0))
      case News.Deviates:
        this.fail(DEVIATES)
        return true
    }
    throw new DefectError(`the replica's thread sends records of kind ${kind}`)
  }

  /** @internal */
  diskIs(state: 'well' | 'full'): void {
    this.#disk = state
  }

  /** @internal It cannot go on: all who call are told why. */
  fail(failure: ConsensusError): void {
    if (this.closed) return
    this.#failure = failure
    // It is told to all who call.
    this.close().catch(() => {})
  }

  /**
   * False if this replica has stopped, since it cannot go on: another release has written what is unknown here, or the
   * machine threw, which has no state to give or to go on from. `what` is what it was asked for.
   */
  #orStop(run: () => void, what?: 'snapshot' | 'restore'): boolean {
    try {
      run()
      return true
    } catch (cause) {
      if (cause instanceof ConsensusError) this.fail(cause)
      else if (what === undefined || cause instanceof DefectError) throw cause
      else {
        const message = `${what}() of the machine threw: ${messageOfThrown(cause)}; mend it, and replicate() again`
        this.fail(new ConsensusError('MACHINE', message, { cause }))
      }
      return false
    }
  }

  #apply(bytes: Uint8Array): void {
    const head = new DataView(bytes.buffer, bytes.byteOffset, ENTRY_HEAD_BYTES)
    const flags = head.getUint32(20, true)
    const payload = bytes.subarray(ENTRY_HEAD_BYTES)
    const term = head.getUint32(16, true)
    const entry = { index: head.getFloat64(0, true), timeMs: head.getFloat64(8, true), term, payload }
    if (!this.#orStop(() => this.#applier.apply(entry))) return
    const { index } = this.#applier
    this.#meter.proposing(this.#session.size)
    if (index % CHECK_EVERY === 0) this.#process?.checked(index / CHECK_EVERY, this.#applier.shortHash)
    if ((flags & EntryFlag.Begin) !== 0) this.#begun(payload)
    this.#applied(index)
  }

  #applied(index: number): void {
    this.#meter.applied(index)
    this.#onApplied(index)
    this.#reads.answer()
    this.#changed.wake()
  }

  /**
   * A replica that is all there is decides at once, without a log: see `Replica.pass`. Undefined where there are
   * others, or the command has to wait for those before it.
   */
  #applyAlone(bytes: Uint8Array): Outcome | undefined {
    if (this.#session.size > 0 || this.#applier.isApplying) return undefined
    const passed = this.#process!.pass(this.#applier.index)
    if (passed === undefined) return undefined
    const outcome = this.#applier.applyAlone({ ...passed, payload: bytes })
    this.#applied(passed.index)
    return outcome
  }

  /** Every process there has a release that knows a later format. It may be lost with a leader. */
  #raise(): void {
    const format = Math.min(this.#applier.formatKnown, this.#parts.formats!.common())
    if (this.closed || this.#leadership?.isSelf !== true || format <= this.#applier.format) return
    const writer = new RecordWriter()
    writer.format(format)
    this.#process?.propose(writer.bytes().slice())
  }

  #begun(payload: Uint8Array): void {
    const record = new RecordReader(payload)
    record.next()
    this.#leads(record.term, record.leader)
  }

  /** A first entry that a later leader has adopted may be of a lower term. The token of a leader never goes back. */
  #leads(term: number, id: number): void {
    if (term <= (this.#leadership?.term ?? 0)) return
    const { group, rankOf, idOf } = this.#parts
    const isSelf = id === idOf(group.rank)
    this.#leadership = { term, leader: rankOf(id) ?? -1, isSelf }
    this.#leaderId = id
    this.#meter.led(term, isSelf)
    if (isSelf) this.#showFailOver()
  }

  /** It may be closed meanwhile. */
  #showFailOver(): void {
    const shown = this.#process?.status().then(({ lastFailOver }) => {
      if (lastFailOver !== undefined && !this.closed) this.#meter.tookOver(lastFailOver)
    })
    shown?.catch(() => {})
  }

  /** Begin again from a snapshot. */
  #restore(number: number): boolean {
    const restore = this.#process!.takeRestore(number)
    if (restore === undefined) return false
    // A checksum of the whole was compared when it was read from the disk, or from another's memory.
    const act = (): void => restoreSnapshot(this.#applier, unpackChunks(restore.bytes), { isChecked: true })
    if (!this.#orStop(act, 'restore')) return true
    this.#configured(restore.configuration)
    this.#leads(restore.term, restore.leader)
    // The outcomes of this process's commands may be in it: they are told to those who propose them again.
    this.#session.sendAgain()
    this.#onApplied(this.#applier.index)
    this.#reads.answer()
    this.#changed.wake()
    return true
  }

  // ---- inside
  // ---------------------------------------------------------------------------------------------------------------

  async *#changesFrom(
    from: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Change<CommandOf<Machine>, AnswerOf<Machine>>, void, undefined> {
    for (let next = from; ; ) {
      for (const change of this.#applier.changesFrom(next)) {
        yield change
        next = change.index + 1
      }
      if (this.#failure !== undefined) throw this.#failure
      if (this.closed) return
      const wanted = next
      await this.#until(() => this.#applier.commands >= wanted, signal)
    }
  }

  async *#leaderships(signal: AbortSignal | undefined): AsyncGenerator<Leadership, void, undefined> {
    let seen = 0
    while (!this.closed) {
      const now = this.leader
      if (now !== undefined && now.term > seen) {
        seen = now.term
        yield now
      } else await this.#until(() => (this.#leadership?.term ?? 0) > seen, signal)
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  /** A voter may have ended before this process came. One that has just joined may not be known here yet. */
  #configured(configuration: Configuration): void {
    const { group, rankOf, onConfiguration } = this.#parts
    this.#voters = configuration.voters.length
    this.#configuration = configuration
    this.#readIndex.configuration = configuration
    for (const { id } of configuration.voters) {
      const rank = rankOf(id)
      if (rank !== undefined && !group.closed && group.isGone(rank)) this.#process?.ended(id)
    }
    onConfiguration(configuration)
  }

  async #close(): Promise<void> {
    clearInterval(this.#raiser)
    this.#snapshots.end()
    this.#process?.expect()
    const closed = (outcome?: ProposalOutcome): ConsensusError =>
      this.#failure === undefined
        ? new ConsensusError('CLOSED', 'the replicated machine was closed', outcome === undefined ? {} : { outcome })
        : this.#failure.withOutcome(outcome)
    this.#calls.end((wasSent) => closed(wasSent ? 'unknown' : 'not-applied'))
    this.#reads.end(closed)
    // The others then need no majority of those who have left.
    await this.#process?.leave(LEAVE_MS_MAX)
    await this.#process?.close()
    this.#meter.close()
    this.#readIndex.close()
    await this.#parts.onClose()
  }

  #until(isOver: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    return this.#changed.until(() => this.closed || isOver(), signal)
  }

  #checkOpen(): void {
    if (this.#failure !== undefined) throw this.#failure
    if (this.closed) throw new ConsensusError('CLOSED', 'the replicated machine is closed; call replicate() again')
  }

  #unready(wanted: number, timeoutMs: number): ConsensusError {
    if (this.#leadership === undefined) return this.#late(timeoutMs, false)
    const message = `${wanted} processes have not opened the machine within ${timeoutMs} ms; start more, or pass fewer replicas`
    return new ConsensusError('TIMEOUT', message, { outcome: 'not-applied' })
  }

  #late(timeoutMs: number, wasSent: boolean): ConsensusError {
    const who = this.#leadership === undefined ? 'no leader was elected' : 'no answer came'
    const message = `${who} within ${timeoutMs} ms; a majority of the voters has to be alive: see status()`
    return new ConsensusError('TIMEOUT', message, { outcome: wasSent ? 'unknown' : 'not-applied' })
  }
}

const DEVIATES = new ConsensusError(
  'DEVIATES',
  'the machine of this process came to other outcomes than those of a majority; let apply() follow from state, command and context, and replicate() again. If it has a directory, empty that',
)
