import type { Plan, RunMemory } from '../../collectives/index.ts'
import { AetherError, ArgumentError, ClosedError, messageOfThrown, shown } from '../../native/index.ts'
import { TraceLevel, traceChannel } from '../../profiling/index.ts'
import { CollectiveRun, type RunOwner } from './collective-run.ts'
import { EarlyCalls } from './early-calls.ts'
import { CollectiveError, PeerError } from './errors.ts'
import { decodeFailure, encodeFailure, type FailureNote } from './failure-note.ts'
import { behind, type Frame, FrameKind, takesPart } from './frame.ts'
import { LastWord } from './last-word.ts'
import type { PeerChannel } from './peer-channel.ts'
import type { OutgoingStream } from './streams.ts'

/** Collectives by what was called; never what is combined. */
const trace = traceChannel('messaging')
const TRACK = 'collectives'

interface Pending {
  readonly run: CollectiveRun
  /** Of the monotonic clock, where collectives are counted. */
  readonly beganNs: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
  readonly startedMs: number
}

const NO_BYTES = new Uint8Array(0)
/** Of what was called before this many collectives nothing is known any more. */
const HISTORY = 512
const ADVICE = 'all ranks must make the same calls with the same lengths, in the same order'
/**
 * What stands for a call of which nothing is known but that it is done here; and for one that has not been called, of
 * which more has come than may.
 */
const WHAT_IS_OVER = 'what is over here'
const WHAT_IS_TO_COME = 'less than that so far'
/** A rank that waits this long says what it called; again after `ANNOUNCE_AGAIN_MS`. */
const ANNOUNCE_MS = 100
const ANNOUNCE_AGAIN_MS = 1000

/**
 * The members of a group, and the collectives that are under way among them. A state machine without a clock or
 * promises.
 */
export class GroupEngine implements RunOwner {
  /** Its name on the wire, the same at every member. */
  readonly group: number
  /** Peer numbers by rank. */
  readonly peers: readonly number[]
  readonly rank: number
  readonly eagerBytes: number
  readonly #requestsMax: number
  readonly #channelOf: (peer: number) => PeerChannel | undefined
  readonly #pending = new Map<number, Pending>()
  readonly #early: EarlyCalls
  readonly #signatures = new Uint32Array(HISTORY)
  /** Up to which collective each rank is done, as far as is known; which it was asked for, and for which it asked. */
  readonly #doneAt: Int32Array
  readonly #asked: Int32Array
  readonly #wanted = new Map<number, number>()
  /** Streams that wait for their rank to come nearer. */
  readonly #held: { readonly rank: number; readonly stream: OutgoingStream }[] = []
  /** Since when each rank takes no part. */
  readonly #left = new Map<number, number>()
  /** What this rank waits in instead of a collective, if so, while that peer is in a collective. */
  elsewhere: (peer: number) => string | undefined = () => undefined
  #announcedMs = 0
  #next = 1
  #done = 0
  #failure: Error | undefined
  #closed = false
  /** Since it failed here, or was closed. */
  #lastWord: LastWord | undefined

  constructor(
    group: number,
    peers: readonly number[],
    rank: number,
    limits: { readonly eagerBytes: number; readonly requestsMax: number },
    channelOf: (peer: number) => PeerChannel | undefined,
  ) {
    this.group = group
    this.peers = peers
    this.rank = rank
    this.eagerBytes = limits.eagerBytes
    this.#requestsMax = limits.requestsMax
    this.#early = new EarlyCalls(limits)
    this.#channelOf = channelOf
    this.#doneAt = new Int32Array(peers.length)
    this.#asked = new Int32Array(peers.length)
  }

  /** The last collective that is done here, with all before it. */
  get done(): number {
    return this.#done >>> 0
  }

  /** Why collectives are no longer possible. */
  get failure(): Error | undefined {
    return this.#closed ? new ClosedError('the group') : this.#failure
  }

  get closed(): boolean {
    return this.#closed
  }

  /** For members that still take part; undefined while this rank does. */
  get lastWord(): LastWord | undefined {
    return this.#lastWord
  }

  get busy(): boolean {
    return this.#pending.size > 0
  }

  // ---- what the caller does
  // ------------------------------------------------------------------------------------------------------

  /** Begin a collective. Exactly one of the two callbacks is called, perhaps before this returns. */
  begin(
    plan: Plan,
    memory: RunMemory,
    nowMs: number,
    resolve: () => void,
    reject: (error: unknown) => void,
  ): CollectiveRun {
    const failure = this.failure
    if (failure !== undefined) throw failure
    if (this.#pending.size >= this.#requestsMax)
      throw new ArgumentError(
        'requestsMax',
        `${this.#requestsMax} collectives of the group are under way; await some, or open the peers with a greater requestsMax`,
      )
    const sequence = this.#next
    this.#next = (this.#next + 1) | 0
    const run = new CollectiveRun(sequence, plan, memory, this)
    this.#signatures[sequence & (HISTORY - 1)] = plan.signature
    const beganNs = plan.meter === undefined ? 0 : plan.meter.begin()
    this.#pending.set(sequence, { run, resolve, reject, startedMs: nowMs, beganNs })
    if (trace.wants(TraceLevel.Debug)) this.#traceBegin(run)
    for (const [rank, since] of this.#left) this.#checkLeft(rank, since, run)
    const early = this.#early.take(sequence)
    // Judged before anything goes out; the bytes are placed once the first round says where.
    for (const rank of plan.sends.keys()) this.#checkDone(rank, run)
    for (const { rank, signature, amount, kind } of early) {
      if (kind === FrameKind.Grant) run.grant(rank, amount)
      const expected = (kind === FrameKind.Data ? plan.receives : plan.sends).get(rank) ?? 0
      const fits = kind === FrameKind.Grant ? amount <= expected : amount === expected
      if (signature !== plan.signature || !fits) this.#mismatch(rank, sequence, plan.call)
    }
    if (!run.over) run.start()
    for (const { rank, amount, bytes, kind } of early) {
      if (kind !== FrameKind.Data || run.over) continue
      if (!run.take(rank, amount, bytes, 0, bytes.length)) this.#mismatch(rank, sequence, plan.call)
    }
    for (const rank of plan.receives.keys()) this.#checkDone(rank, run)
    return run
  }

  /** End every collective under way, and tell the others why nothing will come from here. */
  giveUp(error: unknown): void {
    this.#end(error, 'gave-up', this.rank, 0, messageOfThrown(error))
  }

  /** Take no further part. */
  close(): void {
    if (this.#closed) return
    if (this.#failure === undefined && this.#pending.size > 0) this.giveUp(new ClosedError('the group'))
    this.#closed = true
    if (this.#lastWord === undefined) {
      this.#lastWord = new LastWord(this.group, FrameKind.Leave)
      this.#tellAll(this.#lastWord, this.#next >>> 0)
    }
    this.#early.clear()
  }

  /** The oldest collective under way. */
  get oldest(): CollectiveRun | undefined {
    const [oldest] = this.#pending.values()
    return oldest?.run
  }

  /**
   * Called from time to time. A rank that waits long announces its collective, so that ranks that called another find
   * out.
   */
  tick(nowMs: number): void {
    const [oldest] = this.#pending.values()
    if (oldest === undefined || nowMs - oldest.startedMs < ANNOUNCE_MS) return
    if (nowMs - this.#announcedMs < ANNOUNCE_AGAIN_MS && this.#announcedMs >= oldest.startedMs) return
    this.#announcedMs = nowMs
    const { run } = oldest
    // A rank that takes nothing may have called something else, or be gone, which only who sends to it finds out.
    for (const rank of new Set([...run.awaited(), ...run.unsent()])) {
      const expected = run.plan.receives.get(rank) ?? 0
      this.#channel(rank)?.control(FrameKind.Announce, run.sequence >>> 0, run.plan.signature, this.group, expected)
    }
  }

  // ---- what comes
  // ----------------------------------------------------------------------------------------------------------------

  cameFrame(peer: number, frame: Frame, bytes: Uint8Array, at: number, length: number): void {
    const rank = this.peers.indexOf(peer)
    if (rank < 0) return
    if (this.#lastWord !== undefined) {
      if (takesPart(frame.kind)) this.#lastWord.tell(this.#channel(rank))
      return
    }
    // Told over a later link, what the rank was done with says nothing of what was called here, and why it failed does.
    if (frame.kind !== FrameKind.Abort) this.#cameDone(rank, frame.done | 0)
    if (this.#failure !== undefined) return
    const sequence = frame.sequence | 0
    switch (frame.kind) {
      case FrameKind.Data:
        this.#cameData(rank, sequence, frame, bytes, at, length)
        return
      case FrameKind.Grant:
        this.#cameGrant(rank, sequence, frame)
        return
      case FrameKind.Ask:
        this.#cameAsk(rank, sequence)
        return
      case FrameKind.Announce:
        this.#cameAnnounce(rank, sequence, frame)
        return
      case FrameKind.Leave:
        this.#leftAt(rank, sequence)
        return
      case FrameKind.Abort:
        this.#cameAbort(rank, decodeFailure(bytes.slice(at, at + length)))
        return
      default:
    }
  }

  /** A rank takes no part in this group. */
  neverCame(rank: number): void {
    if (this.#failure === undefined && !this.#closed) this.#leftAt(rank, 1)
  }

  /** The others go on without this rank. Whatever ended the group before, this is why it will not come back. */
  exclude(error: Error): void {
    this.#fail(error, { reason: 'gave-up', rank: this.rank, sequence: 0, call: error.message, by: this.rank })
    this.#failure = error
  }

  /** The connection to a peer has ended. */
  lostPeer(peer: number, cause: Error | undefined): void {
    const rank = this.peers.indexOf(peer)
    if (rank < 0 || this.#failure !== undefined || this.#closed) return
    // A rank that has left gracefully was done with what was called before, and its bytes came before that word. Later
    // calls fail by themselves.
    if (this.#left.has(rank)) return
    const how = cause === undefined ? 'has closed its connection' : 'is gone'
    const error = this.#error('ERR_AETHER_PEER_LOST', rank, `rank ${rank} of the group (peer ${peer}) ${how}`, cause)
    this.#end(error, 'lost', rank, 0, '')
  }

  // ---- what runs ask for
  // -----------------------------------------------------------------------------------------------------------

  push(rank: number, stream: OutgoingStream): void {
    const ahead = behind(stream.sequence, this.#doneAt[rank]!)
    if (ahead <= this.#requestsMax) {
      // Asked for early, so that no caller waits for the answer.
      if (ahead > this.#requestsMax >> 1) this.#ask(rank, (stream.sequence - (this.#requestsMax >> 1)) | 0)
      this.#channel(rank)?.push(stream)
      return
    }
    this.#ask(rank, (stream.sequence - this.#requestsMax) | 0)
    if (!this.#held.some((held) => held.stream === stream)) this.#held.push({ rank, stream })
  }

  drop(rank: number, stream: OutgoingStream): void {
    this.#channel(rank)?.drop(stream)
    const at = this.#held.findIndex((held) => held.stream === stream)
    if (at >= 0) this.#held.splice(at, 1)
  }

  grant(rank: number, run: CollectiveRun, limit: number): void {
    this.#channel(rank)?.control(FrameKind.Grant, run.sequence >>> 0, run.plan.signature, this.group, limit)
  }

  finished(run: CollectiveRun): void {
    const pending = this.#pending.get(run.sequence)!
    this.#pending.delete(run.sequence)
    if (trace.wants(TraceLevel.Debug)) this.#traceEnd(run, 'OK')
    const { meter, sends, receives } = run.plan
    if (meter !== undefined) meter.done(pending.beganNs, total(sends), total(receives))
    const [oldest] = this.#pending.keys()
    this.#done = oldest === undefined ? (this.#next - 1) | 0 : (oldest - 1) | 0
    for (const rank of this.#wanted.keys()) this.#answer(rank)
    pending.resolve()
  }

  threw(error: unknown): void {
    this.giveUp(error)
  }

  // ---- inside
  // -------------------------------------------------------------------------------------------------------------------

  #channel(rank: number): PeerChannel | undefined {
    return this.#channelOf(this.peers[rank]!)
  }

  #cameData(rank: number, sequence: number, frame: Frame, bytes: Uint8Array, at: number, length: number): void {
    const run = this.#pending.get(sequence)?.run
    if (run === undefined) {
      this.#cameEarly(rank, sequence, frame, bytes.slice(at, at + length))
      return
    }
    const fits = frame.signature === run.plan.signature && run.take(rank, frame.amount, bytes, at, length)
    if (!fits) this.#mismatch(rank, sequence, run.plan.call)
  }

  #cameGrant(rank: number, sequence: number, frame: Frame): void {
    const run = this.#pending.get(sequence)?.run
    if (run === undefined) this.#cameEarly(rank, sequence, frame, NO_BYTES)
    else if (frame.signature === run.plan.signature && frame.amount <= (run.plan.sends.get(rank) ?? 0))
      run.grant(rank, frame.amount)
    else this.#mismatch(rank, sequence, run.plan.call)
  }

  #cameAnnounce(rank: number, sequence: number, frame: Frame): void {
    const run = this.#pending.get(sequence)?.run
    if (run !== undefined) {
      const fits = frame.signature === run.plan.signature && frame.amount === (run.plan.sends.get(rank) ?? 0)
      if (!fits) this.#mismatch(rank, sequence, run.plan.call)
    } else if (behind(sequence, this.#next) >= 0) {
      const elsewhere = this.elsewhere(this.peers[rank]!)
      if (elsewhere === undefined) this.#cameEarly(rank, sequence, frame, NO_BYTES)
      else this.#mismatch(rank, sequence, elsewhere)
    } else if (behind(this.#next, sequence) < HISTORY && this.#signatures[sequence & (HISTORY - 1)] !== frame.signature)
      this.#mismatch(rank, sequence, WHAT_IS_OVER)
    // Where it was the same, but for lengths that two ranks agree on, that rank finds out once it knows that it is over
    // here.
    else this.#channel(rank)?.control(FrameKind.Progress, 0, 0, this.group, 0)
  }

  #cameEarly(rank: number, sequence: number, frame: Frame, bytes: Uint8Array): void {
    const ahead = behind(sequence, this.#next)
    // Nothing more was expected for one that is over here, nor was all the room used that there is only now; and who
    // does not keep to what it may is no program of ours.
    if (ahead < 0) this.#mismatch(rank, sequence, WHAT_IS_OVER)
    else if (!this.#early.keep(rank, sequence, ahead, frame, bytes)) this.#mismatch(rank, sequence, WHAT_IS_TO_COME)
  }

  /** A rank says how far it is. */
  #cameDone(rank: number, done: number): void {
    if (behind(done, this.#doneAt[rank]!) <= 0) return
    this.#doneAt[rank] = done
    for (const { run } of this.#pending.values()) {
      if (behind(run.sequence, done) > 0) break
      this.#checkDone(rank, run)
    }
    if (this.#held.length === 0) return
    for (const held of this.#held.splice(0)) this.push(held.rank, held.stream)
  }

  /** A rank that is done with a collective has sent and received all of it: it says so behind the last byte. */
  #checkDone(rank: number, run: CollectiveRun): void {
    if (run.over || behind(this.#doneAt[rank]!, run.sequence) < 0 || run.isDoneWith(rank)) return
    this.#mismatch(rank, run.sequence, run.plan.call)
  }

  #ask(rank: number, target: number): void {
    // Not twice, unless the answer to the first would come too late.
    const asked = this.#asked[rank]!
    if (behind(asked, this.#doneAt[rank]!) > 0 && behind(target, asked) >= 0) return
    this.#asked[rank] = target
    this.#channel(rank)?.control(FrameKind.Ask, target >>> 0, 0, this.group, 0)
  }

  #cameAsk(rank: number, target: number): void {
    const wanted = this.#wanted.get(rank)
    if (wanted === undefined || behind(target, wanted) < 0) this.#wanted.set(rank, target)
    this.#answer(rank)
  }

  #answer(rank: number): void {
    const wanted = this.#wanted.get(rank)
    if (wanted === undefined || behind(this.#done, wanted) < 0) return
    this.#wanted.delete(rank)
    this.#channel(rank)?.control(FrameKind.Progress, 0, 0, this.group, 0)
  }

  #leftAt(rank: number, sequence: number): void {
    this.#left.set(rank, sequence)
    for (const { run } of [...this.#pending.values()]) this.#checkLeft(rank, sequence, run)
  }

  #checkLeft(rank: number, since: number, run: CollectiveRun): void {
    if (run.over || behind(run.sequence, since) < 0) return
    const message = `rank ${rank} closed the group and takes no part in ${run.plan.call}`
    const error = this.#error('ERR_AETHER_COLLECTIVE_ABANDONED', rank, message)
    this.#end(error, 'gave-up', rank, run.sequence, 'it closed the group')
  }

  /** `own`: what was called here. */
  #mismatch(rank: number, sequence: number, own: string): void {
    if (this.#failure !== undefined) return
    const message = `collective ${sequence} of the group: rank ${rank} made another call than this rank, which called ${own}; ${ADVICE}`
    const error = this.#error('ERR_AETHER_COLLECTIVE_MISMATCH', rank, message)
    this.#end(error, 'mismatch', rank, sequence, own)
  }

  #cameAbort(teller: number, told: FailureNote | undefined): void {
    const { length } = this.peers
    const isSense = told !== undefined && told.rank < length && told.by < length
    const note: FailureNote = isSense ? told : { reason: 'gave-up', rank: teller, sequence: 0, call: '', by: teller }
    if (note.reason === 'lost') this.#fail(this.#lostTold(note), note)
    else if (note.reason === 'mismatch') this.#fail(this.#mismatchTold(note), note)
    else {
      const message = `rank ${note.rank} gave up${note.call === '' ? '' : `: ${note.call}`}`
      this.#fail(this.#error('ERR_AETHER_COLLECTIVE_ABANDONED', note.rank, message), note)
    }
  }

  #lostTold({ rank, by }: FailureNote): Error {
    if (rank !== this.rank) {
      const message = `rank ${rank} of the group (peer ${this.peers[rank]}) is gone, as rank ${by} reported`
      return this.#error('ERR_AETHER_PEER_LOST', rank, message)
    }
    // The rank that is said to be gone is back over another link, and has made the group only now.
    const message = `the group of rank ${by} (peer ${this.peers[by]}) ended when the link to this rank was lost; make another`
    return this.#error('ERR_AETHER_PEER_LOST', by, message)
  }

  #mismatchTold({ rank, sequence, call, by }: FailureNote): Error {
    // To the rank that is blamed it is the one that has found out that called something else.
    const other = rank === this.rank ? by : rank
    const own = this.#pending.get(sequence)?.run.plan.call
    const mine = own === undefined ? '' : `; this rank called ${own}`
    const message = `collective ${sequence} of the group: rank ${by} called ${call}, and rank ${rank} something else${mine}; ${ADVICE}`
    return this.#error('ERR_AETHER_COLLECTIVE_MISMATCH', other, message)
  }

  /** The end of the group, which this rank has found first, for all that is known here: of the others' too. */
  #end(error: unknown, reason: FailureNote['reason'], rank: number, sequence: number, call: string): void {
    this.#fail(error, { reason, rank, sequence, call, by: this.rank }, true)
  }

  #fail(error: unknown, note: FailureNote, areOthersTold: boolean = false): void {
    if (this.#failure !== undefined) return
    this.#failure =
      error instanceof Error ? error : new AetherError('ERR_AETHER_COLLECTIVE_ABANDONED', messageOfThrown(error))
    this.#lastWord = new LastWord(this.group, FrameKind.Abort, encodeFailure(note))
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    this.#early.clear()
    for (const { run } of pending) {
      run.abandon()
      this.#traceEnd(run, codeOf(this.#failure))
    }
    if (areOthersTold) this.#tellAll(this.#lastWord)
    for (const { reject } of pending) reject(error)
  }

  #traceBegin({ sequence, plan, id }: CollectiveRun): void {
    const { call } = plan
    const slice = { phase: 'begin', name: call, track: TRACK, id } as const
    trace.publish(TraceLevel.Debug, 'collective', () => ({ group: this.group, sequence, call }), slice)
  }

  #traceEnd({ sequence, plan, id }: CollectiveRun, code: string): void {
    const slice = { phase: 'end', track: TRACK, id } as const
    const level = code === 'OK' ? TraceLevel.Debug : TraceLevel.Warn
    trace.publish(level, 'collectiveEnd', () => ({ group: this.group, sequence, call: plan.call, code }), slice)
  }

  #tellAll(word: LastWord, since?: number): void {
    for (const rank of this.peers.keys()) if (rank !== this.rank) word.tell(this.#channel(rank), since)
  }

  #error(code: ConstructorParameters<typeof CollectiveError>[0], rank: number, message: string, cause?: Error): Error {
    return new CollectiveError(code, rank, this.peers[rank]!, message, cause === undefined ? undefined : { cause })
  }
}

const codeOf = (error: Error): string => (error instanceof AetherError ? error.code : error.name)

/** Check members. @throws PeerError if one is not there. */
export function checkMembers(
  peers: readonly number[],
  channelOf: (peer: number) => PeerChannel | undefined,
  own: number,
): void {
  if (!peers.includes(own))
    throw new ArgumentError('members', `members must contain this peer, ${own}; add it to the list`)
  if (new Set(peers).size !== peers.length)
    throw new ArgumentError('members', 'members must name each peer once; one is named twice')
  for (const peer of peers) {
    if (peer === own || channelOf(peer)?.link.open) continue
    throw new PeerError(
      'ERR_AETHER_PEER_UNKNOWN',
      peer,
      `peer ${shown(peer)} is not connected; connect to it, or accept it, first`,
    )
  }
}

function total(bytes: ReadonlyMap<number, number>): number {
  let sum = 0
  for (const each of bytes.values()) sum += each
  return sum
}
