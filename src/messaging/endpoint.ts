import { ArgumentError, checkIteration, checkWhole, mustBe, type OptionNames } from '../native/index.ts'
import { checkAttached } from '../verbs/index.ts'
import { checkedHandlers } from './endpoint-handlers.ts'
import { EndpointKind, putWritten, takeWritten, WRITTEN_BYTES } from './endpoint-message.ts'
import { EndpointMeter } from './endpoint-meter.ts'
import { LinkError, ProtocolViolation } from './errors.ts'
import type { LocalRange, RegisteredBuffer, RemoteAddress } from './memory-range.ts'
import { bytesOf, lengthOf } from './memory-range.ts'
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

/**
 * The callbacks of an endpoint. All are called from the event loop, or from `poll` and the calls that block. If one
 * throws, the connection ends; an error in `disconnected` or `error` becomes a warning of the process.
 */
export interface EndpointHandlers {
  /**
   * A message has come. `data` lies in the ring and is valid until the call returns. `immediate` is undefined if the
   * sender gave none.
   */
  readonly receive?: (data: Uint8Array, immediate: number | undefined, endpoint: Endpoint) => void
  /** The peer's `writeWithImmediate` has written `length` bytes at `address` of this end's memory. */
  readonly written?: (immediate: number, address: number, length: number, endpoint: Endpoint) => void
  /** The WRITE posted with this id is done, or failed. */
  readonly writeDone?: (id: number, error: unknown, endpoint: Endpoint) => void
  /** The READ posted with this id is done, or failed. */
  readonly readDone?: (id: number, error: unknown, endpoint: Endpoint) => void
  /** The connection was closed gracefully by either end. */
  readonly disconnected?: (endpoint: Endpoint) => void
  /** The connection ended without being closed. */
  readonly error?: (error: LinkError, endpoint: Endpoint) => void
}

const handlerNames: OptionNames<EndpointHandlers> = {
  receive: true,
  written: true,
  writeDone: true,
  readDone: true,
  disconnected: true,
  error: true,
}

export interface EndpointOptions {
  readonly handlers?: EndpointHandlers
  /** The longest message that this end accepts; default 64 MiB. A longer one fails at its sender. */
  readonly messageBytesMax?: number
}

export const endpointNames: OptionNames<EndpointOptions> = { handlers: true, messageBytesMax: true }

export interface SendOptions {
  /** Stop waiting for room. A message that has begun to leave still arrives. */
  readonly signal?: AbortSignal
}

const DEFAULT_MESSAGE_BYTES_MAX = 64 << 20

/** Why messages are not taken just now. */
const Hold = { Program: 1, Queue: 2, Fetch: 4 } as const

/**
 * One end of a connection: messages, and access to the peer's memory. Messages arrive in the order in which they were
 * sent, whatever their length. Belongs to the thread that made it, and keeps the program alive until it is over.
 */
export class Endpoint {
  /**
   * The link below, in which messages can be written in place, without a copy and without an object for each. Its
   * handlers belong to the endpoint.
   */
  readonly link: VerbsLink
  /** The private data that the peer passed to `connect` or `listen`, padded with zeros. */
  readonly privateData: Uint8Array
  /** `address:port` of the peer, if the connection manager knows it. */
  readonly remote: string | undefined
  /** Resolves when the connection is over: to undefined if it was closed, else to the error that ended it. */
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
    this.#handlers = checkedHandlers(options.handlers, handlerNames)
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
   * Replaced as a whole. Until there is a `receive` handler or an iteration, a few messages are kept and the sender is
   * held back.
   */
  get handlers(): EndpointHandlers {
    return this.#handlers
  }

  set handlers(handlers: EndpointHandlers) {
    this.#handlers = checkedHandlers(handlers, handlerNames)
    if (this.#handlers.receive !== undefined && !this.#queue.isEmpty) setImmediate(() => this.#emptyQueue())
  }

  // ---- messages
  // ----------------------------------------------------------------------------------------------------------------

  /**
   * Send a message, in order with all others. Resolves when `data` may be used again. A message that fits the ring
   * needs room there; a longer one has to be fetched by the peer. A longer one is copied once, unless it is a range of
   * memory of `allocate`.
   *
   * Rejects with the LinkError that ended the connection, ClosedError if the peer had closed it, or LinkError
   * `destroyed` after this end's own `close`.
   */
  send(data: Uint8Array | LocalRange, options?: SendOptions): Promise<void> {
    return this.#send('send', data, undefined, options)
  }

  /** Send a message with 32 bits that the peer receives beside it. */
  sendWithImmediate(data: Uint8Array | LocalRange, immediate: number, options?: SendOptions): Promise<void> {
    try {
      checkImmediate(immediate)
    } catch (error) {
      return Promise.reject(error)
    }
    return this.#send('sendWithImmediate', data, immediate, options)
  }

  /**
   * Send now or not at all. Returns false if the ring has no room, `sendLimit` does not allow it yet, or others wait.
   * Makes no object. Throws ArgumentError for a message longer than the ring takes. Once the connection is over, throws
   * the LinkError that ended it, or ClosedError if it was closed.
   */
  trySend(data: Uint8Array, immediate?: number): boolean {
    if (immediate !== undefined) checkImmediate(immediate)
    if (!(data instanceof Uint8Array))
      throw new ArgumentError('data', 'data must be a Uint8Array here; to send a range, call `send`')
    if (data.length === 0) checkAttached('data', data)
    const kind = immediate === undefined ? EndpointKind.Plain : EndpointKind.WithImmediate
    const isSent = this.#outbox.tryCopy(data, immediate ?? 0, kind)
    if (this.#meter !== undefined && isSent) this.#meter.sent(data.length)
    return isSent
  }

  /**
   * Yield messages as they come, each with its own bytes. The sender is held back until the next one is asked for. Ends
   * with the connection; throws the error that ended it.
   */
  async *messages(): AsyncGenerator<Message, void, void> {
    if (this.#iterating || this.#handlers.receive !== undefined)
      throw new ArgumentError(
        'messages',
        'messages go to an iteration or to the handler `receive`; use only one of them',
      )
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

  /** Take no more messages. What the peer sends fills its ring and then waits there. */
  pause(): void {
    this.#hold(Hold.Program, true)
  }

  resume(): void {
    this.#hold(Hold.Program, false)
  }

  /** Process what has come, without the event loop. Returns how many messages. */
  poll(): number {
    return this.link.poll()
  }

  // ---- the peer's memory
  // -------------------------------------------------------------------------------------------------------

  /** Allocate memory that the peer may read, write and use atomics on, once it knows address and key. */
  allocate(lengthBytes: number): RegisteredBuffer {
    return this.link.allocate(lengthBytes)
  }

  /** Register existing memory for the same use; see {@link MessageLink.register}. */
  register(memory: Uint8Array): RegisteredBuffer {
    return this.link.register(memory)
  }

  /** WRITE to the peer's memory, without notice to it. What is sent after this call arrives after these bytes. */
  write(local: LocalRange, remote: RemoteAddress): Promise<void> {
    return this.#oneSided.write(local, remote)
  }

  /**
   * WRITE, and tell the peer: its handler `written` is called with `immediate` once the bytes are there. The notice has
   * its place among messages, and the bytes leave just before it. Rejects with ArgumentError for a wrong range or
   * immediate, of which the peer learns nothing, and with LinkError.
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

  /** Post a WRITE; `handlers.writeDone` is called with this id when it ends. */
  postWrite(id: number, local: LocalRange, remote: RemoteAddress): void {
    this.#oneSided.postWrite(local, remote, (error) => this.#handlers.writeDone?.(id, error, this))
  }

  /** Post a READ; `handlers.readDone` is called with this id when it ends. */
  postRead(id: number, local: LocalRange, remote: RemoteAddress): void {
    this.#oneSided.postRead(local, remote, (error) => this.#handlers.readDone?.(id, error, this))
  }

  /** WRITE and spin until it is done. Throws LinkError if it failed, TimeoutError if its outcome is not known yet. */
  writeSync(local: LocalRange, remote: RemoteAddress, options?: WaitSyncOptions): void {
    this.#oneSided.writeSync(local, remote, options)
  }

  /** READ and spin until it is done. Errors as for `writeSync`. */
  readSync(local: LocalRange, remote: RemoteAddress, options?: WaitSyncOptions): void {
    this.#oneSided.readSync(local, remote, options)
  }

  /** Add to an 8-byte word of the peer, at a multiple of 8, and resolve to the old value. */
  fetchAdd(remote: RemoteAddress, add: bigint): Promise<bigint> {
    return this.#oneSided.fetchAdd(remote, add)
  }

  /** Replace an 8-byte word of the peer if it equals `compare`, and resolve to the old value. */
  compareSwap(remote: RemoteAddress, operands: CompareSwapOperands): Promise<bigint> {
    return this.#oneSided.compareSwap(remote, operands)
  }

  /** Add to several fields of one word. Rejects with UnsupportedError if the device has no masked atomics. */
  maskedFetchAdd(remote: RemoteAddress, operands: MaskedFetchAddOperands): Promise<bigint> {
    return this.#oneSided.maskedFetchAdd(remote, operands)
  }

  /** Compare some bits and replace some. Rejects with UnsupportedError if the device has no masked atomics. */
  maskedCompareSwap(remote: RemoteAddress, operands: MaskedCompareSwapOperands): Promise<bigint> {
    return this.#oneSided.maskedCompareSwap(remote, operands)
  }

  /**
   * Access to the peer's physical memory, under the key that it registered with `ProtectionDomain.registerPhysical`.
   */
  physicalPeer(key: number): EndpointPhysicalPeer {
    return new EndpointPhysicalPeer(this.#oneSided, key)
  }

  // ---- the end
  // -----------------------------------------------------------------------------------------------------------------

  /**
   * Send what waits, let the peer fetch long messages, tell the peer, and end. After `closeTimeoutMs` in all it ends
   * anyway, with reason `lost`. Idempotent; never rejects: see `ended`.
   */
  close(): Promise<void> {
    this.#closing ??= this.link.close(this.#drained())
    return this.#closing
  }

  /** End at once; the peer sees a lost connection. */
  destroy(): void {
    this.link.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  // ---- inside
  // ------------------------------------------------------------------------------------------------------------------

  #send(
    call: string,
    data: Uint8Array | LocalRange,
    immediate: number | undefined,
    options: SendOptions | undefined,
  ): Promise<void> {
    if (this.#closing !== undefined) return Promise.reject(closedError())
    try {
      checkIteration(call, options)
      const length = lengthOf(data)
      const sent = this.#give(data, length, immediate, options?.signal)
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

/** Check the options of one end before there is one. @throws ArgumentError */
export function checkEndpointOptions({ handlers, messageBytesMax }: EndpointOptions): void {
  checkedHandlers(handlers, handlerNames)
  if (messageBytesMax !== undefined) checkWhole('messageBytesMax', messageBytesMax, 0, Number.MAX_SAFE_INTEGER)
}

function closedError(): LinkError {
  return new LinkError('destroyed', 'none', 'the endpoint was closed')
}

function checkImmediate(immediate: number): void {
  if (!Number.isInteger(immediate) || immediate < 0 || immediate > 0xffffffff)
    throw mustBe('immediate', 'an integer of 32 bits', immediate)
}
