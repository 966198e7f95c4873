import type { MessageLink } from '../messaging/index.ts'
import { BodyShelves, type Shelf } from './body-shelves.ts'
import type { RemotePart } from './call-memory.ts'
import { MalformedFrameError } from './errors.ts'
import { FrameKind } from './frame.ts'

/** Shorter ones go in messages, however short those are. */
const OFFER_BYTES_MIN = 32 << 10
/**
 * What may lie here for the peer at a time, in bytes and in bodies. What comes beyond goes in parts, and so is held
 * back by the ring.
 */
const OFFERED_BYTES_MAX = 16 << 20
const OFFERS_MAX = 32

interface Offer {
  readonly shelf: Shelf
  readonly length: number
  /** Fetching it is not wanted here any more. */
  isUnwanted: boolean
}

/**
 * Bodies that the peer fetches. Each is copied into memory that the peer may read, and stays there until the peer says
 * that it has it. In the meantime it occupies neither the ring nor the event loop of this end.
 *
 * The memory is free again when the peer says so, and when the link ends. Until then it counts as offered, even if the
 * body is no longer wanted. It is a copy, so keeping it does no harm. If the key were gone, a peer that comes late for
 * it would lose its connection, with all its calls.
 */
export class BodyOffers {
  readonly #shelves: BodyShelves | undefined
  readonly #offers = new Map<number, Offer>()
  #bytes = 0
  #settled: (() => void)[] = []

  constructor(link: MessageLink) {
    if (link.lending !== undefined) this.#shelves = new BodyShelves(link.lending)
  }

  /** Bytes that lie here for the peer. */
  get bytes(): number {
    return this.#bytes
  }

  /** Copy the body, and return what the peer is told of it; undefined if it goes another way. */
  offer(kind: number, call: number, body: Uint8Array): RemotePart | undefined {
    const { length } = body
    const isOffered = kind === FrameKind.Request || kind === FrameKind.Answer
    if (!isOffered || length < OFFER_BYTES_MIN || this.#shelves === undefined) return undefined
    if (this.#offers.size >= OFFERS_MAX || this.#bytes + length > OFFERED_BYTES_MAX || this.#offers.has(call))
      return undefined
    return this.#lay(this.#shelves, call, body)
  }

  #lay(shelves: BodyShelves, call: number, body: Uint8Array): RemotePart | undefined {
    const { length } = body
    let shelf: Shelf
    try {
      shelf = shelves.take(length)
    } catch {
      // The device has no room for it, or the link has ended: who sends the body in parts finds out.
      return undefined
    }
    shelf.buffer.bytes.set(body)
    this.#offers.set(call, { shelf, length, isUnwanted: false })
    this.#bytes += length
    const { address, key } = shelf.loan
    return { address, key, length }
  }

  /** The peer is done with it. @throws MalformedFrameError. */
  fetched(call: number): void {
    if (!this.#offers.has(call)) throw new MalformedFrameError('a body that was not offered was fetched')
    this.withdraw(call)
  }

  /** Nothing is under way in its memory: the peer is done with it, or was not told of it and never will be. */
  withdraw(call: number): void {
    const offer = this.#offers.get(call)
    if (offer === undefined) return
    this.#offers.delete(call)
    this.#bytes -= offer.length
    this.#shelves?.giveBack(offer.shelf)
    this.#tellSettled()
  }

  /** Fetching it is not wanted here any more. */
  unwanted(call: number): void {
    const offer = this.#offers.get(call)
    if (offer === undefined) return
    offer.isUnwanted = true
    this.#tellSettled()
  }

  /** Resolves when the peer is done with all bodies that are still wanted. */
  settled(): Promise<void> {
    if (!this.#isAwaited) return Promise.resolve()
    return new Promise((resolve) => this.#settled.push(resolve))
  }

  /** The link has ended, and with it the loans. */
  end(): void {
    this.#offers.clear()
    this.#shelves?.end()
    this.#tellSettled()
  }

  get #isAwaited(): boolean {
    for (const { isUnwanted } of this.#offers.values()) if (!isUnwanted) return true
    return false
  }

  #tellSettled(): void {
    if (this.#settled.length === 0 || this.#isAwaited) return
    for (const each of this.#settled.splice(0)) each()
  }
}
