import { randomBytes } from 'node:crypto'
import type { MessageLink } from '../messaging/index.ts'
import { type AetherError, ClosedError, messageOfThrown } from '../native/index.ts'
import { addAbortCallback } from '../runtime/index.ts'
import { BodyCodec } from './body-codec.ts'
import { watchCalls } from './call-waits.ts'
import { checked } from './checked-answer.ts'
import { CallTable, type ClientCall } from './client-call.ts'
import { DeadlineTimer } from './deadline-timer.ts'
import { errorOf, type Failure, lost, MalformedFrameError, RpcError } from './errors.ts'
import type { Extension } from './extension.ts'
import { FrameKind, NO_BUDGET, PROTOCOL_VERSION } from './frame.ts'
import { BodyMemory, type FrameTaker } from './frame-taker.ts'
import { IncomingStream } from './incoming-stream.ts'
import { invalidResponse, type MethodInfo, validate } from './method-info.ts'
import { Pings, type ServerHealth } from './pings.ts'
import { traceCall, traceCallEnd, tracesCalls } from './rpc-trace.ts'
import { NO_BYTES, Session, type SessionLimits } from './session.ts'
import { SilenceWatch } from './silence-watch.ts'
import { SpinTime } from './spin-time.ts'
import { Credit } from './stream-pump.ts'
import { timerDelay } from './timer-delay.ts'
import { values } from './value-codec.ts'

/** Of what failures say. */
const failures = new BodyCodec(values)

/** Options of a client's session. */
export interface ClientSessionOptions extends SessionLimits {
  readonly callsMax: number
  /**
   * How long a call with buffers that has ended without an answer waits for the server to be done with them, in ms.
   * Then they are taken from it.
   */
  readonly fenceMs: number
  readonly streamWindow: number
  readonly keepAliveMs: number
}

/** The owner of a session. */
export interface SessionOwner {
  draining(): void
  ended(session: ClientSession, error: Error | undefined): void
}

/** The client's end of a link: its calls under way. */
export class ClientSession implements FrameTaker {
  readonly session: Session
  readonly calls: CallTable
  readonly spinTime: SpinTime = new SpinTime()
  /** The start of the server; 0 until it has said hello. */
  incarnation = 0
  draining = false
  readonly #owner: SessionOwner
  readonly #options: ClientSessionOptions
  readonly #timer: DeadlineTimer
  /** Tells this connection from others of the same server, in traces. */
  readonly #greeting = randomBytes(4).readInt32LE()
  readonly #pings: Pings
  #keepAlive: NodeJS.Timeout | undefined
  #unwatch: (() => void) | undefined
  #peerWindow = 0
  readonly #hello: {
    readonly promise: Promise<void>
    readonly resolve: () => void
    readonly reject: (error: unknown) => void
  }

  constructor(link: MessageLink, owner: SessionOwner, options: ClientSessionOptions) {
    this.#owner = owner
    this.#options = options
    this.session = new Session(link, this, options)
    this.#pings = new Pings(this.session)
    this.calls = new CallTable(options.callsMax)
    this.#timer = new DeadlineTimer((now) => this.#expire(now))
    this.#hello = withResolvers()
    this.#hello.promise.catch(() => undefined)
  }

  start(): void {
    this.session.start()
    this.#unwatch = watchCalls(this)
    this.session.send(
      FrameKind.Hello,
      this.#greeting,
      PROTOCOL_VERSION,
      this.#options.streamWindow,
      undefined,
      NO_BYTES,
      true,
    )
    const { keepAliveMs } = this.#options
    if (keepAliveMs === Infinity) return
    const text = `the server has been silent for ${2 * keepAliveMs} ms (options.keepAliveMs)`
    // The answer is something that is heard.
    const ask = (): void => void this.session.send(FrameKind.Ping, 0, 0, 0, undefined, NO_BYTES, true)
    const silence = new SilenceWatch(this.session, text, ask)
    this.#keepAlive = setInterval(() => silence.turn(), timerDelay(keepAliveMs))
    this.#keepAlive.unref()
  }

  /** Resolves when the server has said hello. */
  get ready(): Promise<void> {
    return this.#hello.promise
  }

  // ---- calls
  // -------------------------------------------------------------------------------------------------------------------

  /**
   * Take a slot for a caller that waits from now on.
   * @throws RpcError if too many calls are under way, or the link has just ended.
   */
  open(method: MethodInfo, deadline: number): ClientCall {
    if (!this.session.open) throw method.refused(lost(method.name, false, undefined))
    const call = this.calls.take()
    if (call === undefined)
      throw method.refused(
        new RpcError(
          'ERR_AETHER_RPC_OVERLOADED',
          'not-sent',
          method.name,
          `${this.#options.callsMax} calls are under way, the maximum; await some, or raise options.callsMax`,
        ),
      )
    call.open = true
    call.method = method
    if (method.meter !== undefined) call.began = method.meter.begin()
    call.deadline = deadline
    if (deadline !== Infinity) this.#timer.due(deadline)
    if (tracesCalls()) traceCall(call, method.name, call.id, this.incarnation, this.#greeting)
    return call
  }

  /** @internal */
  get fenceMs(): number {
    return this.#options.fenceMs
  }

  /** Send the request; none if a stream of requests follows. What it throws has ended the call. */
  request(call: ClientCall, budget: number, extension: Uint8Array | undefined, request: unknown): void {
    const { codec, number, streamsRequests } = call.method!
    const { session } = this
    if (extension === undefined && !streamsRequests) {
      call.waiting = codec.send(session, FrameKind.Request, call.id, number, budget, request)
      return
    }
    const body = streamsRequests ? NO_BYTES : codec.codec.encode(request)
    call.waiting = session.send(FrameKind.Request, call.id, number, budget, extension, body, codec.keeps)
  }

  /** Abort the call with the signal's reason. */
  watch(call: ClientCall, signal: AbortSignal): void {
    call.signal = signal
    call.onAbort = () => this.abandon(call, signal.reason)
    addAbortCallback(signal, call.onAbort)
  }

  /** The stream of answers of this call. */
  answersOf(call: ClientCall): IncomingStream<unknown> {
    const { name, response } = call.method!
    const { id } = call
    const stream = new IncomingStream<unknown>(this.#options.streamWindow, {
      consumed: (items) => void this.session.send(FrameKind.Credit, id, items, 0, undefined, NO_BYTES, true),
      abandoned: (error) => {
        if (this.calls.find(id) === call && call.open) this.abandon(call, error)
      },
      checked: (item) =>
        response === undefined ? item : validate(response, item, (issues) => invalidResponse(name, issues)),
    })
    call.answers = stream
    return stream
  }

  /** Credit for the requests of this call; none before the server has granted it. */
  creditOf(call: ClientCall): Credit {
    const credit = new Credit(this.#peerWindow)
    call.requestCredit = credit
    return credit
  }

  /** No caller waits any more. The server is told, and the slot is kept until it has sent its last frame. */
  abandon(call: ClientCall, error: unknown): void {
    const { sent, waiting, id } = call
    this.#fail(call, error)
    this.session.unwanted(id, waiting)
    if (sent) {
      this.session.send(FrameKind.Cancel, id, 0, 0, undefined, NO_BYTES, true)
      return
    }
    this.calls.release(call)
  }

  #fail(call: ClientCall, error: unknown): void {
    const { sync, answers, reject } = call
    if (call.traced !== 0) traceCallEnd(call, 'client', call.method!.name, call.id, error ?? 'CANCELLED')
    call.method?.meter?.failed(call.began, error)
    call.leave()
    if (sync !== undefined) {
      sync.error = error
      sync.done = true
    } else if (answers !== undefined) answers.fail(error)
    else reject?.(error as never)
  }

  /** End a call whose request could not be made. */
  discard(call: ClientCall, error: unknown): void {
    call.method?.meter?.failed(call.began, error)
    if (call.traced !== 0) traceCallEnd(call, 'client', call.method!.name, call.id, 'NOT_SENT')
    call.leave()
    this.calls.release(call)
  }

  expired(call: ClientCall): RpcError {
    const outcome = call.sent ? 'unknown' : 'not-sent'
    const what = call.sent
      ? 'no answer came in time; it may or may not have taken effect'
      : 'it did not leave in time, because the link had no room'
    return new RpcError('ERR_AETHER_RPC_DEADLINE', outcome, call.method!.name, what)
  }

  #expire(now: number): number {
    let next = Infinity
    for (const call of this.calls.open()) {
      if (call.deadline <= now) this.abandon(call, this.expired(call))
      else if (call.deadline < next) next = call.deadline
    }
    return next
  }

  // ---- frames
  // ------------------------------------------------------------------------------------------------------------------

  frame(
    kind: number,
    callId: number,
    word: number,
    budget: number,
    extension: Extension,
    bytes: Uint8Array,
    offset: number,
    length: number,
    memory: number,
  ): void {
    switch (kind) {
      case FrameKind.Answer: {
        const call = this.calls.find(callId)
        if (call === undefined) return
        if (call.method!.streamsAnswers)
          throw new MalformedFrameError('a single answer came for a call whose answers are a stream')
        if (call.open) this.#answer(call, extension, bytes, offset, length, memory)
        this.calls.release(call)
        return
      }
      case FrameKind.Item: {
        const call = this.calls.find(callId)
        if (call?.answers !== undefined) this.#item(call, call.answers, bytes, offset, length, memory)
        return
      }
      case FrameKind.Failure:
        this.#failure(callId, word, extension, bytes, offset, length)
        return
      case FrameKind.End:
        this.#streamEnd(callId, extension)
        return
      case FrameKind.Credit:
        this.calls.find(callId)?.requestCredit?.add(word)
        return
      case FrameKind.Hello:
        this.#greeted(word, budget, bytes, offset, length)
        return
      case FrameKind.Pong:
        this.#pings.answered(callId, word, budget, this.incarnation)
        return
      case FrameKind.Ping:
        this.session.send(FrameKind.Pong, 0, word, 0, undefined, NO_BYTES, true)
        return
      case FrameKind.Drain:
        this.draining = true
        this.#owner.draining()
        return
      default:
        throw new MalformedFrameError(`a server must not send frames of kind ${kind}`)
    }
  }

  #answer(
    call: ClientCall,
    extension: Extension,
    bytes: Uint8Array,
    offset: number,
    length: number,
    memory: number,
  ): void {
    const method = call.method!
    let value: unknown
    try {
      value = method.codec.decode(bytes, offset, length, memory)
    } catch (error) {
      this.#fail(call, unreadable(method.name, error))
      return
    }
    this.#told(call, extension)
    if (!call.open) return
    const { sync, resolve, began } = call
    if (call.traced !== 0) traceCallEnd(call, 'client', method.name, call.id)
    call.leave()
    if (method.response !== undefined) {
      const answer = { method, schema: method.response, began, length }
      if (sync === undefined) resolve?.(checked(answer, value) as never)
      else {
        sync.value = value
        sync.unchecked = answer
        sync.done = true
      }
      return
    }
    if (method.meter !== undefined) method.meter.answeredWith(began, length)
    if (sync !== undefined) {
      sync.value = value
      sync.done = true
      return
    }
    resolve?.(value as never)
  }

  #item(
    call: ClientCall,
    answers: IncomingStream<unknown>,
    bytes: Uint8Array,
    offset: number,
    length: number,
    memory: number,
  ): void {
    const method = call.method!
    method.meter?.received(length)
    let item: unknown
    try {
      item = method.codec.decode(bytes, offset, length, memory)
    } catch (error) {
      this.abandon(call, unreadable(method.name, error))
      return
    }
    if (!answers.push(item)) throw new MalformedFrameError('more items came than there was credit for')
  }

  /** Metadata of the answer. The callback is the program's: what it throws fails its call, and only that. */
  #told(call: ClientCall, { metadata }: Extension): void {
    if (metadata === undefined || call.onMetadata === undefined) return
    try {
      call.onMetadata(metadata)
    } catch (error) {
      this.#fail(call, error)
    }
  }

  #failure(
    callId: number,
    code: number,
    extension: Extension,
    bytes: Uint8Array,
    offset: number,
    length: number,
  ): void {
    const call = this.calls.find(callId)
    if (call === undefined) return
    const error = this.#errorOf(call.method!, code, bytes, offset, length)
    if (call.open) this.#told(call, extension)
    if (call.open) this.#fail(call, error)
    this.calls.release(call)
  }

  #errorOf(method: MethodInfo, code: number, bytes: Uint8Array, offset: number, length: number): AetherError {
    const body = failures.decode(bytes, offset, length, BodyMemory.Shared)
    if (!Array.isArray(body)) throw new MalformedFrameError('a failure has no message')
    const [message, reason, details] = body as unknown[]
    const failure: Failure = { code, message: messageOfThrown(message), reason: messageOfThrown(reason), details }
    return errorOf(method.name, method.streamsRequests, failure)
  }

  #streamEnd(callId: number, extension: Extension): void {
    const call = this.calls.find(callId)
    if (call === undefined) return
    if (!call.method!.streamsAnswers)
      throw new MalformedFrameError('the end of a stream came for a call with one answer')
    if (call.open) this.#told(call, extension)
    const { answers, open } = call
    if (open) {
      if (call.traced !== 0) traceCallEnd(call, 'client', call.method!.name, call.id)
      call.method!.meter?.answered(call.began)
      call.leave()
      answers?.finish()
    }
    this.calls.release(call)
  }

  wants(kind: number, callId: number): number | undefined {
    if (kind !== FrameKind.Answer) throw new MalformedFrameError('a server may offer only answers')
    const call = this.calls.find(callId)
    return call?.open === true ? call.method!.codec.memoryFor(false) : undefined
  }

  /** The answer of a call without a waiting caller, or one for which there is no memory. */
  dropped(_kind: number, callId: number, shortage: unknown): void {
    const call = this.calls.find(callId)
    if (call === undefined) return
    const text = 'an answer came back, and this end has no memory for it'
    const cause = { cause: shortage }
    if (call.open) this.#fail(call, new RpcError('ERR_AETHER_RPC_OVERLOADED', 'failed', call.method!.name, text, cause))
    this.calls.release(call)
  }

  tooLong(kind: number, callId: number, totalBytes: number): void {
    const call = this.calls.find(callId)
    if (call === undefined) return
    const text = `${totalBytes} bytes came back, more than options.bodyBytesMax (${this.#options.bodyBytesMax}) at this end`
    const outcome = kind === FrameKind.Failure || kind === FrameKind.Answer ? 'failed' : 'unknown'
    const error = new RpcError('ERR_AETHER_RPC_TOO_LARGE', outcome, call.method!.name, text)
    if (kind === FrameKind.Item) {
      if (call.open) this.abandon(call, error)
      return
    }
    if (call.open) this.#fail(call, error)
    this.calls.release(call)
  }

  // ---- the link
  // ----------------------------------------------------------------------------------------------------------------

  #greeted(version: number, window: number, bytes: Uint8Array, offset: number, length: number): void {
    if (version !== PROTOCOL_VERSION)
      throw new MalformedFrameError(
        `the server speaks version ${version}, this client ${PROTOCOL_VERSION}; install the same release at both ends`,
      )
    if (this.incarnation !== 0) throw new MalformedFrameError('the server said hello twice')
    if (length < 8) throw new MalformedFrameError('a hello has no incarnation')
    const incarnation = new DataView(bytes.buffer, bytes.byteOffset).getFloat64(offset, true)
    if (!(incarnation > 0)) throw new MalformedFrameError('a hello has an invalid incarnation')
    this.incarnation = incarnation
    this.#peerWindow = window
    this.#hello.resolve()
  }

  /** Ask the server; `asker` is the subject of errors. */
  health(asker: string, deadline: number, signal: AbortSignal | undefined): Promise<ServerHealth> {
    return this.#pings.ask(asker, deadline, signal)
  }

  /** End the calls under way, then the link, gracefully. */
  async close(): Promise<void> {
    for (const call of this.calls.open())
      this.abandon(call, lost(call.method!.name, call.sent, new ClosedError('the channel')))
    await this.session.close()
  }

  ended(error: Error | undefined): void {
    clearInterval(this.#keepAlive)
    this.#unwatch?.()
    this.#timer.clear()
    for (const call of this.calls.open()) {
      const { sent } = call
      this.#fail(call, lost(call.method!.name, sent, error))
    }
    this.calls.lost()
    this.#pings.end(error)
    this.#hello.reject(error ?? new ClosedError('the connection'))
    this.#owner.ended(this, error)
  }
}

/** The budget of a call on the wire: whole microseconds, at least one. */
export function budgetOf(timeoutMs: number): number {
  const micros = Math.ceil(timeoutMs * 1000)
  return micros >= NO_BUDGET ? NO_BUDGET : Math.max(1, micros)
}

/** An answer, or an item of a stream of them, of which the method's codec can make nothing. */
function unreadable(method: string, error: unknown): RpcError {
  return new RpcError('ERR_AETHER_RPC_INVALID_RESPONSE', 'unknown', method, messageOfThrown(error), { cause: error })
}

function withResolvers(): { promise: Promise<void>; resolve: () => void; reject: (error: unknown) => void } {
  let resolve!: () => void
  let reject!: (error: unknown) => void
  const promise = new Promise<void>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
