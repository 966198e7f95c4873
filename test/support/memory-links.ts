import { LinkError, type LocalRange, type RegisteredBuffer, type RemoteAddress } from '../../src/messaging/index.ts'
import { RingLink } from '../../src/messaging/ring-link.ts'
import type { RingLinkParts } from '../../src/messaging/ring-link-parts.ts'
import type { SendLimiter } from '../../src/messaging/send-limit.ts'
import { Signal } from '../../src/messaging/signal.ts'
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
  readonly order?: Pick<RingLinkParts, 'departures' | 'weight' | 'priority'>
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

/** One end of a pair in plain memory. */
export class MemoryLink extends RingLink {
  readonly #memories = new Map<number, MemoryBuffer>()
  readonly #incoming: Uint8Array
  readonly #towards: Wire
  readonly #pending = new Set<(error: unknown) => void>()
  #from: Wire | undefined
  #peer: MemoryLink | undefined
  #work: (() => void)[] = []
  /** What the peer's WRITEs have counted, and what was read of it. */
  readonly #credit = new Uint32Array(2)
  readonly #seen = new Uint32Array(2)
  #underWay = 0
  #ticking = false
  #soon = false

  constructor(ringBytes: number, receives: number, towards: Wire, parts: Partial<RingLinkParts> = {}) {
    const incoming = new Uint8Array(ringBytes)
    super({ outgoing: new Uint8Array(ringBytes), incoming, peerReceives: receives, receives, ...parts })
    this.#incoming = incoming
    this.#towards = towards
  }

  join(peer: MemoryLink, from: Wire): void {
    this.#peer = peer
    this.#from = from
  }

  /** Everything under way is lost, and this end learns of it. */
  cut(): void {
    this.lose('the wire was cut')
    // What it flushed last is lost, too.
    this.#towards.cut()
  }

  allocate(lengthBytes: number): RegisteredBuffer {
    return new MemoryBuffer(new Uint8Array(lengthBytes), this.#memories)
  }

  register(memory: Uint8Array): RegisteredBuffer {
    return new MemoryBuffer(memory, this.#memories)
  }

  read(local: LocalRange, remote: RemoteAddress): Promise<void> {
    return this.#copy(local, remote, (mine, theirs) => mine.set(theirs))
  }

  write(local: LocalRange, remote: RemoteAddress): Promise<void> {
    return this.#copy(local, remote, (mine, theirs) => theirs.set(mine))
  }

  protected transmit(offset: number, first: number, rest: number): boolean {
    this.#send((peer) => {
      peer.#incoming.set(this.outgoing.subarray(offset, offset + first), offset)
      peer.#incoming.set(this.outgoing.subarray(0, rest), 0)
      peer.#tell(() => peer.cameBytes(first + rest))
    })
    return true
  }

  protected transmitCredit(bytes: number, receives: number, wake: boolean): boolean {
    this.#send((peer) => {
      peer.#credit[0] = peer.#credit[0]! + bytes / 8
      peer.#credit[1] = peer.#credit[1]! + receives
      if (wake) peer.#tell(() => peer.cameSignal(Signal.Wake, 0))
    })
    return true
  }

  protected transmitSignal(signal: Signal, argument: number): boolean {
    this.#send((peer) => peer.#tell(() => peer.cameSignal(signal, argument)))
    return true
  }

  protected drained(): boolean {
    return this.#underWay === 0
  }

  protected progress(): void {
    this.#from?.turn()
    for (const work of this.#work.splice(0)) work()
  }

  protected readCredit(): void {
    const [bytes = 0, receives = 0] = this.#credit
    const [seenBytes = 0, seenReceives = 0] = this.#seen
    this.#seen.set(this.#credit)
    this.cameCredit(8 * ((bytes - seenBytes) >>> 0), (receives - seenReceives) >>> 0)
  }

  protected wakeSoon(): void {
    if (this.#soon) return
    this.#soon = true
    setImmediate(() => {
      this.#soon = false
      this.pollInTurn()
    })
  }

  protected release(inOrder: boolean): void {
    const error = inOrder
      ? new LinkError('lost', 'unknown', 'the link was closed')
      : new LinkError('lost', 'unknown', 'the link broke')
    for (const reject of this.#pending) reject(error)
    if (!inOrder) this.#peer?.wakeLost()
  }

  /** The other end is gone without a word. */
  wakeLost(): void {
    setImmediate(() => this.lose('the peer is gone'))
  }

  #send(apply: (peer: MemoryLink) => void): void {
    this.#underWay += 1
    this.#towards.put(() => {
      this.#underWay -= 1
      const peer = this.#peer!
      if (peer.open) apply(peer)
      if (this.#underWay === 0) this.wakeSoon()
    })
    this.#peer!.#tick()
  }

  #tell(what: () => void): void {
    this.#work.push(what)
    this.wakeSoon()
  }

  /** Turns go by while something is under way to this end. */
  #tick(): void {
    if (this.#ticking) return
    this.#ticking = true
    setImmediate(() => {
      this.#ticking = false
      const from = this.#from!
      from.turn()
      if (from.length > 0) this.#tick()
    })
  }

  #copy(local: LocalRange, remote: RemoteAddress, copy: (mine: Uint8Array, theirs: Uint8Array) => void): Promise<void> {
    const { buffer, offset = 0, length = buffer.bytes.length - offset } = local
    const mine = buffer.bytes.subarray(offset, offset + length)
    return new Promise<void>((resolve, reject) => {
      if (!this.open) return reject(new LinkError('lost', 'none', 'the link has ended'))
      this.#pending.add(reject)
      this.#send((peer) => {
        const there = peer.#memories.get(remote.key)
        const from = remote.address - (there?.address ?? 0)
        this.#pending.delete(reject)
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
  const left = new MemoryLink(ringBytes, receives, toRight, { limiter: options.limiter, ...options.order })
  const right = new MemoryLink(ringBytes, receives, toLeft)
  left.join(right, toLeft)
  right.join(left, toRight)
  return [left, right]
}
