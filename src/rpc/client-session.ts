import { randomBytes } from 'node:crypto'
import type { MessageLink } from '../messaging/index.ts'
import { type AetherError, ClosedError, messageOfThrown } from '../native/index.ts'
import { addAbortCallback, DeadlineTimer, timerDelay } from '../runtime/index.ts'
import { failures } from './body-codec.ts'
import { watchCalls } from './call-waits.ts'
import { checked } from './checked-answer.ts'
import { CallTable, type ClientCall } from './client-call.ts'
import { errorOf, type Failure, lost, MalformedFrameError, RpcError } from './errors.ts'
import { FrameKind, NO_BUDGET, PROTOCOL_VERSION } from './frame.ts'
import type { FrameHead } from './frame-head.ts'
import type { FrameTaker } from './frame-taker.ts'
import type { IncomingFrame } from './incoming-frame.ts'
import { IncomingStream } from './incoming-stream.ts'
import { invalidResponse, type MethodInfo, validate } from './method-info.ts'
import { Pings, type ServerHealth } from './pings.ts'
import { traceCall, traceCallEnd, tracesCalls } from './rpc-trace.ts'
import { Session, type SessionLimits } from './session.ts'
import { SilenceWatch } from './silence-watch.ts'
import { SpinTime } from './spin-time.ts'
import { Credit } from './stream-pump.ts'

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
    const { streamWindow } = this.#options
    this.session.say(FrameKind.Hello, { call: this.#greeting, word: PROTOCOL_VERSION, budget: streamWindow })
    const { keepAliveMs } = this.#options
    if (keepAliveMs === Infinity) return
    const text = `the server has been silent for ${2 * keepAliveMs} ms (options.keepAliveMs)`
    // The answer is something that is heard.
    const ask = (): void => void this.session.say(FrameKind.Ping)
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
   * Take a slot for a caller that waits from now on. The server has `timeoutMs`; {@link limit} ends the waiting.
   * @throws RpcError if too many calls are under way, or the link has just ended.
   */
  open(method: MethodInfo, timeoutMs: number): ClientCall {
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
    call.budget = budgetOf(timeoutMs)
    if (tracesCalls()) traceCall(call, method.name, call.id, this.incarnation, this.#greeting)
    return call
  }

  /** End the call after this time, if it has no answer. */
  limit(call: ClientCall, timeoutMs: number): void {
    if (timeoutMs === Infinity) return
    call.deadline = performance.now() + timeoutMs
    this.#timer.due(call.deadline)
  }

  /** @internal */
  get fenceMs(): number {
    return this.#options.fenceMs
  }

  /** Send the request; none if a stream of requests follows. What it throws has ended the call. */
  request(call: ClientCall, request: unknown, extension: Uint8Array | undefined): void {
    const { codec, number, streamsRequests } = call.method!
    const frame = this.session.frame(FrameKind.Request, call.id)
    frame.word = number
    frame.budget = call.budget
    frame.extension = extension
    if (!streamsRequests) codec.encode(request, frame)
    call.waiting = this.session.send(frame)
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
      consumed: (items) => void this.session.say(FrameKind.Credit, { call: id, word: items }),
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
      this.session.say(FrameKind.Cancel, { call: id })
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

  frame(frame: IncomingFrame): void {
    const { kind, call: callId, word } = frame
    switch (kind) {
      case FrameKind.Answer: {
        const call = this.calls.find(callId)
        if (call === undefined) return
        if (call.method!.streamsAnswers)
          throw new MalformedFrameError('a single answer came for a call whose answers are a stream')
        if (call.open) this.#answer(call, frame)
        this.calls.release(call)
        return
      }
      case FrameKind.Item: {
        const call = this.calls.find(callId)
        if (call?.answers !== undefined) this.#item(call, call.answers, frame)
        return
      }
      case FrameKind.Failure:
        this.#failure(frame)
        return
      case FrameKind.End:
        this.#streamEnd(frame)
        return
      case FrameKind.Credit:
        this.calls.find(callId)?.requestCredit?.add(word >>> 0)
        return
      case FrameKind.Hello:
        this.#greeted(frame)
        return
      case FrameKind.Pong:
        this.#pings.answered(frame, this.incarnation)
        return
      case FrameKind.Ping:
        this.session.say(FrameKind.Pong, { word })
        return
      case FrameKind.Drain:
        this.draining = true
        this.#owner.draining()
        return
      default:
        throw new MalformedFrameError(`a server must not send frames of kind ${kind}`)
    }
  }

  #answer(call: ClientCall, frame: IncomingFrame): void {
    const method = call.method!
    const { length } = frame
    let value: unknown
    try {
      value = method.codec.decode(frame)
    } catch (error) {
      this.#fail(call, unreadable(method.name, error))
      return
    }
    this.#told(call, frame)
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

  #item(call: ClientCall, answers: IncomingStream<unknown>, frame: IncomingFrame): void {
    const method = call.method!
    method.meter?.received(frame.length)
    let item: unknown
    try {
      item = method.codec.decode(frame)
    } catch (error) {
      this.abandon(call, unreadable(method.name, error))
      return
    }
    if (!answers.push(item)) throw new MalformedFrameError('more items came than there was credit for')
  }

  /** Metadata of the answer. The callback is the program's: what it throws fails its call, and only that. */
  #told(call: ClientCall, { extension: { metadata } }: IncomingFrame): void {
    if (metadata === undefined || call.onMetadata === undefined) return
    try {
      call.onMetadata(metadata)
    } catch (error) {
      this.#fail(call, error)
    }
  }

  #failure(frame: IncomingFrame): void {
    const call = this.calls.find(frame.call)
    if (call === undefined) return
    const error = this.#errorOf(call.method!, frame)
    if (call.open) this.#told(call, frame)
    if (call.open) this.#fail(call, error)
    this.calls.release(call)
  }

  #errorOf(method: MethodInfo, frame: IncomingFrame): AetherError {
    const code = frame.word
    const body = failures.decode(frame)
    if (!Array.isArray(body)) throw new MalformedFrameError('a failure has no message')
    const [message, reason, details] = body as unknown[]
    const failure: Failure = { code, message: messageOfThrown(message), reason: messageOfThrown(reason), details }
    return errorOf(method.name, method.streamsRequests, failure)
  }

  #streamEnd(frame: IncomingFrame): void {
    const call = this.calls.find(frame.call)
    if (call === undefined) return
    if (!call.method!.streamsAnswers)
      throw new MalformedFrameError('the end of a stream came for a call with one answer')
    if (call.open) this.#told(call, frame)
    const { answers, open } = call
    if (open) {
      if (call.traced !== 0) traceCallEnd(call, 'client', call.method!.name, call.id)
      call.method!.meter?.answered(call.began)
      call.leave()
      answers?.finish()
    }
    this.calls.release(call)
  }

  wants({ kind, call: callId }: FrameHead): number | undefined {
    if (kind !== FrameKind.Answer) throw new MalformedFrameError('a server may offer only answers')
    const call = this.calls.find(callId)
    return call?.open === true ? call.method!.codec.memoryFor(false) : undefined
  }

  /** The answer of a call without a waiting caller, or one for which there is no memory. */
  dropped({ call: callId }: FrameHead, shortage: unknown): void {
    const call = this.calls.find(callId)
    if (call === undefined) return
    const text = 'an answer came back, and this end has no memory for it'
    const cause = { cause: shortage }
    if (call.open) this.#fail(call, new RpcError('ERR_AETHER_RPC_OVERLOADED', 'failed', call.method!.name, text, cause))
    this.calls.release(call)
  }

  tooLong({ kind, call: callId }: FrameHead, totalBytes: number): void {
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

  #greeted({ word: version, budget: window, bytes, offset, length }: IncomingFrame): void {
    if (version !== PROTOCOL_VERSION)
      throw new MalformedFrameError(
        `the server speaks version ${version}, this client ${PROTOCOL_VERSION}; install the same release at both ends`,
      )
    if (this.incarnation !== 0) throw new MalformedFrameError('the server said hello twice')
    if (length < 8) throw new MalformedFrameError('a hello has no incarnation')
    const incarnation = new DataView(bytes.buffer, bytes.byteOffset).getFloat64(offset, true)
    if (!(incarnation > 0)) throw new MalformedFrameError('a hello has an invalid incarnation')
    this.incarnation = incarnation
    this.#peerWindow = window >>> 0
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
function budgetOf(timeoutMs: number): number {
  const micros = Math.ceil(timeoutMs * 1000)
  return micros >= NO_BUDGET >>> 0 ? NO_BUDGET : Math.max(1, micros) | 0
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
