import { performance } from 'node:perf_hooks'
import { messageOfThrown } from '../native/index.ts'
import { failures } from './body-codec.ts'
import { type Failure, failureOf, RpcError, ServiceError, textOf } from './errors.ts'
import { encodeExtension, NO_EXTENSION } from './extension.ts'
import { FailureCode, FrameKind } from './frame.ts'
import type { OutgoingFrame } from './outgoing-frame.ts'
import { nameOfFailure, traceCallEnd } from './rpc-trace.ts'
import type { ServerCall } from './server-call.ts'
import type { ServerCore } from './server-core.ts'
import type { Session } from './session.ts'

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
    // Encoding runs the program's code, within which the call may be cancelled.
    call.finished = true
    try {
      const frame = this.#session.frame(FrameKind.Answer, call.id)
      call.info.codec.encode(value, frame)
      frame.extension = this.#extensionOf(call)
      this.#last(call, frame)
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
    let frame: OutgoingFrame
    try {
      frame = this.#failure(call.id, failure)
    } catch (error) {
      const message = `${failure.message} (its details cannot be sent: ${messageOfThrown(error)})`
      frame = this.#failure(call.id, { ...failure, message, details: undefined })
    }
    frame.extension = this.#tryExtensionOf(call)
    this.#last(call, frame)
  }

  /** Refuse a call before its handler runs. */
  refuse(id: number, code: number, message: string): void {
    this.refuseWith(id, { code, message, reason: '', details: undefined })
  }

  refuseWith(id: number, failure: Failure): void {
    this.#session.send(this.#failure(id, failure))
  }

  #failure(id: number, { code, message, reason, details }: Failure): OutgoingFrame {
    const frame = this.#session.frame(FrameKind.Failure, id)
    frame.word = code
    failures.encode([message, reason, details], frame)
    return frame
  }

  /** The stream of answers is complete. */
  end(call: ServerCall): void {
    try {
      const frame = this.#session.frame(FrameKind.End, call.id)
      frame.extension = this.#extensionOf(call)
      this.#last(call, frame)
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

  #last(call: ServerCall, frame: OutgoingFrame): void {
    call.finished = true
    if (this.#calls.size > 0 && this.#calls.get(call.id) === call) this.#calls.delete(call.id)
    const failure = frame.kind === FrameKind.Failure ? frame.word : undefined
    if (call.kept === undefined) this.#session.send(frame)
    else this.#core.answers.finish(call.kept, frame, performance.now())
    if (call.traced !== 0)
      traceCallEnd(call, 'server', call.method, call.id, failure === undefined ? undefined : nameOfFailure(failure))
    const { meter } = call.info
    if (failure === undefined) meter?.answered(call.began)
    else meter?.failedWith(call.began, failure)
  }
}

/** The failure for a value that does not fit, with the schema's findings. */
export function refusalOf(error: unknown): Failure {
  const details = error instanceof RpcError ? error.issues : undefined
  const message = error instanceof RpcError ? textOf(error) : messageOfThrown(error)
  return { code: FailureCode.InvalidRequest, message, reason: '', details }
}
