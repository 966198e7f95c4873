import { ProtocolViolation } from './errors.ts'
import type { IncomingRing } from './incoming-ring.ts'
import type { ReceiveBudget } from './receive-budget.ts'
import type { RingCarrier } from './ring-carrier.ts'

/** What the receiver of a ring returns to its sender, and when. */
export class CreditReturn {
  readonly #ring: IncomingRing
  readonly #budget: ReceiveBudget
  readonly #carrier: RingCarrier
  readonly #quarterBytes: number
  #peerWants = false
  #isOwed = false

  constructor(ring: IncomingRing, budget: ReceiveBudget, carrier: RingCarrier) {
    this.#ring = ring
    this.#budget = budget
    this.#carrier = carrier
    this.#quarterBytes = ring.bytes.length >>> 2
  }

  /** True if nothing is due. */
  get isQuiet(): boolean {
    return !this.#isOwed && !this.#peerWants && !this.#budget.isDue
  }

  /** The peer waits for room, or with `lacksReceives` for receives. */
  want(lacksReceives: boolean): void {
    if (this.#peerWants) throw new ProtocolViolation('the peer asked for room twice at a time')
    this.#peerWants = true
    if (lacksReceives) this.#budget.lack()
  }

  /** A message was taken. */
  taken(): void {
    if (this.#ring.taken >= this.#quarterBytes) this.#give()
  }

  /** No more messages are taken for now. */
  settle(): void {
    if (this.#budget.isDue || this.#wakes) this.#give()
  }

  /** Send what could not leave when it was due. */
  pay(): void {
    if (this.#isOwed) this.#give()
  }

  /** A waiting sender is woken by what helps it: a quarter of the ring, or all of it. */
  get #wakes(): boolean {
    return this.#peerWants && (this.#ring.available === 0 || this.#ring.taken >= this.#quarterBytes)
  }

  #give(): void {
    const wakes = this.#wakes
    this.#isOwed = !this.#carrier.transmitCredit(this.#ring.taken, this.#budget.grant, wakes)
    if (this.#isOwed) return
    if (wakes) this.#peerWants = false
    this.#ring.taken = 0
    this.#budget.granted()
  }
}
