import type { MessageLink } from '../messaging/index.ts'
import { ArgumentError, messageOfThrown } from '../native/index.ts'
import { CallMemory } from './call-memory.ts'
import type { Stream } from './contract-types.ts'
import { MalformedFrameError, RpcError } from './errors.ts'
import type { Extension } from './extension.ts'
import { FailureCode, FrameKind, kindOfNumber, numbersOfKinds, PROTOCOL_VERSION } from './frame.ts'
import type { FrameHead } from './frame-head.ts'
import type { FrameTaker } from './frame-taker.ts'
import { BodyMemory, type IncomingFrame } from './incoming-frame.ts'
import { IncomingStream } from './incoming-stream.ts'
import { KeyedCalls } from './keyed-calls.ts'
import { LastWords, refusalOf } from './last-words.ts'
import { invalidRequest, validate } from './method-info.ts'
import { traceCallEnd, traceServing, tracesCalls } from './rpc-trace.ts'
import { ServerCall } from './server-call.ts'
import type { ServedMethod, ServerCore } from './server-core.ts'
import { Session } from './session.ts'
import { SilenceWatch } from './silence-watch.ts'
import { Credit, pump } from './stream-pump.ts'

/** Frames that wait for room, of one client. Beyond, nothing more is taken of it until they have left. */
const WAITING_MAX = 1024
/** Tells the ping behind a drain from those that ask for a sign of life. */
const DRAIN_PING = 1

/** The server's end of a link. */
export class ServerSession implements FrameTaker {
  readonly session: Session
  readonly number: number
  readonly #core: ServerCore
  readonly #onEnded: () => void
  /** Calls whose handlers have not answered at once, until their last words; those with a key are `#keyed`. */
  readonly #calls = new Map<number, ServerCall>()
  readonly #lastWords: LastWords
  readonly #keyed: KeyedCalls
  readonly #silence: SilenceWatch
  /** Wait until the client has heard that this server drains. */
  readonly #drained: (() => void)[] = []
  /** Handlers that run, also of calls that have had their last word. */
  #running = 0
  #greeted = false
  /** The number that the client drew for this connection. */
  #greeting = 0
  #clientWindow = 0
  #lastNumber = -1
  #lastServed: ServedMethod | undefined

  constructor(link: MessageLink, number: number, core: ServerCore, onEnded: () => void) {
    this.number = number
    this.#core = core
    this.#onEnded = onEnded
    this.session = new Session(link, this, core.options)
    this.#silence = new SilenceWatch(
      this.session,
      `the client was silent for ${2 * core.options.keepAliveMs} ms`,
      () => void this.session.say(FrameKind.Ping),
    )
    this.#lastWords = new LastWords(this.session, core, this.#calls)
    this.#keyed = new KeyedCalls(core, this.session, (id, code, message) => this.#lastWords.refuse(id, code, message))
  }

  start(): void {
    this.session.start()
    const incarnation = new Uint8Array(Float64Array.of(this.#core.incarnation).buffer)
    const hello = this.session.frame(FrameKind.Hello)
    hello.word = PROTOCOL_VERSION
    hello.budget = this.#core.options.streamWindow
    hello.setBody(incarnation, true)
    this.session.send(hello)
    if (this.#core.draining) void this.drain()
  }

  /**
   * Tell the client that new calls are refused. Resolves when it has heard of it, or has ended. Its answer to the ping
   * comes behind all calls that it sent before.
   */
  drain(): Promise<void> {
    this.session.say(FrameKind.Drain)
    this.session.say(FrameKind.Ping, { word: DRAIN_PING })
    return new Promise((resolve) => this.#drained.push(resolve))
  }

  // ---- frames
  // ------------------------------------------------------------------------------------------------------------------

  frame(frame: IncomingFrame): void {
    if (frame.kind === FrameKind.Request && this.#greeted) this.#request(frame)
    else this.#control(frame)
    this.#holdBack()
  }

  #control(frame: IncomingFrame): void {
    const { kind, call: id, word } = frame
    if (!this.#greeted && kind !== FrameKind.Hello) throw new MalformedFrameError('a frame came before the hello')
    switch (kind) {
      case FrameKind.Hello:
        this.#hello(frame)
        return
      case FrameKind.Item:
        this.#item(frame)
        return
      case FrameKind.End:
        this.#calls.get(id)?.requests?.finish()
        return
      case FrameKind.Credit:
        this.#calls.get(id)?.answerCredit?.add(word >>> 0)
        return
      case FrameKind.Cancel:
        this.#cancel(id)
        return
      case FrameKind.Ping:
        this.session.say(FrameKind.Pong, { call: this.#core.draining ? 1 : 0, word, budget: this.#core.active })
        return
      case FrameKind.Pong:
        if (word === DRAIN_PING) this.#hasDrained()
        return
      default:
        throw new MalformedFrameError(`a client must not send frames of kind ${kind}`)
    }
  }

  #hasDrained(): void {
    for (const resolve of this.#drained.splice(0)) resolve()
  }

  #hello({ call: greeting, word: version, budget: window }: FrameHead): void {
    if (version !== PROTOCOL_VERSION)
      throw new MalformedFrameError(
        `the client speaks version ${version}, this server ${PROTOCOL_VERSION}; install the same release at both ends`,
      )
    if (this.#greeted) throw new MalformedFrameError('the client said hello twice')
    this.#greeted = true
    this.#greeting = greeting
    this.#clientWindow = window >>> 0
  }

  #item(frame: IncomingFrame): void {
    const call = this.#calls.get(frame.call)
    if (call?.requests === undefined) return
    call.info.meter?.received(frame.length)
    let item: unknown
    try {
      item = call.info.codec.decode(frame)
    } catch (error) {
      this.#refuseItem(call, error)
      return
    }
    if (!call.requests.push(item)) throw new MalformedFrameError('more items came than there was credit for')
  }

  /** It does not fit: the call ends, though its handler may catch that. */
  #refuseItem(call: ServerCall, error: unknown): void {
    this.#lastWords.fail(call, refusalOf(error))
    call.abort(error)
  }

  /** After whatever of a client was answered. */
  #holdBack(): void {
    if (this.session.waiting <= WAITING_MAX) return
    const { link } = this.session
    link.pause()
    void this.session.emptied().then(() => link.resume())
  }

  #cancel(id: number): void {
    this.session.unwanted(id, undefined)
    const call = this.#calls.get(id)
    if (call === undefined) {
      this.#keyed.cancel(id)
      return
    }
    const reason = new RpcError('ERR_AETHER_RPC_CANCELLED', 'unknown', call.method, 'the caller cancelled the call')
    this.#end(call, FailureCode.Cancelled, 'cancelled', reason)
  }

  /** The time of a call is up. */
  expire(call: ServerCall): void {
    const reason = new RpcError('ERR_AETHER_RPC_DEADLINE', 'unknown', call.method, 'the time of the call is up')
    this.#end(call, FailureCode.Deadline, 'its time was up at the server while the handler ran', reason)
  }

  /** Says the last of a call whose handler still runs. */
  #end(call: ServerCall, code: number, message: string, reason: unknown): void {
    // A keyed call's answer is still wanted: its handler's last word is kept.
    if (call.kept === undefined) this.#lastWords.fail(call, { code, message, reason: '', details: undefined })
    call.abort(reason)
  }

  wants({ kind, word: number }: FrameHead): number | undefined {
    if (kind !== FrameKind.Request || !this.#greeted)
      throw new MalformedFrameError('a client may offer only requests, after its hello')
    return this.#core.methods.get(number)?.info.codec.memoryFor(true) ?? BodyMemory.Lent
  }

  /** The caller cancelled while its request was fetched, or there is no memory for it. */
  dropped({ call: id }: FrameHead, shortage: unknown): void {
    if (shortage === undefined) this.#lastWords.refuse(id, FailureCode.Cancelled, 'it was cancelled before it arrived')
    else
      this.#lastWords.refuse(
        id,
        FailureCode.Overloaded,
        `the server has no memory for the request: ${messageOfThrown(shortage)}`,
      )
    this.#holdBack()
  }

  tooLong({ kind, call: id }: FrameHead, totalBytes: number): void {
    const message = `${totalBytes} bytes are more than the server accepts (options.bodyBytesMax ${this.#core.options.bodyBytesMax})`
    const failure = { code: FailureCode.TooLarge, message, reason: '', details: undefined }
    if (kind === FrameKind.Request && !this.#calls.has(id)) {
      this.#lastWords.refuseWith(id, failure)
      this.#holdBack()
      return
    }
    const call = this.#calls.get(id)
    if (call === undefined) return
    this.#lastWords.fail(call, failure)
    call.abort(new RpcError('ERR_AETHER_RPC_TOO_LARGE', 'failed', call.method, message))
  }

  // ---- a request
  // ---------------------------------------------------------------------------------------------------------------

  #request(frame: IncomingFrame): void {
    const { call: id, word: number, extension } = frame
    const served = this.#served(number)
    if (served === undefined) {
      this.#lastWords.refuse(id, FailureCode.UnknownMethod, this.#unserved(number))
      return
    }
    if (this.#calls.size + this.#keyed.size > 0 && (this.#calls.has(id) || this.#keyed.has(id)))
      throw new MalformedFrameError('a call began that was already under way')
    const { info } = served
    const { key } = extension
    const { meter } = info
    const began = meter?.begin(frame.length)
    // It takes no handler, so the server is not too busy for it.
    if (key !== undefined && info.kind === 'unary' && this.#keyed.isRepeated(frame)) return
    if (this.#isRefused(id)) {
      meter?.failedWith(began, this.#core.draining ? FailureCode.Draining : FailureCode.Overloaded)
      return
    }
    const call = new ServerCall(info, this.number, frame)
    if (served.looksAtTime) call.beginTime()
    if (tracesCalls()) traceServing(call, info.name, id, this.#core.incarnation, this.#greeting)
    call.began = began
    if (info.buffers !== undefined && !this.#reach(call, extension)) return
    if (info.streamsRequests) {
      this.#runStream(call, served, this.#requestsOf(call))
      return
    }
    let request: unknown
    try {
      request = info.codec.decodeRequest(frame)
      if (info.request !== undefined)
        request = validate(info.request, request, (issues) => invalidRequest(info.name, issues))
    } catch (error) {
      this.#lastWords.fail(call, refusalOf(error))
      return
    }
    if (key !== undefined && info.kind === 'unary') this.#keyed.keep(call)
    if (isThenable(request)) this.#runLater(call, served, request)
    else if (!info.streamsAnswers) this.#run(call, served, request)
    else this.#runStream(call, served, request)
  }

  /** Most calls are of the method of the one before. */
  #served(number: number): ServedMethod | undefined {
    if (number !== this.#lastNumber) {
      this.#lastServed = this.#core.methods.get(number)
      // What is not served may be later.
      this.#lastNumber = this.#lastServed === undefined ? -1 : number
    }
    return this.#lastServed
  }

  /** Why no method has this number: the contracts of both ends may have drifted apart. */
  #unserved(number: number): string {
    for (const [kind, other] of numbersOfKinds(number)) {
      const served = this.#core.methods.get(other)
      if (served === undefined) continue
      const drift = `the server has it as ${kind}, but the client calls it as ${kindOfNumber(number)}`
      return `${drift}; use the same contract at both ends`
    }
    return `no method is served under number ${number >>> 0}`
  }

  /** The caller's memory for the handler; false where the call names other parts than its method takes. */
  #reach(call: ServerCall, { source, target }: Extension): boolean {
    const { info } = call
    try {
      if (info.takes('source') !== (source !== undefined) || info.takes('target') !== (target !== undefined))
        throw new ArgumentError('buffers', `the method takes ${info.buffers}, but the call names other parts of memory`)
      call.memory = new CallMemory(this.session.link, call, { source, target })
      return true
    } catch (error) {
      this.#lastWords.fail(call, refusalOf(error))
      return false
    }
  }

  /** Whether the server takes no calls just now. */
  #isRefused(id: number): boolean {
    const { draining, active, options } = this.#core
    if (draining) this.#lastWords.refuse(id, FailureCode.Draining, 'the server is draining and takes no new calls')
    else if (active >= options.callsMax)
      this.#lastWords.refuse(id, FailureCode.Overloaded, `${active} calls run at the server, its maximum`)
    else if (this.#running >= options.callsPerSessionMax) {
      const { callsPerSessionMax } = options
      const message = `the server runs the maximum of calls for one client (options.callsPerSessionMax ${callsPerSessionMax})`
      this.#lastWords.refuse(id, FailureCode.Overloaded, message)
    } else return false
    return true
  }

  /** A handler that answers at once is over here. */
  #run(call: ServerCall, served: ServedMethod, request: unknown): void {
    let answer: unknown
    try {
      const { memory } = call
      answer =
        memory === undefined ? served.handler(request, call) : memory.settled(() => served.handler(request, call))
    } catch (error) {
      this.#lastWords.threw(call, error)
      return
    }
    if (!isThenable(answer)) {
      this.#lastWords.answer(call, answer)
      return
    }
    this.#enter(call)
    answer.then(
      (value) => {
        this.#leave(call)
        this.#lastWords.answer(call, value)
      },
      (error: unknown) => {
        this.#leave(call)
        this.#lastWords.threw(call, error)
      },
    )
  }

  /** For requests whose schema takes time. */
  #runLater(call: ServerCall, served: ServedMethod, request: PromiseLike<unknown>): void {
    this.#enter(call)
    request.then(
      (value) => {
        this.#leave(call)
        if (call.abortReason !== undefined && !isAwaited(call)) this.#lastWords.neverRan(call)
        else if (!call.info.streamsAnswers) this.#run(call, served, value)
        else this.#runStream(call, served, value)
      },
      (error: unknown) => {
        this.#leave(call)
        this.#lastWords.fail(call, refusalOf(error))
      },
    )
  }

  #runStream(call: ServerCall, served: ServedMethod, request: unknown): void {
    if (!call.info.streamsAnswers) {
      // The handler takes the requests out of the table's call, so it has to be there first.
      this.#enter(call)
      const answer = (async () => served.handler(request, call))()
      answer.then(
        (value) => {
          this.#leave(call)
          this.#lastWords.answer(call, value)
        },
        (error: unknown) => {
          this.#leave(call)
          this.#lastWords.threw(call, error)
        },
      )
      return
    }
    this.#enter(call)
    call.answerCredit = new Credit(this.#clientWindow)
    void this.#pumpAnswers(call, served, request)
  }

  async #pumpAnswers(call: ServerCall, served: ServedMethod, request: unknown): Promise<void> {
    const { codec } = call.info
    const { session } = this
    let isAll: boolean
    try {
      isAll = await pump(
        served.handler(request, call) as Stream<unknown>,
        call.answerCredit!,
        session,
        `the answers of '${call.method}'`,
        (item) => codec.sendItem(session, call.id, item),
      )
    } catch (error) {
      this.#leave(call)
      this.#lastWords.threw(call, error)
      return
    }
    this.#leave(call)
    if (isAll) this.#lastWords.end(call)
  }

  #requestsOf(call: ServerCall): IncomingStream<unknown> {
    const { info, id } = call
    const requests = new IncomingStream<unknown>(this.#core.options.streamWindow, {
      consumed: (items) => {
        if (!call.finished) this.session.say(FrameKind.Credit, { call: id, word: items })
      },
      abandoned: (error) => {
        if (error !== undefined) this.#refuseItem(call, error)
      },
      checked: (item) =>
        info.request === undefined ? item : validate(info.request, item, (issues) => invalidRequest(info.name, issues)),
    })
    call.requests = requests
    return requests
  }

  #enter(call: ServerCall): void {
    this.#running += 1
    if (call.kept === undefined) this.#calls.set(call.id, call)
    this.#core.enter(call, this)
  }

  /** The handler is done. */
  #leave(call: ServerCall): void {
    this.#running -= 1
    if (this.#calls.get(call.id) === call) this.#calls.delete(call.id)
    this.#core.leave(call)
  }

  // ---- the link
  // ----------------------------------------------------------------------------------------------------------------

  /** Called every `keepAliveMs`. */
  keepAliveTurn(): void {
    this.#silence.turn()
  }

  ended(error: Error | undefined): void {
    this.#hasDrained()
    this.#keyed.clear()
    const calls = [...this.#calls.values()]
    this.#calls.clear()
    for (const call of calls) {
      call.finished = true
      if (call.traced !== 0) traceCallEnd(call, 'server', call.method, call.id, 'CONNECTION_LOST')
      call.abort(
        new RpcError(
          'ERR_AETHER_RPC_CONNECTION_LOST',
          'unknown',
          call.method,
          'the connection of the caller has ended',
          { cause: error },
        ),
      )
    }
    this.#onEnded()
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  // Bytes, of which there are most, first: looking for what they do not have takes the engine longest.
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return false
  return typeof (value as { then?: unknown }).then === 'function'
}

/** True if a caller waits for the answer of its key. */
function isAwaited({ kept }: ServerCall): boolean {
  return kept !== undefined && kept.waiters.size > 0
}
