import type { MessageLink } from '../message-link.ts'
import { PeerError } from './errors.ts'
import { type Frame, FrameKind } from './frame.ts'
import type { PeerLimits } from './limits.ts'
import type { PeerChannel } from './peer-channel.ts'

/** Of what peers say to each other; both ends have the same. */
const VERSION = 2
const HELLO_WORDS = 3
const WINDOW_BYTES_MIN = 4096
/** Of a reason, so that it fits the shortest ring. */
const REASON_BYTES_MAX = 400

/** Why a peer is turned away, as the frame says it. */
const Refusal = { Protocol: 0, Limit: 1, Duplicate: 2 } as const

/** A peer that both ends have let in. */
export interface Greeted {
  readonly number: number
  /** Identifies its context: another one with the same number is another peer. */
  readonly identity: number
  readonly channel: PeerChannel
  /** Bytes of messages that may wait at its end. */
  readonly windowBytes: number
}

export interface GreetingsOwner {
  /** Open a channel to a peer that has not yet said its number. */
  openChannel(link: MessageLink): PeerChannel
  /** The peer connected under this number. */
  connected(number: number): { readonly identity: number } | undefined
  /** How many are connected. */
  connectedCount(): number
  /** Both ends have let each other in. */
  attached(greeted: Greeted): void
  /** The peer of this link is already connected over another. */
  merged(channel: PeerChannel, number: number): void
  /** A link ended before both had let each other in, or one of them turned the other away. */
  turnedAway(channel: PeerChannel, error: Error): void
}

/** What is known of a link on which the two have not let each other in. */
interface Greeting {
  readonly channel: PeerChannel
  /** What it said of itself. */
  hello: Greeted | undefined
}

/**
 * How two peers let each other in:
 *
 * 1. Over each link both say who they are (`Hello`).
 * 2. The one with the lower number keeps a place for the other and says so (`Welcome`).
 * 3. The one with the higher number decides, by its own `Welcome`, which is the last word. So no peer counts as
 *    connected unless the other has let it in.
 * 4. A peer that is turned away is told why (`Refuse`).
 *
 * Two peers that connect to each other at the same moment make two links. The higher number answers the first `Welcome`
 * that reaches it, and refuses the other link as a duplicate. So exactly one stays, as in BGP, where the higher
 * identifier decides (RFC 4271, section 6.8). A caller that waited for the other link receives the peer of the one that
 * stays.
 */
export class Greetings {
  readonly #number: number
  readonly #limits: Required<PeerLimits>
  readonly #owner: GreetingsOwner
  /** Tells this start of the context from others with this number. */
  readonly identity: number = Math.floor(Math.random() * 2 ** 52)
  readonly #greetings = new Map<PeerChannel, Greeting>()
  /** Links that were refused as duplicates by the peer of this number while the one that stays was still under way. */
  readonly #waiting = new Map<number, PeerChannel[]>()
  /** Those that were told that they are turned away, until they have heard it. */
  readonly #leaving = new Set<Promise<void>>()

  constructor(number: number, limits: Required<PeerLimits>, owner: GreetingsOwner) {
    this.#number = number
    this.#limits = limits
    this.#owner = owner
  }

  /** Send our hello over a link. */
  begin(link: MessageLink): PeerChannel {
    const channel = this.#owner.openChannel(link)
    this.#greetings.set(channel, { channel, hello: undefined })
    channel.open()
    const { requestsMax, eagerBytes, messageWindowBytes } = this.#limits
    const words = Float64Array.of(requestsMax, eagerBytes, this.identity)
    channel.control(FrameKind.Hello, this.#number, VERSION, 0, messageWindowBytes, new Uint8Array(words.buffer))
    return channel
  }

  cameFrame(channel: PeerChannel, frame: Frame, bytes: Uint8Array, at: number, length: number): void {
    const greeting = this.#greetings.get(channel)
    // It was turned away, and is on its way out.
    if (greeting === undefined) return
    const payload = bytes.slice(at, at + length)
    if (frame.kind === FrameKind.Refuse) this.#cameRefusal(greeting, frame, payload)
    else if (greeting.hello === undefined) this.#cameHello(greeting, frame, payload)
    else if (frame.kind === FrameKind.Welcome) this.#cameWelcome(greeting.hello)
    else this.#turnAway(greeting, greeting.hello.number, Refusal.Protocol, 'it sent data before it was let in')
  }

  /** A link has ended; the owner is told if it was being greeted. */
  channelEnded(channel: PeerChannel, error: Error | undefined): void {
    const greeting = this.#greetings.get(channel)
    if (greeting === undefined) return
    this.#greetings.delete(channel)
    const number = greeting.hello?.number ?? -1
    const why = new PeerError('ERR_AETHER_PEER_LOST', number, 'a peer closed its connection before it let this one in')
    this.#owner.turnedAway(channel, error ?? why)
    this.#giveUpWaiting(number)
  }

  /** Resolves when all that were turned away have been told, or cannot be reached. */
  async close(): Promise<void> {
    await Promise.all(this.#leaving)
  }

  #cameHello(greeting: Greeting, frame: Frame, payload: Uint8Array): void {
    const words = new Float64Array(HELLO_WORDS)
    if (payload.length >= words.byteLength) new Uint8Array(words.buffer).set(payload.subarray(0, words.byteLength))
    const [requestsMax, eagerBytes, identity] = words as unknown as [number, number, number]
    const { sequence: number, amount: windowBytes } = frame
    const limits = this.#limits
    if (frame.kind !== FrameKind.Hello || frame.signature !== VERSION || !(windowBytes >= WINDOW_BYTES_MIN))
      this.#turnAway(
        greeting,
        number,
        Refusal.Protocol,
        'it speaks another version; install the same release at both ends',
      )
    else if (requestsMax !== limits.requestsMax || eagerBytes !== limits.eagerBytes) {
      const why = `its requestsMax and eagerBytes are ${requestsMax} and ${eagerBytes}, but here they are ${limits.requestsMax} and ${limits.eagerBytes}; use the same at all peers`
      this.#turnAway(greeting, number, Refusal.Protocol, why)
    } else {
      const holder = this.#owner.connected(number) ?? this.#heldBy(number)
      if (number === this.#number || (holder !== undefined && holder.identity !== identity))
        this.#turnAway(greeting, number, Refusal.Protocol, `its number, ${number}, is taken; choose another`)
      else if (holder === undefined && this.#places >= limits.peersMax) {
        const why = `peersMax (${limits.peersMax}) is reached; raise it`
        this.#turnAway(greeting, number, Refusal.Limit, why)
      } else if (this.#owner.connected(number) !== undefined) this.#merge(greeting, number)
      else {
        const { channel } = greeting
        greeting.hello = { number, identity, channel, windowBytes }
        if (this.#number < number) channel.control(FrameKind.Welcome, 0, 0, 0, 0)
      }
    }
  }

  #cameWelcome(hello: Greeted): void {
    const { number, channel } = hello
    if (this.#number > number) channel.control(FrameKind.Welcome, 0, 0, 0, 0)
    this.#greetings.delete(channel)
    this.#owner.attached(hello)
    for (const other of [...this.#greetings.values()]) if (other.hello?.number === number) this.#merge(other, number)
    for (const waiting of this.#waiting.get(number) ?? []) this.#owner.merged(waiting, number)
    this.#waiting.delete(number)
  }

  #cameRefusal({ channel, hello }: Greeting, frame: Frame, payload: Uint8Array): void {
    this.#greetings.delete(channel)
    this.#leave(channel)
    if (frame.sequence === Refusal.Duplicate && hello !== undefined) {
      this.#cameDuplicate(channel, hello.number)
      return
    }
    const number = hello?.number ?? frame.signature | 0
    const reason = new TextDecoder().decode(payload.subarray(0, REASON_BYTES_MAX))
    const code = frame.sequence === Refusal.Limit ? 'ERR_AETHER_PEERS_LIMIT' : 'ERR_AETHER_PEER_PROTOCOL'
    this.#owner.turnedAway(channel, new PeerError(code, number, `peer ${number} turned this one away: ${reason}`))
    this.#giveUpWaiting(number)
  }

  /**
   * The other end has another link to this one: it is here, or under way, or was lost while the refusal was on its way.
   */
  #cameDuplicate(channel: PeerChannel, number: number): void {
    if (this.#owner.connected(number) !== undefined) {
      this.#owner.merged(channel, number)
      return
    }
    this.#waiting.set(number, [...(this.#waiting.get(number) ?? []), channel])
    this.#giveUpWaiting(number)
  }

  /** Connected over another link. */
  #merge(greeting: Greeting, number: number): void {
    this.#refuse(greeting, Refusal.Duplicate, 'it is connected already')
    this.#owner.merged(greeting.channel, number)
  }

  #turnAway(greeting: Greeting, number: number, code: number, why: string): void {
    this.#refuse(greeting, code, why)
    const name = code === Refusal.Limit ? 'ERR_AETHER_PEERS_LIMIT' : 'ERR_AETHER_PEER_PROTOCOL'
    this.#owner.turnedAway(greeting.channel, new PeerError(name, number, `peer ${number} was turned away: ${why}`))
  }

  #refuse({ channel }: Greeting, code: number, why: string): void {
    this.#greetings.delete(channel)
    const reason = new TextEncoder().encode(why).subarray(0, REASON_BYTES_MAX)
    channel.control(FrameKind.Refuse, code, this.#number, 0, 0, reason)
    this.#leave(channel)
  }

  /** In order, so that what was said last arrives. */
  #leave(channel: PeerChannel): void {
    const left = channel.close().finally(() => this.#leaving.delete(left))
    this.#leaving.add(left)
  }

  /** The link that was to stay has ended, and there is no other. */
  #giveUpWaiting(number: number): void {
    const waiting = this.#waiting.get(number)
    if (waiting === undefined || this.#heldBy(number) !== undefined) return
    this.#waiting.delete(number)
    const why = 'two connections were made at once, and the one to keep was lost; try again'
    const error = new PeerError('ERR_AETHER_PEER_LOST', number, why)
    for (const channel of waiting) this.#owner.turnedAway(channel, error)
  }

  #heldBy(number: number): Greeted | undefined {
    for (const { hello } of this.#greetings.values()) if (hello?.number === number) return hello
    return undefined
  }

  /** Connected, or being let in. */
  get #places(): number {
    const numbers = new Set<number>()
    for (const { hello } of this.#greetings.values()) if (hello !== undefined) numbers.add(hello.number)
    return this.#owner.connectedCount() + numbers.size
  }
}
