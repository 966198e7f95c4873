import { CreditWords } from '../../src/messaging/credit-words.ts'
import {
  LinkError,
  type LocalRange,
  type MessageLink,
  type RegisteredBuffer,
  type RemoteAddress,
} from '../../src/messaging/index.ts'
import type { RingCarrier, RingReceiver } from '../../src/messaging/ring-carrier.ts'
import { RingLink, type RingLinkOptions } from '../../src/messaging/ring-link.ts'
import { type RingParts, RingProtocol } from '../../src/messaging/ring-protocol.ts'
import { UNIT_BYTES } from '../../src/messaging/ring-record.ts'
import type { SendLimiter } from '../../src/messaging/send-limit.ts'
import type { SendOrder } from '../../src/messaging/send-turn.ts'
import { Signal, signalImmediate } from '../../src/messaging/signal.ts'
import { Random } from '../../src/runtime/index.ts'

export interface MemoryLinksOptions {
  /** Of each ring; default 64 KiB. A power of two. */
  readonly ringBytes?: number
  /** WRITEs that each end can be told of at a time; default 64. */
  readonly receives?: number
  /** Of the delays; default 1. */
  readonly seed?: number
  /**
   * Each thing that is sent takes 0 to this many turns of the event loop, or polls of the receiver, more; default 3.
   */
  readonly delayTurnsMax?: number
  /** Of the left end; default: none. */
  readonly limiter?: SendLimiter
  /** Of the left end: its place among others. */
  readonly order?: SendOrder
}

/** What is under way to one end, in order. */
class Wire {
  readonly #queue: { turns: number; readonly apply: () => void }[] = []
  readonly #delay: () => number

  constructor(delay: () => number) {
    this.#delay = delay
  }

  get length(): number {
    return this.#queue.length
  }

  put(apply: () => void): void {
    this.#queue.push({ turns: this.#delay(), apply })
  }

  /** One turn goes by: what is due arrives. */
  turn(): void {
    for (let head = this.#queue[0]; head !== undefined && head.turns-- <= 0; head = this.#queue[0]) {
      this.#queue.shift()
      head.apply()
    }
  }

  cut(): void {
    this.#queue.length = 0
  }
}

class MemoryBuffer implements RegisteredBuffer {
  static #next = 4096
  readonly address: number
  readonly key: number
  readonly bytes: Uint8Array
  readonly #owner: Map<number, MemoryBuffer>

  constructor(bytes: Uint8Array, owner: Map<number, MemoryBuffer>) {
    this.bytes = bytes
    this.address = MemoryBuffer.#next
    MemoryBuffer.#next += bytes.length + 4096
    this.key = MemoryBuffer.#next >>> 4
    this.#owner = owner
    owner.set(this.key, this)
  }

  close(): void {
    this.#owner.delete(this.key)
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

/** Carries the protocol of rings through plain memory of one process. */
class MemoryCarrier implements RingCarrier {
  readonly parts: RingParts
  readonly memories: Map<number, MemoryBuffer> = new Map()
  /** Rejections of operations that are under way. */
  readonly pending: Set<(error: unknown) => void> = new Set()
  events = 0
  readonly #towards: Wire
  readonly #from: Wire
  #link!: RingLink
  #receiver!: RingReceiver
  #peer!: MemoryCarrier
  #work: (() => void)[] = []
  /** What the peer has counted. */
  readonly #credit = new Uint32Array(2)
  #underWay = 0
  #ticking = false
  #soon = false

  constructor(ringBytes: number, receives: number, towards: Wire, from: Wire) {
    this.parts = {
      outgoing: new Uint8Array(ringBytes),
      incoming: new Uint8Array(ringBytes),
      credit: new CreditWords(new Uint8Array(this.#credit.buffer), 0),
      peerReceives: receives,
      receives,
    }
    this.#towards = towards
    this.#from = from
  }

  /** To the peer's carrier, for that link. */
  join(peer: MemoryCarrier, link: RingLink, receiver: RingReceiver): void {
    this.#peer = peer
    this.#link = link
    this.#receiver = receiver
  }

  /** Everything under way is lost. */
  cut(): void {
    this.#towards.cut()
  }

  transmit(offset: number, first: number, rest: number): boolean {
    const { outgoing } = this.parts
    this.send((peer) => {
      peer.parts.incoming.set(outgoing.subarray(offset, offset + first), offset)
      peer.parts.incoming.set(outgoing.subarray(0, rest), 0)
      peer.#tell((first + rest) / UNIT_BYTES)
    })
    return true
  }

  transmitCredit(bytes: number, receives: number, wake: boolean): boolean {
    this.send((peer) => {
      peer.#credit[0] = peer.#credit[0]! + bytes / UNIT_BYTES
      peer.#credit[1] = peer.#credit[1]! + receives
      if (wake) peer.#tell(signalImmediate(Signal.Wake))
    })
    return true
  }

  transmitSignal(signal: Signal, argument: number): boolean {
    this.send((peer) => peer.#tell(signalImmediate(signal, argument)))
    return true
  }

  drained(): boolean {
    return this.#underWay === 0
  }

  collect(): void {
    this.#from.turn()
    for (const work of this.#work.splice(0)) work()
  }

  wakeSoon(): void {
    if (this.#soon) return
    this.#soon = true
    setImmediate(() => {
      this.#soon = false
      this.#link.advance()
    })
  }

  release(inOrder: boolean): void {
    const error = new LinkError('lost', 'unknown', inOrder ? 'the link was closed' : 'the link broke')
    for (const reject of this.pending) reject(error)
    const peer = this.#peer
    if (!inOrder) setImmediate(() => peer.#link.lose('the peer is gone'))
  }

  /** Have it done at the peer, behind all that was sent before. */
  send(apply: (peer: MemoryCarrier) => void): void {
    this.#underWay += 1
    this.#towards.put(() => {
      this.#underWay -= 1
      const peer = this.#peer
      if (peer.#link.open) apply(peer)
      if (this.#underWay === 0) this.wakeSoon()
    })
    this.#peer.#tick()
  }

  #tell(immediate: number): void {
    this.#work.push(() => {
      this.events += 1
      this.#receiver.came(immediate)
    })
    this.wakeSoon()
  }

  /** Turns go by while something is under way to this end. */
  #tick(): void {
    if (this.#ticking) return
    this.#ticking = true
    setImmediate(() => {
      this.#ticking = false
      this.#from.turn()
      if (this.#from.length > 0) this.#tick()
    })
  }
}

/** One end of a pair in plain memory. */
export class MemoryLink extends RingLink implements MessageLink {
  arm?: NonNullable<MessageLink['arm']>
  readonly #carrier: MemoryCarrier

  constructor(carrier: MemoryCarrier, peer: MemoryCarrier, options: Partial<RingLinkOptions> = {}) {
    const ring = new RingProtocol(carrier.parts, carrier)
    super(ring, carrier, { name: 'link', ...options })
    this.#carrier = carrier
    carrier.join(peer, this, ring)
  }

  /** Everything under way is lost, and this end learns of it. */
  cut(): void {
    this.lose('the wire was cut')
    // What it flushed last is lost, too.
    this.#carrier.cut()
  }

  allocate(lengthBytes: number): RegisteredBuffer {
    return new MemoryBuffer(new Uint8Array(lengthBytes), this.#carrier.memories)
  }

  register(memory: Uint8Array): RegisteredBuffer {
    return new MemoryBuffer(memory, this.#carrier.memories)
  }

  read(local: LocalRange, remote: RemoteAddress): Promise<void> {
    return this.#copy(local, remote, (mine, theirs) => mine.set(theirs))
  }

  write(local: LocalRange, remote: RemoteAddress): Promise<void> {
    return this.#copy(local, remote, (mine, theirs) => theirs.set(mine))
  }

  #copy(local: LocalRange, remote: RemoteAddress, copy: (mine: Uint8Array, theirs: Uint8Array) => void): Promise<void> {
    const { buffer, offset = 0, length = buffer.bytes.length - offset } = local
    const mine = buffer.bytes.subarray(offset, offset + length)
    const { pending } = this.#carrier
    return new Promise<void>((resolve, reject) => {
      if (!this.open) return reject(new LinkError('lost', 'none', 'the link has ended'))
      pending.add(reject)
      this.#carrier.send((peer) => {
        const there = peer.memories.get(remote.key)
        const from = remote.address - (there?.address ?? 0)
        pending.delete(reject)
        if (there === undefined || from < 0 || from + length > there.bytes.length) {
          const error = new LinkError('lost', 'unknown', 'the peer protects that memory')
          reject(error)
          this.destroy(error)
          return
        }
        copy(mine, there.bytes.subarray(from, from + length))
        resolve()
      })
    })
  }
}

/**
 * Two links over plain memory of one process, joined by wires with seeded delays: for tests of what is built on links.
 */
export function memoryLinks(options: MemoryLinksOptions = {}): [MemoryLink, MemoryLink] {
  const { ringBytes = 65_536, receives = 64, seed = 1, delayTurnsMax = 3 } = options
  const random = new Random(seed)
  const delay = (): number => random.below(delayTurnsMax + 1)
  const toLeft = new Wire(delay)
  const toRight = new Wire(delay)
  const atLeft = new MemoryCarrier(ringBytes, receives, toRight, toLeft)
  const atRight = new MemoryCarrier(ringBytes, receives, toLeft, toRight)
  const left = new MemoryLink(atLeft, atRight, { limiter: options.limiter, ...options.order })
  const right = new MemoryLink(atRight, atLeft)
  return [left, right]
}
