import type { Departing, DeparturePlace, Departures } from './departures.ts'
import type { RingProtocol } from './ring-protocol.ts'

/**
 * Messages of one turn leave together, but no more of them: the peer works on the first while this end makes the next.
 * With 64 calls under way each end would otherwise wait while the other works.
 */
const GATHERED_MAX = 16

/** The order among links over one device, and the place of one of them. */
export interface SendOrder {
  readonly departures?: Departures | undefined
  readonly weight?: number
  readonly priority?: number
}

/** The link whose messages leave. */
export interface SendingLink {
  readonly open: boolean
  /** Messages have left in their turn among links, or could not. */
  departed(): void
  fail(cause: unknown): void
}

/**
 * When the committed messages of a link leave: at the end of this turn of the event loop, or in their turn among links.
 */
export class SendTurn implements Departing {
  readonly #link: SendingLink
  readonly #ring: RingProtocol
  readonly #place: DeparturePlace | undefined
  /** They leave with the end of this turn, or wait for their turn among other links. */
  #isScheduled = false
  /** Messages committed since some left. */
  #gathered = 0

  constructor(link: SendingLink, ring: RingProtocol, { departures, weight = 1, priority = 0 }: SendOrder) {
    this.#link = link
    this.#ring = ring
    this.#place = departures?.join(this, weight, priority)
  }

  /** A message was committed. `isPolled`: the end of a poll sends it. */
  committed(isPolled: boolean): void {
    this.#gathered += 1
    if (this.#gathered >= GATHERED_MAX) {
      this.#gathered = 0
      this.leave()
    }
    if (!this.#isScheduled && !isPolled) this.#schedule()
  }

  #schedule(): void {
    this.#isScheduled = true
    if (this.#place?.isOrdered === true) this.#place.wait()
    else process.nextTick(this.#endOfTurn)
  }

  readonly #endOfTurn = (): void => {
    this.#isScheduled = false
    this.flush()
  }

  /** What was committed leaves: now, or in its turn where links are not alike. */
  leave(): void {
    if (this.#ring.outgoing.pending === 0) return
    if (this.#place?.isOrdered !== true) this.flush()
    else if (!this.#isScheduled) this.#schedule()
  }

  /** All of it leaves now, as far as the peer has room. */
  flush(): void {
    try {
      if (this.#ring.flush(Number.POSITIVE_INFINITY) > 0) this.#gathered = 0
    } catch (error) {
      this.#link.fail(error)
    }
  }

  get isWaiting(): boolean {
    return this.#isScheduled
  }

  depart(bytesMax: number): number {
    let bytes = 0
    try {
      bytes = this.#ring.flush(bytesMax)
      if (bytes > 0) this.#gathered = 0
      // What is left is longer than that, or has to wait for something that ends in a poll.
      this.#isScheduled = bytes >= 0 && this.#ring.outgoing.pending > 0 && this.#link.open
    } catch (error) {
      this.#isScheduled = false
      this.#link.fail(error)
    }
    this.#link.departed()
    return Math.max(0, bytes)
  }

  /** Some of it waits for its turn among other links. It takes room that the peer cannot give back. */
  get holdsBack(): boolean {
    return this.#place?.isOrdered === true && this.#isScheduled && this.#ring.outgoing.pending > 0
  }

  /** The link has ended. */
  quit(): void {
    this.#place?.quit()
  }
}
