import { ArgumentError } from '../native/index.ts'
import { type KeyedWait, watchWaits } from '../profiling/index.ts'
import { EndpointKind, OFFER_BYTES, type Offer, putOffer, takeOffer } from './endpoint-message.ts'
import { ProtocolViolation } from './errors.ts'
import type { LocalRange } from './memory-range.ts'
import type { Outbox } from './outbox.ts'
import type { Staging } from './staging.ts'
import type { VerbsLink } from './verbs-link.ts'

interface Waiting {
  readonly length: number
  readonly settle: (error: unknown) => void
}

/** Receives a message that was fetched; the bytes are valid until it returns. */
export type Fetched = (bytes: Uint8Array, immediate: number | undefined) => void

let lastWatched = 0

/**
 * Messages that are too long for the ring: the sender offers memory, the receiver READs it and says so. Offers are
 * messages, so what is sent behind one is delivered behind it. While a fetch is under way the receiver takes no further
 * message.
 */
export class Rendezvous {
  readonly #link: VerbsLink
  readonly #outbox: Outbox
  readonly #staging: Staging
  readonly #bytesMax: number
  /** In the order in which they were made. */
  readonly #offers = new Map<number, Waiting>()
  /** From the first offer on. */
  #unwatch: (() => void) | undefined
  #nextNumber = 1
  #idle: (() => void) | undefined
  /** Until what was delivered last is answered. */
  #answering: Promise<void> | undefined

  constructor(link: VerbsLink, outbox: Outbox, staging: Staging, bytesMax: number) {
    this.#link = link
    this.#outbox = outbox
    this.#staging = staging
    this.#bytesMax = bytesMax
  }

  /** Resolves once the peer has fetched all of it. Bytes are copied into registered memory first, a range is not. */
  async send(
    data: Uint8Array | LocalRange,
    immediate: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    signal?.throwIfAborted()
    // Throws what the link ended with, as for a short message.
    if (!this.#link.open) this.#link.reserve(0)
    if (!(data instanceof Uint8Array)) {
      const { buffer, offset = 0, length = buffer.bytes.length - offset } = data
      await this.#offer(buffer.address + offset, length, buffer.key, immediate, signal)
      return
    }
    const buffer = this.#staging.take(data.length)
    buffer.bytes.set(data)
    try {
      await this.#offer(buffer.address, data.length, buffer.key, immediate, signal)
    } finally {
      this.#staging.giveBack(buffer)
    }
  }

  /** Fetch what the peer offers, give it to `deliver`, and say so once nothing reads it any more. */
  fetch(bytes: Uint8Array, at: number, length: number, immediate: number | undefined, deliver: Fetched): Promise<void> {
    this.#answering = this.#fetch(bytes, at, length, immediate, deliver)
    return this.#answering
  }

  async #fetch(
    bytes: Uint8Array,
    at: number,
    length: number,
    immediate: number | undefined,
    deliver: Fetched,
  ): Promise<void> {
    if (length !== OFFER_BYTES) throw new ProtocolViolation(`an offer of ${length} bytes`)
    const offer = takeOffer(bytes, at)
    checkOffer(offer)
    if (offer.length > this.#bytesMax) {
      this.#answer(EndpointKind.Refused, offer.number)
      return
    }
    const buffer = this.#staging.take(offer.length)
    let answered: Promise<void>
    try {
      await this.#link.read({ buffer, length: offer.length }, offer)
      answered = this.#link.fenceReads().then(() => this.#answer(EndpointKind.Fetched, offer.number))
      answered.catch(() => {})
      deliver(buffer.bytes.subarray(0, offer.length), immediate)
    } finally {
      this.#staging.giveBack(buffer)
    }
    await answered
  }

  /** Resolves when the peer has been told of all fetches. */
  async answeredAll(): Promise<void> {
    for (let last: Promise<void> | undefined; last !== this.#answering; ) {
      last = this.#answering
      await last?.catch(() => {})
    }
  }

  /** The peer's answer to an offer. */
  answered(number: number, fetched: boolean): void {
    const waiting = this.#offers.get(number)
    if (waiting === undefined) throw new ProtocolViolation(`an answer to offer ${number}, which was not made`)
    this.#offers.delete(number)
    waiting.settle(
      fetched
        ? undefined
        : new ArgumentError(
            'data',
            `the peer accepts only messages shorter than ${waiting.length} bytes; raise messageBytesMax there`,
          ),
    )
    if (this.#offers.size === 0) this.#idle?.()
  }

  /** Resolves when no offer is open. */
  async drained(): Promise<void> {
    if (this.#offers.size === 0) return
    await new Promise<void>((resolve) => {
      this.#idle = resolve
    })
  }

  /** The link has ended. */
  fail(error: unknown): void {
    this.#unwatch?.()
    const offers = [...this.#offers.values()]
    this.#offers.clear()
    for (const waiting of offers) waiting.settle(error)
    this.#idle?.()
  }

  /** Have the watchdog look at the oldest offer, until the returned function is called. */
  #watch(): () => void {
    const name = `offer ${++lastWatched}`
    return watchWaits(
      function* (this: Rendezvous): Iterable<KeyedWait> {
        const [oldest] = this.#offers
        if (oldest === undefined) return
        const [number, { length }] = oldest
        const object = `the peer ${this.#link.peerText} to fetch a message of ${length} bytes`
        const state = 'it was offered to the peer, in order after everything that was sent before it'
        const sinceNs = Number.POSITIVE_INFINITY
        yield { key: `${name} ${number}`, kind: 'message', object, state, sinceNs, ranks: [], processes: [] }
      }.bind(this),
    )
  }

  #offer(
    address: number,
    length: number,
    key: number,
    immediate: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const number = this.#nextNumber
    this.#nextNumber = number === 0xffffffff ? 1 : number + 1
    return new Promise<void>((resolve, reject) => {
      const settle = (error: unknown): void => {
        if (error === undefined) resolve()
        else reject(error)
      }
      this.#offers.set(number, { length, settle })
      this.#unwatch ??= this.#watch()
      const kind = immediate === undefined ? EndpointKind.Offer : EndpointKind.OfferWithImmediate
      const fill = (outgoing: Uint8Array, at: number): void => {
        putOffer(outgoing, at, { address, length, key, number })
        this.#link.charge(length - OFFER_BYTES)
      }
      const forget = (error: unknown): void => {
        this.#offers.delete(number)
        settle(error)
        if (this.#offers.size === 0) this.#idle?.()
      }
      try {
        this.#outbox.put(OFFER_BYTES, immediate ?? 0, kind, fill, signal).catch(forget)
      } catch (error) {
        forget(error)
      }
    })
  }

  /**
   * No end waits until it has room: one that did, and took no messages in the meantime, could wait for a peer that does
   * the same.
   */
  #answer(kind: number, number: number): void {
    // Closed meanwhile: the end of the link is the answer.
    if (this.#link.canSend) this.#outbox.put(0, number, kind, () => {}).catch(() => {})
  }
}

function checkOffer({ address, length }: Offer): void {
  if (!Number.isSafeInteger(address) || !Number.isSafeInteger(length) || address < 0 || length < 1)
    throw new ProtocolViolation('an offer of impossible memory')
}
