import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { ArgumentError } from '../native/index.ts'
import { CallLoans, type LentParts } from './call-loans.ts'
import {
  type CallOptions,
  checkCallOptions,
  NO_OPTIONS,
  rdmaNames,
  type StreamCallOptions,
  type SyncCallOptions,
  streamNames,
  unaryNames,
} from './call-options.ts'
import { checkedSync } from './checked-answer.ts'
import type { ClientCall, SyncAnswer } from './client-call.ts'
import type { ClientSession } from './client-session.ts'
import type { AnswerStream, Stream } from './contract-types.ts'
import { RpcError, textOf } from './errors.ts'
import { encodeExtension, NO_EXTENSION, type Repetition } from './extension.ts'
import { FrameKind, type MethodKind } from './frame.ts'
import { type MethodInfo, methodsOf } from './method-info.ts'
import type { Reconnection } from './reconnection.ts'
import type { Service } from './service.ts'
import { pump } from './stream-pump.ts'
import { waitSync } from './wait-sync.ts'

/** A call as interceptors see it. */
export interface ClientCallInfo {
  /** `service/method`. */
  readonly method: string
  readonly kind: MethodKind
  /** The request, or a stream of requests. */
  readonly request: unknown
  readonly options: CallOptions
  /** True for a call that blocks: `next` then returns the answer itself. */
  readonly sync: boolean
}

/**
 * Wraps each call. `next` continues, with this call or a changed copy, and returns what the method returns. That is a
 * promise of the answer, a stream or, for a call that blocks, the answer.
 */
export type ClientInterceptor = (call: ClientCallInfo, next: (call: ClientCallInfo) => unknown) => unknown

let resolveTaken: (value: never) => void
let rejectTaken: (error: never) => void
/** The executor of every call's promise, so that none is made for each. */
function take(resolve: (value: never) => void, reject: (error: never) => void): void {
  resolveTaken = resolve
  rejectTaken = reject
}

/** Makes calls. */
export class Caller {
  readonly #connection: Reconnection
  readonly #timeoutMs: number
  readonly #interceptors: readonly ClientInterceptor[]

  constructor(connection: Reconnection, timeoutMs: number, interceptors: readonly ClientInterceptor[]) {
    this.#connection = connection
    this.#timeoutMs = timeoutMs
    this.#interceptors = interceptors
  }

  client(service: Service): Readonly<Record<string, unknown>> {
    const functions: Record<string, unknown> = {}
    for (const [name, method] of methodsOf(service, 'client')) {
      functions[name] = this.#function(method, false)
      if (method.kind === 'unary') functions[`${name}Sync`] = this.#function(method, true)
    }
    return functions
  }

  #function(method: MethodInfo, sync: boolean): (request: unknown, options?: CallOptions) => unknown {
    const plain = this.#plain(method, sync)
    if (this.#interceptors.length === 0) return plain
    const { name, kind } = method
    const innermost = ({ request, options }: ClientCallInfo): unknown => plain(request, options)
    const chain = this.#interceptors.reduceRight<(call: ClientCallInfo) => unknown>(
      (next, interceptor) => (call) => interceptor(call, next),
      innermost,
    )
    return (request, options) => {
      const result = chain({ method: name, kind, request, options: options ?? NO_OPTIONS, sync })
      if (sync && result instanceof Promise) throw asyncInterceptor(name, result)
      return result
    }
  }

  #plain(method: MethodInfo, sync: boolean): (request: unknown, options?: CallOptions) => unknown {
    if (sync) return (request, options) => this.#unarySync(method, request, options ?? NO_OPTIONS)
    switch (method.kind) {
      case 'unary':
        return (request, options) => this.#unary(method, request, options ?? NO_OPTIONS)
      case 'rdma':
        return (request, options) => this.#rdma(method, request, options ?? NO_OPTIONS)
      case 'client-stream':
        return (requests, options) => this.#clientStream(method, requests as Stream<unknown>, options ?? NO_OPTIONS)
      default:
        return (request, options) => this.#answerStream(method, request, options ?? NO_OPTIONS)
    }
  }

  // ---- unary
  // -------------------------------------------------------------------------------------------------------------------

  #unary(method: MethodInfo, request: unknown, options: CallOptions): Promise<unknown> {
    const session = this.#connection.current
    try {
      checkCallOptions(method.name, options, unaryNames)
      if (session === undefined || options.idempotencyKey !== undefined)
        return this.#unaryLater(method, request, options)
      const call = this.#begin(session, method, options, options.timeoutMs ?? this.#timeoutMs)
      return this.#answer(session, call, request, options)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Send the request of a call with one answer. */
  #answer(
    session: ClientSession,
    call: ClientCall,
    request: unknown,
    options: CallOptions,
    extension?: Uint8Array,
  ): Promise<unknown> {
    const promise = new Promise<unknown>(take)
    call.resolve = resolveTaken
    call.reject = rejectTaken
    this.#send(session, call, request, options, extension)
    return promise
  }

  #begin(session: ClientSession, method: MethodInfo, options: CallOptions, timeoutMs: number): ClientCall {
    const call = this.#beginSync(session, method, options, timeoutMs)
    session.limit(call, timeoutMs)
    return call
  }

  /** A caller that blocks looks at the clock by itself. */
  #beginSync(session: ClientSession, method: MethodInfo, options: CallOptions, timeoutMs: number): ClientCall {
    const { signal, onMetadata } = options
    signal?.throwIfAborted()
    const call = session.open(method, timeoutMs)
    call.onMetadata = onMetadata
    return call
  }

  #send(
    session: ClientSession,
    call: ClientCall,
    request: unknown,
    options: CallOptions,
    extension?: Uint8Array,
  ): void {
    try {
      session.request(call, request, extension ?? extensionOf(options))
    } catch (error) {
      session.discard(call, error)
      throw error
    }
    if (options.signal) session.watch(call, options.signal)
  }

  /** For a connection that is not there yet, or a call that may be repeated over the next one. */
  async #unaryLater(method: MethodInfo, request: unknown, options: CallOptions): Promise<unknown> {
    const timeoutMs = options.timeoutMs ?? this.#timeoutMs
    const start = performance.now()
    const deadline = start + timeoutMs
    const key = options.idempotencyKey === true ? randomUUID() : options.idempotencyKey
    let first: { readonly incarnation: number; readonly at: number; readonly error: unknown } | undefined
    for (;;) {
      const session = await this.#sessionFor(method, deadline, options.signal, first?.error)
      const repeated = first && { incarnation: first.incarnation, ageMs: performance.now() - first.at }
      const at = performance.now()
      try {
        const extension = key === undefined ? undefined : extensionOf(options, key, repeated)
        const call = this.#begin(session, method, options, leftUntil(deadline))
        return await this.#answer(session, call, request, options, extension)
      } catch (error) {
        const isRepeatable = isLost(error) && (key !== undefined || error.outcome === 'not-sent')
        if (!isRepeatable || !this.#connection.renews) throw first === undefined ? error : worst(error)
        if (error.outcome === 'unknown') first ??= { incarnation: session.incarnation, at, error }
      }
    }
  }

  /** The next session; where the call has left once, what is not known remains so. */
  async #sessionFor(
    method: MethodInfo,
    deadline: number,
    signal: AbortSignal | undefined,
    before?: unknown,
  ): Promise<ClientSession> {
    try {
      return await this.#connection.session(method.name, deadline, signal)
    } catch (error) {
      if (before === undefined) throw method.refused(error)
      throw signal?.aborted === true ? error : before
    }
  }

  #unarySync(method: MethodInfo, request: unknown, options: SyncCallOptions): unknown {
    // It is not aborted while it blocks, but an aborted signal refuses it.
    checkCallOptions(method.name, options, streamNames)
    const session = this.#connection.current
    if (session === undefined)
      throw method.refused(
        new RpcError(
          'ERR_AETHER_RPC_UNAVAILABLE',
          'not-sent',
          method.name,
          'there is no connection; await channel.ready() before a blocking call',
        ),
      )
    const timeoutMs = options.timeoutMs ?? this.#timeoutMs
    // Most answers come before it has to look at the clock, which takes as long as a part of the call.
    const call = this.#beginSync(session, method, options, timeoutMs)
    const answer: SyncAnswer = { done: false, value: undefined, error: undefined, unchecked: undefined }
    call.sync = answer
    this.#send(session, call, request, options)
    waitSync(session, call, answer, timeoutMs)
    if (answer.error !== undefined) throw answer.error
    return answer.unchecked === undefined ? answer.value : checkedSync(answer.unchecked, answer.value)
  }

  // ---- buffers
  // -----------------------------------------------------------------------------------------------------------------

  /** Ends when the server reaches the buffers no more, however the call itself has ended. */
  async #rdma(method: MethodInfo, request: unknown, options: StreamCallOptions & LentParts): Promise<unknown> {
    checkCallOptions<StreamCallOptions & LentParts>(method.name, options, rdmaNames)
    const timeoutMs = options.timeoutMs ?? this.#timeoutMs
    const deadline = performance.now() + timeoutMs
    const { current } = this.#connection
    const session = current ?? (await this.#sessionFor(method, deadline, options.signal))
    options.signal?.throwIfAborted()
    const loans = new CallLoans(session.session.link, method, options)
    let last: Promise<void> | undefined
    try {
      const { metadata } = options
      // It may throw, and a call that has begun would then have no end.
      const extension = encodeExtension({ ...NO_EXTENSION, metadata, ...loans.parts })
      const call = this.#begin(session, method, options, leftUntil(deadline))
      const isLast = new Promise<void>((say) => {
        call.onLast = say
      })
      const answer = this.#answer(session, call, request, options, extension)
      last = isLast
      return await answer
    } finally {
      await loans.takeBack(last, session.fenceMs, method.name)
    }
  }

  // ---- streams
  // -----------------------------------------------------------------------------------------------------------------

  async #clientStream(method: MethodInfo, requests: Stream<unknown>, options: StreamCallOptions): Promise<unknown> {
    checkStream(method.name, requests)
    checkCallOptions(method.name, options, streamNames)
    const deadline = deadlineOf(options)
    const session = await this.#sessionFor(method, deadline, options.signal)
    const call = this.#begin(session, method, options, leftUntil(deadline))
    const answer = this.#answer(session, call, undefined, options)
    void this.#pumpRequests(session, call, requests)
    return answer
  }

  #answerStream(method: MethodInfo, request: unknown, options: StreamCallOptions): AnswerStream<unknown> {
    if (method.streamsRequests) checkStream(method.name, request as Stream<unknown>)
    checkCallOptions(method.name, options, streamNames)
    const session = this.#connection.current
    if (session === undefined) return this.#answersLater(method, request, options, deadlineOf(options))
    const call = this.#begin(session, method, options, options.timeoutMs ?? Infinity)
    return this.#answersTo(session, call, request, options)
  }

  async *#answersLater(
    method: MethodInfo,
    request: unknown,
    options: StreamCallOptions,
    deadline: number,
  ): AnswerStream<unknown> {
    const session = await this.#sessionFor(method, deadline, options.signal)
    const call = this.#begin(session, method, options, leftUntil(deadline))
    yield* this.#answersTo(session, call, request, options)
  }

  #answersTo(
    session: ClientSession,
    call: ClientCall,
    request: unknown,
    options: StreamCallOptions,
  ): AnswerStream<unknown> {
    const answers = session.answersOf(call)
    this.#send(session, call, request, options)
    if (call.method!.streamsRequests) void this.#pumpRequests(session, call, request as Stream<unknown>)
    return answers
  }

  async #pumpRequests(session: ClientSession, call: ClientCall, requests: Stream<unknown>): Promise<void> {
    const { id } = call
    const { codec } = call.method!
    const credit = session.creditOf(call)
    const frames = session.session
    try {
      const isAll = await pump(requests, credit, frames, `the requests of '${call.method!.name}'`, (item) =>
        codec.sendItem(frames, id, item),
      )
      if (isAll) frames.say(FrameKind.End, { call: id })
    } catch (error) {
      if (session.calls.find(id) === call && call.open) session.abandon(call, error)
    }
  }
}

function isLost(error: unknown): error is RpcError {
  return error instanceof RpcError && error.code === 'ERR_AETHER_RPC_CONNECTION_LOST'
}

/** An error of a repetition: what was sent before may have taken effect all the same. */
function worst(error: unknown): unknown {
  if (!(error instanceof RpcError) || error.outcome === 'failed' || error.outcome === 'unknown') return error
  const text = `${textOf(error)}; an earlier try may have taken effect`
  return new RpcError(error.code, 'unknown', error.method, text, { cause: error, issues: error.issues })
}

function extensionOf(options: CallOptions, key?: string, repeated?: Repetition): Uint8Array | undefined {
  const { metadata } = options
  if (metadata === undefined && key === undefined) return undefined
  return encodeExtension({ ...NO_EXTENSION, metadata, key, repeated })
}

/** When the time of a call with streams is up, from now on. */
function deadlineOf({ timeoutMs = Infinity }: StreamCallOptions): number {
  return performance.now() + timeoutMs
}

/** What is left of a call's time, as much as a call has to have. */
function leftUntil(deadline: number): number {
  return Math.max(0.001, deadline - performance.now())
}

/** What a method takes whose requests are a stream. */
function checkStream(method: string, requests: Stream<unknown>): void {
  // A text is an iterable, and so may a function be.
  const source: object = Object(requests)
  if (!ArrayBuffer.isView(source) && (Symbol.asyncIterator in source || Symbol.iterator in source)) return
  throw new ArgumentError(
    'requests',
    `${method} takes its requests from an iterable or an async iterable, such as an array; pass one`,
  )
}

function asyncInterceptor(method: string, result: Promise<unknown>): ArgumentError {
  result.catch(() => undefined)
  return new ArgumentError(
    'options.interceptors',
    `${method}Sync blocks, so its interceptors must not return a promise; call '${method}' instead`,
  )
}
