import {
  ArgumentError,
  ClosedError,
  checkFunction,
  checkSignalKind,
  checkWhole,
  mustBe,
  shown,
} from '../native/index.ts'
import { type KeyedWait, TraceLevel, traceChannel, watchWaits } from '../profiling/index.ts'
import { CreditReturn } from './credit-return.ts'
import type { DeparturePlace } from './departures.ts'
import { LinkError, linkErrorOf, ProtocolViolation } from './errors.ts'
import { IncomingRing } from './incoming-ring.ts'
import { MESSAGE_KIND_MAX, type MessageHandler, type MessageLink } from './message-link.ts'
import { OutgoingRing } from './outgoing-ring.ts'
import { OwedSignals } from './owed-signals.ts'
import { FixedBudget, type ReceiveBudget } from './receive-budget.ts'
import { RingCarrier } from './ring-carrier.ts'
import type { RingLinkParts } from './ring-link-parts.ts'
import { lengthError, longestMessage } from './ring-record.ts'
import { RoomWaiters } from './room-waiters.ts'
import { SendCredit } from './send-credit.ts'
import type { SendLimiter } from './send-limit.ts'
import { Signal } from './signal.ts'

/** Of messages how long they are, never what is in them. */
const trace = traceChannel('messaging')
let lastWatched = 0

/**
 * Messages of one turn leave together, but no more of them: the peer works on the first while this end makes the next.
 * With 64 calls under way each end would otherwise wait while the other works.
 */
const GATHERED_MAX = 16

/**
 * The protocol of a pair of rings; what carries it stands behind the methods of {@link RingCarrier}.
 *
 * - Two limits bind the sender: bytes of the ring, and receive requests, one for each WRITE that announces bytes. If
 *   there is no receive left, messages gather and leave in one WRITE later.
 * - The receiver returns both as soon as a quarter was used. It WRITEs two counts into the sender's memory, without
 *   notice. A sender that has to wait asks (`want`). The next credit that helps, a quarter of the ring or all of it,
 *   then comes with an immediate. This wakes a sleeping sender (`wake`). At most one of each is under way, and receives
 *   are kept for them. So no message ever finds the receiver not ready.
 * - If links share receives, a link borrows more when it is given back more than it used. The loan ends the same way,
 *   or by asking for unused receives (`recall`, answered by `return`). Again at most one of each is under way, with
 *   receives kept for them.
 * - `close` comes behind all messages, and is answered by a `close`.
 */
export abstract class RingLink extends RingCarrier implements MessageLink {
  readonly outgoing: Uint8Array
  readonly messageBytesMax: number
  readonly #out: OutgoingRing
  readonly #in: IncomingRing
  readonly #creditReturn: CreditReturn
  /** Of this end's receives. */
  readonly #budget: ReceiveBudget
  /** Of the peer's. */
  readonly #credit: SendCredit
  readonly #owed: OwedSignals
  readonly #waiters = new RoomWaiters()
  /** Set from the first wait for room on. */
  #unwatch: (() => void) | undefined
  readonly #limiter: SendLimiter | undefined
  /** @internal Called when more may leave than before, under a limit. */
  onAllowed: (() => void) | undefined
  readonly #place: DeparturePlace | undefined
  #onMessage: MessageHandler | undefined
  #onEnd: ((error: Error | undefined) => void) | undefined
  #end: { readonly error: Error | undefined } | undefined
  #paused = false
  #polling = false
  /** It will be flushed with the end of this turn, or waits for its turn among others. */
  #flushScheduled = false
  /** Messages committed since some left. */
  #gathered = 0
  /** A `want` was sent, or is owed, and no `wake` has come. */
  #wanting = false
  #peerClosed = false
  #closing: Promise<void> | undefined
  #closeSent = false
  /** The connection is gone, after the peer said that it ends. */
  #gone = false
  #closed: (() => void) | undefined

  constructor(parts: RingLinkParts) {
    super()
    this.outgoing = parts.outgoing
    this.messageBytesMax = longestMessage(parts.outgoing.length)
    this.#out = new OutgoingRing(parts.outgoing)
    this.#in = new IncomingRing(parts.incoming)
    this.#budget = typeof parts.receives === 'number' ? new FixedBudget(parts.receives) : parts.receives
    this.#creditReturn = new CreditReturn(
      this.#in,
      this.#budget,
      (bytes, receives, wake) => this.#end === undefined && this.transmitCredit(bytes, receives, wake),
    )
    this.#credit = new SendCredit(parts.peerReceives, parts.peerReceivesMax ?? parts.peerReceives)
    this.#owed = new OwedSignals((signal, argument) => this.transmitSignal(signal, argument))
    this.#limiter = parts.limiter
    this.#place = parts.departures?.join(this, parts.weight ?? 1, parts.priority ?? 0)
  }

  get open(): boolean {
    return this.#end === undefined
  }

  get canSend(): boolean {
    return this.#end === undefined && this.#closing === undefined
  }

  // ---- sending
  // -----------------------------------------------------------------------------------------------------------------

  reserve(length: number): number {
    if (!(Number.isInteger(length) && length >= 0 && length <= this.messageBytesMax))
      throw lengthError(length, this.messageBytesMax)
    if (!this.canSend) this.#refuseEnded()
    if (this.#limiter !== undefined && this.#limiter.delayMs(length, 1) > 0) return -1
    const at = this.#out.reserve(length)
    return at >= 0 ? at : this.#reserveAgain(length)
  }

  /** With the credit that has come meanwhile. */
  #reserveAgain(length: number): number {
    try {
      this.readCredit()
    } catch (error) {
      this.fail(error)
      this.#refuseEnded()
    }
    return this.#out.reserve(length)
  }

  commit(length: number, immediate = 0, kind = 0): void {
    if (!(Number.isInteger(length) && length >= 0 && length <= this.#out.reserved))
      throw new ArgumentError(
        'length',
        `length must be an integer from 0 to the ${this.#out.reserved} bytes that are reserved, not ${shown(length)}; call \`reserve\` with the length first`,
      )
    if (typeof immediate !== 'number') throw mustBe('immediate', 'an integer of 32 bits', immediate)
    if (!(Number.isInteger(kind) && kind >= 0 && kind <= MESSAGE_KIND_MAX))
      throw mustBe('kind', `an integer from 0 to ${MESSAGE_KIND_MAX}`, kind)
    this.#out.commit(length, immediate, kind)
    if (trace.wants(TraceLevel.Trace))
      trace.publish(TraceLevel.Trace, 'sent', () => ({ link: this.label, length, kind }))
    this.#limiter?.take(length, 1)
    this.#gathered += 1
    if (this.#gathered >= GATHERED_MAX) {
      this.#gathered = 0
      this.#leave()
    }
    if (this.#flushScheduled || this.#polling) return
    this.#flushScheduled = true
    if (this.#place?.isOrdered === true) this.#place.wait()
    else process.nextTick(this.#flushTurn)
  }

  /** Count `bytes` that do not go through the ring. */
  charge(bytes: number): void {
    if (this.#limiter === undefined) return
    checkWhole('bytes', bytes, 0, Number.MAX_SAFE_INTEGER)
    this.#limiter.take(bytes, 0)
  }

  /** @internal True if bytes are limited, not only messages. */
  get limitsBytes(): boolean {
    return this.#limiter?.limitsBytes === true
  }

  /** @internal The time in milliseconds until this many bytes may leave without going through the ring; 0: now. */
  limitDelayMs(bytes: number): number {
    return this.#limiter?.delayMs(bytes, 0) ?? 0
  }

  /** @internal Call `onAllowed` after this delay, or earlier. */
  wakeAllowed(delayMs: number): void {
    this.#limiter?.wakeAfter(delayMs, this.#allowed)
  }

  flush(): void {
    try {
      this.#flushNow(Number.POSITIVE_INFINITY)
    } catch (error) {
      this.fail(error)
    }
  }

  /** @internal */
  get isWaiting(): boolean {
    return this.#flushScheduled
  }

  /** @internal Called when it is this link's turn. */
  depart(bytesMax: number): number {
    let bytes = 0
    try {
      bytes = this.#flushNow(bytesMax)
      // What is left is longer than that, or has to wait for something that ends in a poll.
      this.#flushScheduled = bytes >= 0 && this.#out.pending > 0 && this.open
      if (!this.#flushScheduled) this.#settleWaiters()
    } catch (error) {
      this.#flushScheduled = false
      this.fail(error)
    }
    if (this.#closing !== undefined && this.open) this.wakeSoon()
    return Math.max(0, bytes)
  }

  writable(length: number, signal?: AbortSignal): Promise<void> {
    if (!(Number.isInteger(length) && length >= 0 && length <= this.messageBytesMax))
      throw lengthError(length, this.messageBytesMax)
    checkSignalKind('signal', signal)
    if (!this.canSend) return Promise.reject(this.#ended())
    const room = this.#waiters.add(length, signal)
    this.#unwatch ??= this.#watch()
    this.#leave()
    this.#settleNow()
    return room
  }

  // ---- receiving
  // ---------------------------------------------------------------------------------------------------------------

  get onMessage(): MessageHandler | undefined {
    return this.#onMessage
  }

  set onMessage(handler: MessageHandler | undefined) {
    if (handler !== undefined) checkFunction('onMessage', handler, 'that takes each message')
    this.#onMessage = handler
    if (handler !== undefined && this.#hasWork) this.wakeSoon()
  }

  get onEnd(): ((error: Error | undefined) => void) | undefined {
    return this.#onEnd
  }

  set onEnd(handler: ((error: Error | undefined) => void) | undefined) {
    if (handler !== undefined) checkFunction('onEnd', handler, 'that takes the error, if there is one')
    const first = this.#onEnd === undefined
    this.#onEnd = handler
    if (first && handler !== undefined && this.#end !== undefined) queueMicrotask(() => this.#tellEnd())
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    if (this.#hasWork) this.wakeSoon()
  }

  poll(): number {
    return this.#advance(false)
  }

  /** The same from an event loop, where what wants to leave waits for its turn among other links. */
  protected pollInTurn(): number {
    return this.#advance(true)
  }

  #advance(inTurn: boolean): number {
    if (this.#polling || this.#end !== undefined) return 0
    this.#polling = true
    let count = 0
    try {
      this.progress(inTurn)
      if (this.#isQuiet) {
        this.#in.touch()
        return 0
      }
      count = this.#deliver()
      if (count > 0 && trace.wants(TraceLevel.Trace))
        trace.publish(TraceLevel.Trace, 'delivered', () => ({ link: this.label, messages: count }))
      this.#payDebts()
      if (inTurn) this.#leave()
      else this.#flushNow(Number.POSITIVE_INFINITY)
      this.#settleWaiters()
      this.#closeStep()
    } catch (error) {
      this.fail(error)
    } finally {
      this.#polling = false
    }
    return count
  }

  // ---- the end
  // -----------------------------------------------------------------------------------------------------------------

  close(before?: Promise<void>): Promise<void> {
    if (before !== undefined && typeof before?.then !== 'function') throw mustBe('before', 'a promise', before)
    return before === undefined ? this.#closeNow() : before.then(() => this.#closeNow())
  }

  #closeNow(): Promise<void> {
    if (this.#end !== undefined) return Promise.resolve()
    this.#closing ??= new Promise((resolve) => {
      this.#closed = resolve
      this.#waiters.fail(new ClosedError('the link'))
      this.wakeSoon()
    })
    return this.#closing
  }

  destroy(reason?: Error): void {
    if (reason !== undefined && !(reason instanceof Error)) throw mustBe('reason', 'an Error', reason)
    this.finish(reason ?? new LinkError('destroyed', this.#outcome(), 'the link was given up by this end'))
  }

  // ---- what has come
  // -----------------------------------------------------------------------------------------------------------

  protected cameBytes(bytes: number): void {
    this.#budget.use()
    this.#in.arrived(bytes)
  }

  protected cameCredit(bytes: number, receives: number): void {
    this.#out.credit(bytes)
    this.#credit.add(receives)
  }

  protected cameSignal(signal: number, argument: number): void {
    switch (signal) {
      case Signal.Want:
        this.#creditReturn.want(argument !== 0)
        break
      case Signal.Wake:
        if (!this.#wanting) throw new ProtocolViolation('the peer answered without being asked')
        this.#wanting = false
        this.readCredit()
        break
      case Signal.Recall:
        if (this.#owed.has(Signal.Return)) throw new ProtocolViolation('the peer asked for receives twice')
        this.readCredit()
        this.#owed.add(Signal.Return, this.#credit.giveBack(argument))
        break
      case Signal.Return:
        this.#budget.returned(argument)
        break
      case Signal.Close:
        this.#peerClosed = true
    }
  }

  /** @internal Ask the peer for unused receives beyond `keep`. Not again before it has answered. */
  recall(keep: number): void {
    if (this.#end !== undefined) return
    this.#owed.add(Signal.Recall, keep)
    this.wakeSoon()
  }

  /** @internal End with an error of this room, or of a handler. */
  fail(cause: unknown): void {
    this.finish(cause instanceof LinkError ? cause : linkErrorOf(cause, this.#outcome()))
  }

  /** The way to the peer is gone; what came before is delivered. */
  protected lose(why: string): void {
    if (this.#end !== undefined) return
    this.poll()
    if (this.#end !== undefined) return
    if (this.#closeSent && this.drained()) this.finish(undefined)
    else if (!this.#peerClosed) this.finish(new LinkError('lost', this.#outcome(), why))
    else {
      this.#gone = true
      this.#closeStep()
    }
  }

  /** The peer said that it ends; what fails from here on is no loss. */
  protected get peerClosed(): boolean {
    return this.#peerClosed
  }

  /** The link has ended, once. */
  protected finish(error: Error | undefined): void {
    if (this.#end !== undefined) return
    this.#end = { error }
    trace.publish(error === undefined ? TraceLevel.Info : TraceLevel.Warn, 'ended', () => ({
      link: this.label,
      why: error?.message,
    }))
    this.#limiter?.close()
    this.#place?.quit()
    this.#unwatch?.()
    this.release(error === undefined)
    this.#waiters.fail(this.#ended())
    this.#closed?.()
    this.#tellEnd()
  }

  // ---- inside
  // ------------------------------------------------------------------------------------------------------------------

  get #hasWork(): boolean {
    return this.#in.available > 0 || this.#peerClosed
  }

  /** Nothing has come, and nothing is to be done or said: what most polls of who spins find. */
  get #isQuiet(): boolean {
    return (
      this.#in.available === 0 &&
      this.#out.pending === 0 &&
      this.#creditReturn.isQuiet &&
      this.#owed.isEmpty &&
      !this.#waiters.waiting &&
      !this.#peerClosed &&
      this.#closing === undefined
    )
  }

  #deliver(): number {
    const ring = this.#in
    let count = 0
    while (ring.available > 0 && !this.#paused && this.#end === undefined) {
      const handler = this.#onMessage
      if (handler === undefined) break
      if (ring.next(handler)) count += 1
      this.#creditReturn.taken()
    }
    this.#creditReturn.settle()
    return count
  }

  #want(): void {
    if (this.#wanting) return
    this.#wanting = true
    this.#owed.add(Signal.Want, this.#credit.isEmpty ? 1 : 0)
    this.#owed.pay()
  }

  #payDebts(): void {
    if (this.#end !== undefined) return
    this.#creditReturn.pay()
    this.#owed.pay()
  }

  #settleWaiters(): void {
    if (!this.#waiters.waiting || this.#end !== undefined) return
    this.readCredit()
    this.#waiters.settle(this.#mayLeave)
    const { firstLength } = this.#waiters
    if (firstLength < 0) return
    const delayMs = this.#limiter?.delayMs(firstLength, 1) ?? 0
    if (delayMs > 0) this.#limiter?.wakeAfter(delayMs, this.#allowed)
    // What waits for its turn here takes room that the peer cannot give back.
    const isLeaving = this.#place?.isOrdered === true && this.#flushScheduled && this.#out.pending > 0
    if (!isLeaving && (delayMs === 0 || !this.#out.hasRoom(firstLength))) this.#want()
  }

  /** Have the watchdog look at the one who waits longest, until the returned function is called. */
  #watch(): () => void {
    const name = `room ${++lastWatched}`
    return watchWaits((): KeyedWait[] => {
      const { first, firstLength } = this.#waiters
      // What this end holds back by itself is not the peer's fault.
      if (firstLength < 0 || this.#out.hasRoom(firstLength)) return []
      const object = `room for a message of ${firstLength} bytes to ${this.peerText}`
      const { outstanding, bytes } = this.#out
      const state = `the peer has not taken ${outstanding} bytes of what it was sent, in a ring of ${bytes.length}`
      const sinceNs = Number.POSITIVE_INFINITY
      return [{ key: `${name} ${first}`, kind: 'message', object, state, sinceNs, ranks: [], processes: [] }]
    })
  }

  readonly #settleNow = (): void => {
    try {
      this.#settleWaiters()
    } catch (error) {
      this.fail(error)
    }
  }

  readonly #allowed = (): void => {
    this.#settleNow()
    this.onAllowed?.()
  }

  readonly #mayLeave = (length: number, messages: number): boolean =>
    this.#out.hasRoom(length) && (this.#limiter === undefined || this.#limiter.delayMs(length, messages) === 0)

  readonly #flushTurn = (): void => {
    this.#flushScheduled = false
    this.flush()
  }

  /** What was committed leaves: now, or in its turn where links are not alike. */
  #leave(): void {
    if (this.#place?.isOrdered !== true) this.flush()
    else if (this.#out.pending > 0 && !this.#flushScheduled) {
      this.#flushScheduled = true
      this.#place.wait()
    }
  }

  /** Send up to `bytesMax` bytes of whole messages: how many; 0: the first is longer, or there is none; -1: later. */
  #flushNow(bytesMax: number): number {
    if (this.#out.pending === 0) return 0
    if (this.#end !== undefined || this.#peerClosed) return -1
    if (this.#credit.isEmpty) this.readCredit()
    if (this.#credit.isEmpty) {
      this.#want()
      return -1
    }
    const bytes = this.#out.wholeRecords(bytesMax)
    if (bytes === 0) return 0
    const { pendingOffset } = this.#out
    const first = Math.min(bytes, this.outgoing.length - pendingOffset)
    if (!this.transmit(pendingOffset, first, bytes - first)) return -1
    this.#credit.use()
    this.#out.sent(bytes)
    this.#gathered = 0
    return bytes
  }

  /**
   * Each end tells the other, behind its messages or as soon as the other has told it, and ends when both have. So no
   * end takes its queue pair away while its last messages may have to be repeated.
   */
  #closeStep(): void {
    if (this.#end !== undefined) return
    const due = this.#peerClosed || (this.#closing !== undefined && this.#out.pending === 0)
    if (due && !this.#closeSent) this.#closeSent = this.transmitSignal(Signal.Close, 0)
    if (!this.#peerClosed || !this.#closeSent || !(this.#gone || this.drained())) return
    if (this.#closing !== undefined || this.#in.available === 0) this.finish(undefined)
  }

  #outcome(): 'none' | 'unknown' {
    return this.#out.outstanding === 0 ? 'none' : 'unknown'
  }

  #ended(): Error {
    return this.#end?.error ?? new ClosedError('the link')
  }

  #tellEnd(): void {
    const handler = this.#onEnd
    if (handler !== undefined && this.#end !== undefined) handler(this.#end.error)
  }

  #refuseEnded(): never {
    throw this.#ended()
  }
}
