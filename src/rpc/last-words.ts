import { performance } from 'node:perf_hooks'
import { messageOfThrown } from '../native/index.ts'
import type { LastFrame } from './answer-table.ts'
import { type Failure, failureOf, RpcError, ServiceError, textOf } from './errors.ts'
import { encodeExtension, NO_EXTENSION } from './extension.ts'
import { FailureCode, FrameKind } from './frame.ts'
import { nameOfFailure, traceCallEnd } from './rpc-trace.ts'
import type { ServerCall } from './server-call.ts'
import type { ServerCore } from './server-core.ts'
import { NO_BYTES, type Session } from './session.ts'
import { values } from './value-codec.ts'

/**
 * What the server sends last for each call of one client: its answer, the end of its stream, or its failure. A call has
 * one last frame; later ones are dropped.
 */
export class LastWords {
  readonly #session: Session
  readonly #core: ServerCore
  readonly #calls: Map<number, ServerCall>

  /** `calls`: those that wait for their last frame; finished ones are removed. */
  constructor(session: Session, core: ServerCore, calls: Map<number, ServerCall>) {
    this.#session = session
    this.#core = core
    this.#calls = calls
  }

  answer(call: ServerCall, value: unknown): void {
    if (call.finished) return
    const { codec } = call.info
    try {
      if (call.kept === undefined && call.answerMetadata === undefined) {
        call.finished = true
        codec.send(this.#session, FrameKind.Answer, call.id, 0, 0, value)
        if (call.traced !== 0) traceCallEnd(call, 'server', call.method, call.id)
        call.info.meter?.answered(call.began)
        return
      }
      const body = codec.codec.encode(value)
      const extension = this.#extensionOf(call)
      this.#last(call, { kind: FrameKind.Answer, word: 0, extension, body }, codec.keeps)
    } catch (error) {
      this.#unsendable(call, error)
    }
  }

  threw(call: ServerCall, error: unknown): void {
    if (call.finished) return
    if (!(error instanceof ServiceError)) this.#core.failed(error, call)
    this.fail(call, failureOf(error))
  }

  /** No caller waits for it, and its handler has not begun. The next caller with its key starts again. */
  neverRan(call: ServerCall): void {
    if (call.finished) return
    call.finished = true
    call.info.meter?.failedWith(call.began, FailureCode.Cancelled)
    if (call.kept !== undefined) this.#core.answers.drop(call.kept)
  }

  fail(call: ServerCall, failure: Failure): void {
    if (call.finished) return
    const { memory } = call
    if (memory?.busy === true) {
      // The caller takes the last word for "nothing more is under way in your memory".
      memory.close()
      void memory.idle().then(() => this.fail(call, failure))
      return
    }
    memory?.close()
    let body: Uint8Array
    try {
      body = failureBody(failure)
    } catch (error) {
      const message = `${failure.message} (its details cannot be sent: ${messageOfThrown(error)})`
      body = failureBody({ ...failure, message, details: undefined })
    }
    this.#last(
      call,
      { kind: FrameKind.Failure, word: failure.code, extension: this.#tryExtensionOf(call), body },
      false,
    )
  }

  /** Refuse a call before its handler runs. */
  refuse(id: number, code: number, message: string): void {
    this.refuseWith(id, { code, message, reason: '', details: undefined })
  }

  refuseWith(id: number, failure: Failure): void {
    this.#session.send(FrameKind.Failure, id, failure.code, 0, undefined, failureBody(failure), false)
  }

  /** The stream of answers is complete. */
  end(call: ServerCall): void {
    try {
      this.#last(call, { kind: FrameKind.End, word: 0, extension: this.#extensionOf(call), body: NO_BYTES }, true)
    } catch (error) {
      this.#unsendable(call, error)
    }
  }

  /** What the handler gave, or its metadata, cannot travel: that is told instead. */
  #unsendable(call: ServerCall, error: unknown): void {
    call.finished = false
    this.#core.failed(error, call)
    const message = `the answer cannot be sent: ${messageOfThrown(error)}`
    call.answerMetadata = undefined
    this.fail(call, { code: FailureCode.InvalidResponse, message, reason: '', details: undefined })
  }

  /**
   * It comes before anything says that the call is over. @throws ArgumentError where the metadata are no texts, or too
   * long for the link.
   */
  #extensionOf({ answerMetadata }: ServerCall): Uint8Array | undefined {
    if (answerMetadata === undefined) return undefined
    const extension = encodeExtension({ ...NO_EXTENSION, metadata: answerMetadata })
    this.#session.checkExtension(extension)
    return extension
  }

  /** Of a failure: what cannot be told besides is left out. */
  #tryExtensionOf(call: ServerCall): Uint8Array | undefined {
    try {
      return this.#extensionOf(call)
    } catch {
      return undefined
    }
  }

  #last(call: ServerCall, frame: LastFrame, keeps: boolean): void {
    call.finished = true
    if (call.traced !== 0)
      traceCallEnd(
        call,
        'server',
        call.method,
        call.id,
        frame.kind === FrameKind.Failure ? nameOfFailure(frame.word) : undefined,
      )
    const { meter } = call.info
    if (frame.kind === FrameKind.Failure) meter?.failedWith(call.began, frame.word)
    else meter?.answered(call.began)
    if (this.#calls.get(call.id) === call) this.#calls.delete(call.id)
    const { kept } = call
    if (kept === undefined) this.#session.send(frame.kind, call.id, frame.word, 0, frame.extension, frame.body, keeps)
    else this.#core.answers.finish(kept, frame, performance.now())
  }
}

/** The failure for a value that does not fit, with the schema's findings. */
export function refusalOf(error: unknown): Failure {
  const details = error instanceof RpcError ? error.issues : undefined
  const message = error instanceof RpcError ? textOf(error) : messageOfThrown(error)
  return { code: FailureCode.InvalidRequest, message, reason: '', details }
}

function failureBody({ message, reason, details }: Failure): Uint8Array {
  return values.encode([message, reason, details])
}
