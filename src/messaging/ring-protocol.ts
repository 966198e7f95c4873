import { CreditReturn } from './credit-return.ts'
import type { CreditWords } from './credit-words.ts'
import { ProtocolViolation } from './errors.ts'
import { IncomingRing } from './incoming-ring.ts'
import type { MessageHandler } from './message-link.ts'
import { OutgoingRing } from './outgoing-ring.ts'
import { OwedSignals } from './owed-signals.ts'
import { FixedBudget, type ReceiveBudget } from './receive-budget.ts'
import type { RingCarrier, RingReceiver } from './ring-carrier.ts'
import { UNIT_BYTES } from './ring-record.ts'
import { SendCredit } from './send-credit.ts'
import { argumentOf, isSignal, Signal, signalOf } from './signal.ts'

/** The memory of both rings, and how many WRITEs each end can be told of at a time. */
export interface RingParts {
  /** A mirror of the peer's ring, of the same length. */
  readonly outgoing: Uint8Array
  /** This end's ring, which the peer writes. */
  readonly incoming: Uint8Array
  /** What the peer has returned, which it writes, too. */
  readonly credit: CreditWords
  /** WRITEs with an immediate that the peer has receives for. */
  readonly peerReceives: number
  /** The most that this number can become. Default: the same. */
  readonly peerReceivesMax?: number
  /** The receives of this end: a number for this link alone, or a share of a pool. */
  readonly receives: number | ReceiveBudget
}

/**
 * The protocol of a pair of rings. It has no device, no clock and no turn of its own. The link calls it; a carrier
 * takes what it sends and brings what comes.
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
export class RingProtocol implements RingReceiver {
  /** Where messages to the peer are written. They leave with `flush`. */
  readonly outgoing: OutgoingRing
  /** Called for each message that comes. Until it is set, messages stay in the ring. */
  onMessage: MessageHandler | undefined
  /** Messages stay in the ring, and hold the sender back. */
  paused = false
  peerClosed = false
  readonly #carrier: RingCarrier
  readonly #incoming: IncomingRing
  readonly #creditReturn: CreditReturn
  /** Of this end's receives. */
  readonly #budget: ReceiveBudget
  readonly #creditWords: CreditWords
  /** Of the peer's receives. */
  readonly #credit: SendCredit
  readonly #owed: OwedSignals
  /** A `want` was sent, or is owed, and no `wake` has come. */
  #wanting = false
  #closeSent = false
  #ended = false

  constructor(parts: RingParts, carrier: RingCarrier) {
    this.#carrier = carrier
    this.outgoing = new OutgoingRing(parts.outgoing)
    this.#incoming = new IncomingRing(parts.incoming)
    this.#budget = typeof parts.receives === 'number' ? new FixedBudget(parts.receives) : parts.receives
    this.#creditReturn = new CreditReturn(this.#incoming, this.#budget, carrier)
    this.#creditWords = parts.credit
    this.#credit = new SendCredit(parts.peerReceives, parts.peerReceivesMax ?? parts.peerReceives)
    this.#owed = new OwedSignals(carrier)
  }

  // ---- sending
  // -----------------------------------------------------------------------------------------------------------------

  /**
   * Send up to `bytesMax` bytes of whole messages. Returns how many: 0 if the first message is longer or there is none,
   * and -1 if nothing can leave now.
   */
  flush(bytesMax: number): number {
    const { outgoing } = this
    if (outgoing.pending === 0) return 0
    if (this.#ended || this.peerClosed) return -1
    if (this.#credit.isEmpty && !this.#hasNewCredit()) return -1
    const bytes = outgoing.wholeRecords(bytesMax)
    if (bytes === 0) return 0
    const { pendingOffset } = outgoing
    const first = Math.min(bytes, outgoing.bytes.length - pendingOffset)
    if (!this.#carrier.transmit(pendingOffset, first, bytes - first)) return -1
    this.#credit.use()
    outgoing.sent(bytes)
    return bytes
  }

  /** Whether receives of the peer have come back; else it is asked for them. */
  #hasNewCredit(): boolean {
    this.readCredit()
    if (this.#credit.isEmpty) this.want()
    return !this.#credit.isEmpty
  }

  /** Take the credit that has come. Throws ProtocolViolation if it is more than there can be. */
  readCredit(): void {
    const words = this.#creditWords
    if (!words.read()) return
    this.outgoing.credit(words.bytes)
    this.#credit.add(words.receives)
  }

  /** Have the peer say when there is room. */
  want(): void {
    if (this.#wanting) return
    this.#wanting = true
    this.#owed.add(Signal.Want, this.#credit.isEmpty ? 1 : 0)
    this.#owed.pay()
  }

  /** Ask the peer for unused receives beyond `keep`. Not again before it has answered. */
  recall(keep: number): void {
    this.#owed.add(Signal.Recall, keep)
  }

  /** Send credit and signals that could not leave when they were due. */
  payDebts(): void {
    if (this.#ended) return
    this.#creditReturn.pay()
    this.#owed.pay()
  }

  // ---- receiving
  // ---------------------------------------------------------------------------------------------------------------

  came(immediate: number): void {
    if (isSignal(immediate)) this.#signaled(immediate)
    else {
      if (immediate === 0) throw new ProtocolViolation('the peer announced zero bytes')
      this.#budget.use()
      this.#incoming.arrived(immediate * UNIT_BYTES)
    }
  }

  #signaled(immediate: number): void {
    const argument = argumentOf(immediate)
    switch (signalOf(immediate)) {
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
        this.peerClosed = true
        break
      default:
        throw new ProtocolViolation(`the peer sent the immediate ${immediate}`)
    }
  }

  /** Pass what has come to `onMessage`, and return its room. Returns how many messages. */
  deliver(): number {
    const incoming = this.#incoming
    let count = 0
    while (incoming.available > 0 && !this.paused && !this.#ended) {
      const { onMessage } = this
      if (onMessage === undefined) break
      if (incoming.next(onMessage)) count += 1
      if (!this.#ended) this.#creditReturn.taken()
    }
    if (!this.#ended) this.#creditReturn.settle()
    return count
  }

  /** A message has come, or the peer's `close`. */
  get hasWork(): boolean {
    return this.#incoming.available > 0 || this.peerClosed
  }

  /** Nothing has come, and nothing is to be done or said: what most polls of who spins find. */
  get isQuiet(): boolean {
    return (
      this.#incoming.available === 0 &&
      this.outgoing.pending === 0 &&
      this.#creditReturn.isQuiet &&
      this.#owed.isEmpty &&
      !this.peerClosed
    )
  }

  /** Have the place of the next message at hand; see {@link IncomingRing.touch}. */
  touch(): void {
    this.#incoming.touch()
  }

  // ---- the end
  // -----------------------------------------------------------------------------------------------------------------

  /** The peer has all that this end has sent, its `close` included. */
  get hasSaidAll(): boolean {
    return this.#closeSent && this.#carrier.drained()
  }

  /**
   * Each end tells the other, behind its messages or as soon as the other has told it, and ends when both have. So no
   * end takes its queue pair away while its last messages may have to be repeated.
   *
   * `isClosing`: this end wants it. `isLost`: nothing gets to the peer any more. Returns whether both ends are done.
   */
  closeStep(isClosing: boolean, isLost: boolean): boolean {
    const isDue = this.peerClosed || (isClosing && this.outgoing.pending === 0)
    if (isDue && !this.#closeSent) this.#closeSent = this.#carrier.transmitSignal(Signal.Close, 0)
    if (!this.peerClosed || !this.#closeSent || !(isLost || this.#carrier.drained())) return false
    return isClosing || this.#incoming.available === 0
  }

  /** The link has ended: nothing is sent or delivered any more. */
  end(): void {
    this.#ended = true
  }
}
