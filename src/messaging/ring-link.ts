import {
  ArgumentError,
  ClosedError,
  checkFunction,
  checkSignalKind,
  checkWhole,
  mustBe,
  shown,
} from '../native/index.ts'
import { TraceLevel, traceChannel } from '../profiling/index.ts'
import { LinkError, linkErrorOf } from './errors.ts'
import { MESSAGE_KIND_MAX, type MessageHandler, type RingMessages } from './message-link.ts'
import type { OutgoingRing } from './outgoing-ring.ts'
import type { RingCarrier } from './ring-carrier.ts'
import type { RingProtocol } from './ring-protocol.ts'
import { lengthError, longestMessage } from './ring-record.ts'
import type { SendLimiter } from './send-limit.ts'
import { SendRoom } from './send-room.ts'
import { type SendOrder, SendTurn } from './send-turn.ts'

/** Of messages how long they are, never what is in them. */
const trace = traceChannel('messaging')

/** How a link is called, and when its messages may leave. */
export interface RingLinkOptions extends SendOrder {
  /** In traces. */
  readonly name: string
  /** The name of the peer for people. Default: that of the link. */
  readonly peerText?: string | undefined
  /** How fast messages may leave. Default: as fast as they are taken. */
  readonly limiter?: SendLimiter | undefined
}

/**
 * The part of a link that users hold. It decides when its `RingProtocol` sends and delivers, who waits for room, and
 * how the link ends. The protocol has the rules, and a `RingCarrier` the way to the other end.
 */
export class RingLink implements RingMessages {
  readonly outgoing: Uint8Array
  readonly messageBytesMax: number
  /** @internal The name of the peer for people if it is known, else its name in traces. */
  readonly peerText: string
  readonly #name: string
  readonly #ring: RingProtocol
  readonly #carrier: RingCarrier
  readonly #out: OutgoingRing
  readonly #room: SendRoom
  readonly #limiter: SendLimiter | undefined
  readonly #turn: SendTurn
  #onEnd: ((error: Error | undefined) => void) | undefined
  #end: { readonly error: Error | undefined } | undefined
  #polling = false
  #closing: Promise<void> | undefined
  #closed: (() => void) | undefined
  /** The connection is gone, after the peer said that it ends. */
  #gone = false

  /** @internal Made by the links over each carrier. */
  constructor(ring: RingProtocol, carrier: RingCarrier, options: RingLinkOptions) {
    this.#ring = ring
    this.#carrier = carrier
    this.#out = ring.outgoing
    this.outgoing = ring.outgoing.bytes
    this.messageBytesMax = longestMessage(this.outgoing.length)
    this.#name = options.name
    this.peerText = options.peerText ?? options.name
    this.#limiter = options.limiter
    this.#room = new SendRoom(ring, options.limiter, this.peerText, this.#settleNow)
    this.#turn = new SendTurn(this, ring, options)
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
    if (!this.canSend) throw this.#ended()
    if (this.#limiter !== undefined && this.#limiter.delayMs(length, 1) > 0) return -1
    const at = this.#out.reserve(length)
    return at >= 0 ? at : this.#reserveAgain(length)
  }

  /** With the credit that has come meanwhile. */
  #reserveAgain(length: number): number {
    try {
      this.#ring.readCredit()
    } catch (error) {
      this.fail(error)
      throw this.#ended()
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
      trace.publish(TraceLevel.Trace, 'sent', () => ({ link: this.#name, length, kind }))
    this.#limiter?.take(length, 1)
    this.#turn.committed(this.#polling)
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

  /** @internal Called when more may leave than before, under a limit. */
  set onAllowed(call: () => void) {
    this.#room.onAllowed = call
  }

  /** @internal Call `onAllowed` after this delay, or earlier. */
  wakeAllowed(delayMs: number): void {
    this.#room.wakeAfter(delayMs)
  }

  flush(): void {
    this.#turn.flush()
  }

  /** @internal Called after its turn among other links. */
  departed(): void {
    if (!this.#turn.isWaiting) this.#settleNow()
    if (this.#closing !== undefined && this.open) this.wakeSoon()
  }

  // ---- waiting for room
  // --------------------------------------------------------------------------------------------------------

  writable(length: number, signal?: AbortSignal): Promise<void> {
    if (!(Number.isInteger(length) && length >= 0 && length <= this.messageBytesMax))
      throw lengthError(length, this.messageBytesMax)
    checkSignalKind('signal', signal)
    if (!this.canSend) return Promise.reject(this.#ended())
    const room = this.#room.wait(length, signal)
    this.#turn.leave()
    this.#settleNow()
    return room
  }

  readonly #settleNow = (): void => {
    try {
      this.#settleWaiters()
    } catch (error) {
      this.fail(error)
    }
  }

  #settleWaiters(): void {
    if (this.#room.isAwaited && this.#end === undefined) this.#room.settle(this.#turn.holdsBack)
  }

  // ---- receiving
  // ---------------------------------------------------------------------------------------------------------------

  get onMessage(): MessageHandler | undefined {
    return this.#ring.onMessage
  }

  set onMessage(handler: MessageHandler | undefined) {
    if (handler !== undefined) checkFunction('onMessage', handler, 'that takes each message')
    this.#ring.onMessage = handler
    if (handler !== undefined && this.#ring.hasWork) this.wakeSoon()
  }

  pause(): void {
    this.#ring.paused = true
  }

  resume(): void {
    this.#ring.paused = false
    if (this.#ring.hasWork) this.wakeSoon()
  }

  poll(): number {
    return this.#poll(false)
  }

  /**
   * @internal The same from an event loop, where what wants to leave waits for its turn among other links. Returns how
   * many things have come or were completed.
   */
  advance(): number {
    const before = this.#carrier.events
    this.#poll(true)
    return this.#carrier.events - before
  }

  #poll(inTurn: boolean): number {
    if (this.#polling || this.#end !== undefined) return 0
    const ring = this.#ring
    this.#polling = true
    let count = 0
    try {
      this.#carrier.collect(inTurn)
      if (ring.isQuiet && !this.#room.isAwaited && this.#closing === undefined) {
        ring.touch()
        return 0
      }
      count = ring.deliver()
      if (count > 0 && trace.wants(TraceLevel.Trace))
        trace.publish(TraceLevel.Trace, 'delivered', () => ({ link: this.#name, messages: count }))
      ring.payDebts()
      if (inTurn) this.#turn.leave()
      else this.#turn.flush()
      this.#settleWaiters()
      if (ring.peerClosed || this.#closing !== undefined) this.#closeStep()
    } catch (error) {
      this.fail(error)
    } finally {
      this.#polling = false
    }
    return count
  }

  /** @internal Have it polled soon. */
  wakeSoon(): void {
    this.#carrier.wakeSoon()
  }

  /** @internal Ask the peer for unused receives beyond `keep`. Not again before it has answered. */
  recall(keep: number): void {
    if (this.#end !== undefined) return
    this.#ring.recall(keep)
    this.wakeSoon()
  }

  // ---- the end
  // -----------------------------------------------------------------------------------------------------------------

  get onEnd(): ((error: Error | undefined) => void) | undefined {
    return this.#onEnd
  }

  set onEnd(handler: ((error: Error | undefined) => void) | undefined) {
    if (handler !== undefined) checkFunction('onEnd', handler, 'that takes the error, if there is one')
    const first = this.#onEnd === undefined
    this.#onEnd = handler
    if (first && handler !== undefined && this.#end !== undefined) queueMicrotask(() => this.#tellEnd())
  }

  close(before?: Promise<void>): Promise<void> {
    if (before !== undefined && typeof before?.then !== 'function') throw mustBe('before', 'a promise', before)
    return before === undefined ? this.#closeNow() : before.then(() => this.#closeNow())
  }

  #closeNow(): Promise<void> {
    if (this.#end !== undefined) return Promise.resolve()
    this.#closing ??= new Promise((resolve) => {
      this.#closed = resolve
      this.#room.fail(new ClosedError('the link'))
      this.wakeSoon()
    })
    return this.#closing
  }

  destroy(reason?: Error): void {
    if (reason !== undefined && !(reason instanceof Error)) throw mustBe('reason', 'an Error', reason)
    this.#finish(reason ?? new LinkError('destroyed', this.#outcome(), 'the link was given up by this end'))
  }

  /** @internal End with an error of this room, or of a handler. */
  fail(cause: unknown): void {
    this.#finish(cause instanceof LinkError ? cause : linkErrorOf(cause, this.#outcome()))
  }

  /** @internal The way to the peer is gone; what came before is delivered. */
  lose(why: string): void {
    if (this.#end !== undefined) return
    this.poll()
    if (this.#end !== undefined) return
    if (this.#ring.hasSaidAll) this.#finish(undefined)
    else if (!this.#ring.peerClosed) this.#finish(new LinkError('lost', this.#outcome(), why))
    else {
      this.#gone = true
      this.#closeStep()
    }
  }

  #closeStep(): void {
    if (this.#end !== undefined) return
    if (this.#ring.closeStep(this.#closing !== undefined, this.#gone)) this.#finish(undefined)
  }

  /** The link has ended, once. */
  #finish(error: Error | undefined): void {
    if (this.#end !== undefined) return
    this.#end = { error }
    this.#ring.end()
    trace.publish(error === undefined ? TraceLevel.Info : TraceLevel.Warn, 'ended', () => ({
      link: this.#name,
      why: error?.message,
    }))
    this.#room.close()
    this.#turn.quit()
    this.#carrier.release(error === undefined)
    this.#room.fail(this.#ended())
    this.#closed?.()
    this.#tellEnd()
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
}
