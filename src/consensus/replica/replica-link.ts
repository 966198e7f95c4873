import {
  Access,
  type CompletionBatch,
  CompletionOpcode,
  type CompletionQueue,
  CompletionStatus,
  type ConnectOptions,
  Errno,
  explainStatus,
  type MemoryRegion,
  type PreparedReceive,
  type PreparedRequest,
  type ProtectionDomain,
  type QueuePair,
  type RemoteEndpoint,
  VerbsError,
} from '../../verbs/index.ts'
import type { AcceptorLink } from './acceptor-link.ts'

/** Memory of the peer, by address and key. */
export interface RemoteRegion {
  readonly address: number
  readonly key: number
}

/** Requests that have been posted and not completed. */
export const REQUESTS_MAX = 256
/** Messages that the peer may have under way to us. */
export const RECEIVES_MAX = 32
/** Messages that are sent before the peer has said that it took some. The rest of the receives are for saying so. */
const CREDIT = RECEIVES_MAX - 8
/** After as many messages the peer is told, unless a message goes there anyway. */
const CREDIT_EVERY = 8
/** One in this many requests that no one waits for makes a completion. */
const SIGNAL_EVERY = 16
/** Longer ones make one each, so that their room comes back. */
const SHORT_BYTES = 1024
/** Before each message: its type, and how many messages its sender has taken. */
const MESSAGE_HEADER_BYTES = 8
/** The type of a message that only says how many were taken. */
const CREDIT_MESSAGE = 0

interface Posted {
  /** Where the outbox is free again once this has completed. */
  readonly end: number
  readonly begin: number
  readonly length: number
  readonly done: ((bytes: Uint8Array) => void) | undefined
}

/** What found no room. */
interface Waiting {
  readonly length: number
  readonly source: Uint8Array
  readonly post: (begin: number, source: Uint8Array) => void
}

/** What a link tells its owner. */
export interface LinkEvents {
  /** `bytes` are valid during the call. */
  message(type: number, bytes: Uint8Array): void
  /** The peer has written something that we should look at. */
  noticed(): void
}

/**
 * The connection of a replica to another, or to itself: one-sided requests and short messages, in order. Nothing waits:
 * what does not fit is kept, and posted later in order. When the link breaks, no `done` is called any more.
 */
export class ReplicaLink implements AcceptorLink {
  /** Why it broke; undefined while it has not. */
  broken: string | undefined
  remote: RemoteRegion = { address: 0, key: 0 }
  readonly #pair: QueuePair
  readonly #outbox: MemoryRegion
  /** The same by words: places begin at multiples of 8. */
  readonly #words: BigUint64Array
  readonly #inbox: MemoryRegion
  readonly #messageBytes: number
  readonly #write: PreparedRequest
  readonly #notice: PreparedRequest
  readonly #read: PreparedRequest
  readonly #compareSwap: PreparedRequest
  readonly #send: PreparedRequest
  readonly #receive: PreparedReceive
  readonly #posted: Posted[] = []
  readonly #waiting: Waiting[] = []
  #events: LinkEvents | undefined
  #connected = false
  #closed = false
  /** Number of the first request in `#posted`. */
  #first = 0
  /** Bytes of the outbox that were given out and given back, counted since the start. */
  #given = 0
  /** Requests under way whose end is to be told. */
  #awaited = 0
  #back = 0
  #unsignaled = 0
  #sent = 0
  /** How many of our messages the peer has said that it took. */
  #acknowledged = 0
  #taken = 0
  #told = 0

  constructor(domain: ProtectionDomain, queue: CompletionQueue, messageBytes: number) {
    this.#messageBytes = MESSAGE_HEADER_BYTES + messageBytes
    this.#pair = domain.createQueuePair({
      type: 'rc',
      sendQueue: queue,
      receiveQueue: queue,
      maxSendRequests: REQUESTS_MAX,
      maxReceiveRequests: RECEIVES_MAX,
    })
    this.#outbox = domain.allocate(Math.max(64 * 1024, 16 * this.#messageBytes), Access.LocalWrite)
    const { buffer, byteOffset, length } = this.#outbox.bytes
    this.#words = new BigUint64Array(buffer, byteOffset, Math.floor(length / 8))
    this.#inbox = domain.allocate(RECEIVES_MAX * this.#messageBytes, Access.LocalWrite)
    const local = this.#outbox.subarray(0, 8)
    const remote = { address: 0, key: 0 }
    this.#write = this.#pair.prepareWrite({ local, remote })
    this.#notice = this.#pair.prepareWrite({ local, remote, immediate: 1 })
    this.#read = this.#pair.prepareRead({ local, remote })
    this.#compareSwap = this.#pair.prepareCompareSwap({ local, remote, compare: 0n, swap: 0n })
    this.#send = this.#pair.prepareSend({ local })
    this.#receive = this.#pair.prepareReceive({ local: this.#inbox.subarray(0, this.#messageBytes) })
  }

  get number(): number {
    return this.#pair.number
  }

  get endpoint(): RemoteEndpoint {
    return this.#pair.endpoint
  }

  get isUp(): boolean {
    return this.#connected && this.broken === undefined && !this.#closed
  }

  /** The end of a request under way is to be told. */
  get isAwaited(): boolean {
    return this.#awaited > 0
  }

  /** `access`: what the peer may do to this replica's memory. */
  connect(
    endpoint: RemoteEndpoint,
    remote: RemoteRegion,
    { timeout, access }: Required<Pick<ConnectOptions, 'timeout' | 'access'>>,
    events: LinkEvents,
  ): void {
    this.remote = remote
    this.#events = events
    this.#pair.connect(endpoint, { timeout, access })
    for (let place = 0; place < RECEIVES_MAX; place += 1) this.#repost(place)
    this.#connected = true
  }

  /** Copy `bytes` to the peer's region at `offset`. */
  write(bytes: Uint8Array, offset: number): void {
    this.#soon(bytes.length, bytes, (begin, source) => {
      this.#outbox.bytes.set(source, begin)
      this.#post(this.#write, begin, source.length, offset, undefined)
    })
  }

  /** Set a word of the peer's region. If it has room for a message, it is woken. */
  writeWord(value: number, offset: number, wake: boolean): void {
    this.#soon(8, NOTHING, (begin) => {
      this.#words[begin / 8] = BigInt(value)
      const wakes = wake && this.#sent - this.#acknowledged < CREDIT
      if (wakes) this.#sent += 1
      this.#post(wakes ? this.#notice : this.#write, begin, 8, offset, undefined)
    })
  }

  /** Set a word of the peer's region. `done`: it is there. If a completion does not say that, a READ behind it does. */
  store(word: bigint, offset: number, done: () => void): void {
    const { remoteCompletion } = this.#pair.capabilities
    this.#soon(8, NOTHING, (begin) => {
      this.#words[begin / 8] = word
      this.#post(this.#write, begin, 8, offset, remoteCompletion ? done : undefined)
    })
    if (!remoteCompletion) this.read(offset, 8, done)
  }

  /** The peer may do that to this replica's memory from now on, and no more: nothing else lands any more. */
  allow(access: number): void {
    if (this.#closed) return
    try {
      if (this.broken === undefined) {
        this.#pair.modify({ access })
        return
      }
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error
      this.broken = error.message
    }
    this.#pair.toReset()
  }

  /** `done` has the bytes during the call. */
  read(offset: number, length: number, done: (bytes: Uint8Array) => void, remote: RemoteRegion = this.remote): void {
    this.#soon(length, NOTHING, (begin) => this.#post(this.#read, begin, length, offset, done, remote))
  }

  /** `done` has the word as it was before. */
  compareSwap(offset: number, expected: bigint, next: bigint, done: (before: bigint) => void): void {
    this.#soon(8, NOTHING, (begin) => {
      this.#compareSwap.compare = expected
      this.#compareSwap.swap = next
      this.#post(this.#compareSwap, begin, 8, offset, () => done(this.#words[begin / 8]!))
    })
  }

  /** False if the peer has not taken enough of what was sent before, and nothing is sent. */
  send(type: number, bytes: Uint8Array): boolean {
    if (!this.isUp || this.#sent - this.#acknowledged >= CREDIT) return false
    this.#sent += 1
    this.#sendNow(type, bytes)
    return true
  }

  /** A row of the completion queue that is this link's. */
  completed(batch: CompletionBatch, row: number): void {
    if (this.#closed) return
    const status = batch.status[row]!
    if (status !== CompletionStatus.Success) {
      this.broken ??= explainStatus(status)
      return
    }
    const opcode = batch.opcode[row]!
    if (opcode === CompletionOpcode.Receive || opcode === CompletionOpcode.ReceiveWriteWithImmediate)
      this.#received(batch.id[row]!, opcode === CompletionOpcode.Receive ? batch.byteLength[row]! : 0)
    else this.#finished(batch.id[row]!)
  }

  /** Everything of it is given back. False if the peer may be in the middle of a WRITE, which it would finish. */
  close(): boolean {
    if (this.#closed) return true
    this.#closed = true
    const isFenced = this.#reset()
    this.#pair.close()
    this.#outbox.close()
    this.#inbox.close()
    return isFenced
  }

  #reset(): boolean {
    try {
      this.#pair.toReset()
      return true
    } catch (error) {
      if (!(error instanceof VerbsError && error.errno === Errno.EBUSY)) throw error
      this.#pair.toReset()
      return false
    }
  }

  #received(place: number, length: number): void {
    this.#taken += 1
    const events = this.#events!
    if (length === 0) {
      this.#repost(place)
      events.noticed()
    } else {
      const begin = place * this.#messageBytes
      const bytes = this.#inbox.bytes.subarray(begin, begin + length)
      const view = new DataView(bytes.buffer, bytes.byteOffset, MESSAGE_HEADER_BYTES)
      const type = view.getUint32(0, true)
      this.#acknowledged = Math.max(this.#acknowledged, view.getUint32(4, true))
      if (type === CREDIT_MESSAGE) this.#taken -= 1
      else events.message(type, bytes.subarray(MESSAGE_HEADER_BYTES))
      this.#repost(place)
    }
    if (this.isUp && this.#taken - this.#told >= CREDIT_EVERY) this.#sendNow(CREDIT_MESSAGE, NOTHING)
  }

  #sendNow(type: number, bytes: Uint8Array): void {
    const length = MESSAGE_HEADER_BYTES + bytes.length
    this.#soon(length, bytes, (begin, source) => {
      const view = new DataView(this.#outbox.bytes.buffer, this.#outbox.bytes.byteOffset + begin, length)
      view.setUint32(0, type, true)
      view.setUint32(4, this.#taken, true)
      this.#told = this.#taken
      this.#outbox.bytes.set(source, begin + MESSAGE_HEADER_BYTES)
      this.#post(this.#send, begin, length, 0, undefined)
    })
  }

  #repost(place: number): void {
    if (this.#closed || this.broken !== undefined) return
    this.#receive.setSegmentAddress(0, this.#inbox.address + place * this.#messageBytes)
    this.#receive.post(place)
  }

  /** Call `post` with a place in the outbox, now, or when there is one with a copy of `source`. */
  #soon(length: number, source: Uint8Array, post: (begin: number, source: Uint8Array) => void): void {
    if (!this.isUp) return
    const begin = this.#waiting.length > 0 ? undefined : this.#place(length)
    if (begin !== undefined) post(begin, source)
    else this.#waiting.push({ length, source: source.slice(), post })
  }

  /** The bytes of a place lie together, so the end of the outbox may be left unused. */
  #place(length: number): number | undefined {
    if (this.#posted.length >= REQUESTS_MAX) return undefined
    const size = this.#outbox.length
    const rounded = Math.ceil(length / 8) * 8
    const at = this.#given % size
    const skipped = at + rounded > size ? size - at : 0
    if (this.#given + skipped + rounded - this.#back > size) return undefined
    this.#given += skipped + rounded
    return (this.#given - rounded) % size
  }

  #post(
    request: PreparedRequest,
    begin: number,
    length: number,
    offset: number,
    done: ((bytes: Uint8Array) => void) | undefined,
    remote: RemoteRegion = this.remote,
  ): void {
    this.#posted.push({ end: this.#given, begin, length, done })
    if (done !== undefined) this.#awaited += 1
    this.#unsignaled = done === undefined ? this.#unsignaled + 1 : 0
    request.signaled = done !== undefined || length > SHORT_BYTES || this.#unsignaled % SIGNAL_EVERY === 0
    request.setSegment(0, this.#outbox.address + begin, length, this.#outbox.localKey)
    if (request !== this.#send) {
      request.remoteAddress = remote.address + offset
      request.remoteKey = remote.key
    }
    request.post(this.#first + this.#posted.length - 1)
  }

  /** The request with that number is done, and so are all before it. */
  #finished(number: number): void {
    while (this.#first <= number && this.#posted.length > 0) {
      const { begin, length, end, done } = this.#posted.shift()!
      this.#first += 1
      if (done !== undefined) {
        this.#awaited -= 1
        done(this.#outbox.bytes.subarray(begin, begin + length))
      }
      this.#back = end
    }
    while (this.isUp && this.#waiting.length > 0) {
      const { length, source, post } = this.#waiting[0]!
      const begin = this.#place(length)
      if (begin === undefined) return
      this.#waiting.shift()
      post(begin, source)
    }
  }
}

const NOTHING = new Uint8Array()
