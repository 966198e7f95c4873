import { ArgumentError } from '../native/index.ts'
import { checkedHandlers, type EndpointHandlers } from './endpoint-handlers.ts'
import { EndpointKind, putWritten, takeWritten, WRITTEN_BYTES } from './endpoint-message.ts'
import { EndpointMeter } from './endpoint-meter.ts'
import { LinkError, ProtocolViolation } from './errors.ts'
import { bytesOf, lengthOf } from './memory-range.ts'
import type { LocalRange, RegisteredBuffer, RemoteAddress } from './message-link.ts'
import { type Message, MessageQueue } from './message-queue.ts'
import {
  type CompareSwapOperands,
  type MaskedCompareSwapOperands,
  type MaskedFetchAddOperands,
  OneSided,
  type WaitSyncOptions,
} from './one-sided.ts'
import { DONE, Outbox } from './outbox.ts'
import { EndpointPhysicalPeer } from './physical-peer.ts'
import { Rendezvous } from './rendezvous.ts'
import { Staging } from './staging.ts'
import { tellProgram } from './tell-program.ts'
import type { VerbsLink } from './verbs-link.ts'

export interface EndpointOptions {
  readonly handlers?: EndpointHandlers
  /** The longest message that this end takes; default 64 MiB. A longer one fails at its sender. */
  readonly messageBytesMax?: number
}

export interface SendOptions {
  /** Stop waiting for room. What has begun to leave still arrives. */
  readonly signal?: AbortSignal
}

const DEFAULT_MESSAGE_BYTES_MAX = 64 << 20

/** Why messages are not taken just now. */
const Hold = { Program: 1, Queue: 2, Fetch: 4 } as const

/**
 * One end of a connection: messages, and the peer's memory. Messages arrive in the order in which they were sent,
 * whatever their length. Belongs to the thread that made it, and keeps the program alive until it is over.
 */
export class Endpoint {
  /**
   * Where messages can be written in place, without a copy and without an object each. Its handlers belong to the
   * endpoint.
   */
  readonly link: VerbsLink
  /** What the peer gave to `connect` or `listen` as private data, filled up with zeros. */
  readonly privateData: Uint8Array
  /** `address:port` of the peer, where the connection manager says. */
  readonly remote: string | undefined
  /** Resolves when it is over: to undefined in order, else to what ended it. */
  readonly ended: Promise<LinkError | undefined>
  #handlers: EndpointHandlers
  readonly #outbox: Outbox
  readonly #staging: Staging
  readonly #rendezvous: Rendezvous
  readonly #oneSided: OneSided
  readonly #queue: MessageQueue
  readonly #meter: EndpointMeter | undefined
  #iterating = false
  #holds = 0
  #closing: Promise<void> | undefined

  /** @internal Made by `connectEndpoint` and `listenEndpoints`. */
  constructor(link: VerbsLink, remote: string | undefined, privateData: Uint8Array, options: EndpointOptions) {
    this.link = link
    this.remote = remote
    this.privateData = privateData
    this.#handlers = checkedHandlers(options.handlers)
    this.#outbox = new Outbox(link)
    this.#staging = new Staging((lengthBytes) => link.allocate(lengthBytes))
    const { messageBytesMax = DEFAULT_MESSAGE_BYTES_MAX } = options
    this.#rendezvous = new Rendezvous(link, this.#outbox, this.#staging, messageBytesMax)
    this.#oneSided = new OneSided(link, this.#outbox)
    this.#meter = EndpointMeter.of(link.pair.number, remote)
    this.#queue = new MessageQueue((full) => this.#hold(Hold.Queue, full))
    link.onMessage = this.#take
    this.ended = new Promise((resolve) => {
      link.onEnd = (error) => {
        try {
          this.#over(error as LinkError | undefined)
        } finally {
          resolve(error as LinkError | undefined)
        }
      }
    })
  }

  get open(): boolean {
    return this.link.open && this.#closing === undefined
  }

  /**
   * Replaced as a whole. Until there is a `receive`, or an iteration, a few messages are kept and the sender is held
   * back.
   */
  get handlers(): EndpointHandlers {
    return this.#handlers
  }

  set handlers(handlers: EndpointHandlers) {
    this.#handlers = checkedHandlers(handlers)
    if (this.#handlers.receive !== undefined && !this.#queue.isEmpty) setImmediate(() => this.#emptyQueue())
  }

  // ---- messages
  // ----------------------------------------------------------------------------------------------------------------

  /**
   * Send a message, in order with all others. Resolves when `data` may be used again: for one that fits the ring when
   * it has room there, for a longer one when the peer has fetched it. Of longer ones `data` is copied once, a range of
   * memory of `allocate` is not. Rejects with the LinkError that ended the connection, ClosedError where the peer had
   * closed it in order, LinkError `destroyed` after this end's own `close`.
   */
  send(data: Uint8Array | LocalRange, options: SendOptions = {}): Promise<void> {
    return this.#send(data, undefined, options.signal)
  }

  /** The same with 32 bits that the peer gets beside the message. */
  sendWithImmediate(data: Uint8Array | LocalRange, immediate: number, options: SendOptions = {}): Promise<void> {
    try {
      checkImmediate(immediate)
    } catch (error) {
      return Promise.reject(error)
    }
    return this.#send(data, immediate, options.signal)
  }

  /**
   * Send now or not at all: false where the ring has no room for it just now, `sendLimit` says not yet, or others wait.
   * Makes no object. Throws ArgumentError for a message longer than the ring takes; once the connection is over the
   * LinkError that ended it, or ClosedError where that was in order.
   */
  trySend(data: Uint8Array, immediate?: number): boolean {
    if (immediate !== undefined) checkImmediate(immediate)
    if (!(data instanceof Uint8Array))
      throw new ArgumentError('data', 'a message is a Uint8Array here; send takes ranges')
    const kind = immediate === undefined ? EndpointKind.Plain : EndpointKind.WithImmediate
    const isSent = this.#outbox.tryCopy(data, immediate ?? 0, kind)
    if (this.#meter !== undefined && isSent) this.#meter.sent(data.length)
    return isSent
  }

  /**
   * Messages as they come, each with bytes of its own; the sender is held back while nobody asks for the next. Ends
   * with the connection; throws what ended it.
   */
  async *messages(): AsyncGenerator<Message, void, void> {
    if (this.#iterating || this.#handlers.receive !== undefined)
      throw new ArgumentError('messages', 'messages go to one place: an iteration, or the handler `receive`')
    this.#iterating = true
    try {
      for (let next = await this.#queue.next(); next.done !== true; next = await this.#queue.next()) yield next.value
    } finally {
      this.#iterating = false
    }
  }

  [Symbol.asyncIterator](): AsyncGenerator<Message, void, void> {
    return this.messages()
  }

  /** Take no more messages; what the peer sends fills its ring and then waits there. */
  pause(): void {
    this.#hold(Hold.Program, true)
  }

  resume(): void {
    this.#hold(Hold.Program, false)
  }

  /** Look at what has come without the event loop; how many messages. */
  poll(): number {
    return this.link.poll()
  }

  // ---- the peer's memory
  // -------------------------------------------------------------------------------------------------------

  /** Memory that the peer may read, write and use atomics on, once it was told address and key. */
  allocate(lengthBytes: number): RegisteredBuffer {
    return this.link.allocate(lengthBytes)
  }

  /** The same for memory that exists; see {@link MessageLink.register}. */
  register(memory: Uint8Array): RegisteredBuffer {
    return this.link.register(memory)
  }

  /** WRITE to the peer's memory; it learns nothing of it. What is sent after this call arrives after its bytes. */
  write(local: LocalRange, remote: RemoteAddress): Promise<void> {
    return this.#oneSided.write(local, remote)
  }

  /**
   * WRITE, and tell the peer: its handler `written` is called with `immediate` once the bytes are there. The notice has
   * its place among messages, and the bytes leave just before it. Rejects with ArgumentError for a range or an
   * immediate that cannot be, of which the peer hears nothing, and with LinkError.
   */
  async writeWithImmediate(local: LocalRange, remote: RemoteAddress, immediate: number): Promise<void> {
    checkImmediate(immediate)
    if (this.#closing !== undefined) throw closedError()
    const post = this.#oneSided.prepareWrite(local, remote)
    await new Promise<void>((resolve, reject) => {
      const fill = (outgoing: Uint8Array, at: number): void => {
        putWritten(outgoing, at, remote.address, lengthOf(local))
        this.link.charge(lengthOf(local))
        post((error) => (error === undefined ? resolve() : reject(error)))
      }
      this.#outbox.put(WRITTEN_BYTES, immediate, EndpointKind.Written, fill).catch(reject)
    })
  }

  read(local: LocalRange, remote: RemoteAddress): Promise<void> {
    return this.#oneSided.read(local, remote)
  }

  /** WRITE; `handlers.writeDone` is told of its end with this id. */
  postWrite(id: number, local: LocalRange, remote: RemoteAddress): void {
    this.#oneSided.postWrite(local, remote, (error) => this.#handlers.writeDone?.(id, error, this))
  }

  /** READ; `handlers.readDone` is told of its end with this id. */
  postRead(id: number, local: LocalRange, remote: RemoteAddress): void {
    this.#oneSided.postRead(local, remote, (error) => this.#handlers.readDone?.(id, error, this))
  }

  /**
   * WRITE and spin until it is done. Throws LinkError where it failed, TimeoutError where its outcome is not known yet.
   */
  writeSync(local: LocalRange, remote: RemoteAddress, options: WaitSyncOptions = {}): void {
    this.#oneSided.writeSync(local, remote, options)
  }

  /** READ and spin until it is done. */
  readSync(local: LocalRange, remote: RemoteAddress, options: WaitSyncOptions = {}): void {
    this.#oneSided.readSync(local, remote, options)
  }

  /** Add to an 8-byte word of the peer's, at a multiple of 8; the old value. */
  fetchAdd(remote: RemoteAddress, add: bigint): Promise<bigint> {
    return this.#oneSided.fetchAdd(remote, add)
  }

  /** Replace an 8-byte word of the peer's where it equals `compare`; the old value. */
  compareSwap(remote: RemoteAddress, operands: CompareSwapOperands): Promise<bigint> {
    return this.#oneSided.compareSwap(remote, operands)
  }

  /** Add to several fields of one word. Rejects with UnsupportedError where the device has no masked atomics. */
  maskedFetchAdd(remote: RemoteAddress, operands: MaskedFetchAddOperands): Promise<bigint> {
    return this.#oneSided.maskedFetchAdd(remote, operands)
  }

  /** Compare some bits and replace some. Rejects with UnsupportedError where the device has no masked atomics. */
  maskedCompareSwap(remote: RemoteAddress, operands: MaskedCompareSwapOperands): Promise<bigint> {
    return this.#oneSided.maskedCompareSwap(remote, operands)
  }

  /** The peer's physical memory, under the key of what it registered by `ProtectionDomain.registerPhysical`. */
  physicalPeer(key: number): EndpointPhysicalPeer {
    return new EndpointPhysicalPeer(this, key)
  }

  // ---- the end
  // -----------------------------------------------------------------------------------------------------------------

  /**
   * Sends what waits, has long messages fetched, tells the peer, and ends; after `closeTimeoutMs` in all it ends
   * anyway, with reason `lost`. Idempotent; never rejects: see `ended`.
   */
  close(): Promise<void> {
    this.#closing ??= this.link.close(this.#drained())
    return this.#closing
  }

  /** End at once; the peer learns of a loss. */
  destroy(): void {
    this.link.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  // ---- inside
  // ------------------------------------------------------------------------------------------------------------------

  #send(data: Uint8Array | LocalRange, immediate: number | undefined, signal: AbortSignal | undefined): Promise<void> {
    if (this.#closing !== undefined) return Promise.reject(closedError())
    try {
      const length = lengthOf(data)
      const sent = this.#give(data, length, immediate, signal)
      if (this.#meter === undefined) return sent
      this.#meter.sent(length)
      return sent === DONE ? sent : this.#meter.waiting(sent)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #give(
    data: Uint8Array | LocalRange,
    length: number,
    immediate: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (length > this.link.messageBytesMax) return this.#rendezvous.send(data, immediate, signal)
    const kind = immediate === undefined ? EndpointKind.Plain : EndpointKind.WithImmediate
    return this.#outbox.copy(data instanceof Uint8Array ? data : bytesOf(data), immediate ?? 0, kind, signal)
  }

  /** Offers that have come are taken: those behind `close` could not be answered any more. */
  async #drained(): Promise<void> {
    await undefined
    this.link.poll()
    do {
      await this.#outbox.drained()
      await this.#rendezvous.drained()
      await this.#rendezvous.answeredAll()
    } while (!this.#outbox.isEmpty)
  }

  readonly #take = (bytes: Uint8Array, offset: number, length: number, immediate: number, kind: number): void => {
    if (kind === EndpointKind.Plain) this.#deliver(bytes.subarray(offset, offset + length), undefined)
    else if (kind === EndpointKind.WithImmediate) this.#deliver(bytes.subarray(offset, offset + length), immediate)
    else this.#takeControl(bytes, offset, length, immediate, kind)
  }

  #takeControl(bytes: Uint8Array, offset: number, length: number, immediate: number, kind: number): void {
    switch (kind) {
      case EndpointKind.Written: {
        if (length !== WRITTEN_BYTES) throw new ProtocolViolation(`a notice of ${length} bytes`)
        const written = takeWritten(bytes, offset)
        this.#handlers.written?.(immediate, written.address, written.length, this)
        break
      }
      case EndpointKind.Offer:
        this.#fetch(bytes, offset, length, undefined)
        break
      case EndpointKind.OfferWithImmediate:
        this.#fetch(bytes, offset, length, immediate)
        break
      case EndpointKind.Fetched:
      case EndpointKind.Refused:
        this.#rendezvous.answered(immediate, kind === EndpointKind.Fetched)
        break
      default:
        throw new ProtocolViolation(`a message of kind ${kind}`)
    }
  }

  #fetch(bytes: Uint8Array, offset: number, length: number, immediate: number | undefined): void {
    this.#hold(Hold.Fetch, true)
    // Closing: its sender could not be told that it was fetched. It fails there, and nothing behind it is delivered.
    if (!this.link.canSend) return
    this.#rendezvous.fetch(bytes, offset, length, immediate, this.#deliver).then(
      () => this.#hold(Hold.Fetch, false),
      (error) => this.link.fail(error),
    )
  }

  readonly #deliver = (data: Uint8Array, immediate: number | undefined): void => {
    if (this.#meter !== undefined) this.#meter.received(data.length)
    const { receive } = this.#handlers
    if (receive === undefined || !this.#queue.isEmpty) this.#queue.put({ data: data.slice(), immediate })
    else receive(data, immediate, this)
  }

  /** What came before there was a handler. */
  #emptyQueue(): void {
    try {
      for (;;) {
        const { receive } = this.#handlers
        const message = receive === undefined ? undefined : this.#queue.take()
        if (message === undefined) break
        receive?.(message.data, message.immediate, this)
      }
    } catch (error) {
      this.link.fail(error)
    }
  }

  #hold(why: number, on: boolean): void {
    this.#holds = on ? this.#holds | why : this.#holds & ~why
    if (this.#holds === 0) this.link.resume()
    else this.link.pause()
  }

  #over(error: LinkError | undefined): void {
    const end = error ?? new LinkError('lost', 'unknown', 'the connection was closed')
    this.#outbox.move()
    this.#rendezvous.fail(end)
    this.#queue.end(error)
    this.#oneSided.close()
    this.#staging.close()
    this.#meter?.close()
    tellProgram(() => {
      if (error === undefined) this.#handlers.disconnected?.(this)
      else this.#handlers.error?.(error, this)
    })
  }
}

function closedError(): LinkError {
  return new LinkError('destroyed', 'none', 'the endpoint was closed')
}

function checkImmediate(immediate: number): void {
  if (!Number.isInteger(immediate) || immediate < 0 || immediate > 0xffffffff)
    throw new ArgumentError('immediate', `an immediate is an integer of 32 bits, not ${immediate}`)
}
