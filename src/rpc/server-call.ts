import type { KeptAnswer } from './answer-table.ts'
import type { CallContext } from './call-context.ts'
import type { CallMemory, MemoryOwner, RemoteSource, RemoteTarget } from './call-memory.ts'
import type { Metadata } from './extension.ts'
import { type MethodKind, NO_BUDGET } from './frame.ts'
import type { IncomingFrame } from './incoming-frame.ts'
import type { IncomingStream } from './incoming-stream.ts'
import type { MethodInfo } from './method-info.ts'
import type { CallStart } from './method-meter.ts'
import type { RdmaBuffer } from './rdma-buffer.ts'
import type { Credit } from './stream-pump.ts'

const NO_METADATA: Metadata = Object.freeze({})

/** A call at the server: what its handler sees of it, and what the protocol keeps. */
export class ServerCall implements CallContext, MemoryOwner {
  readonly id: number
  readonly info: MethodInfo
  readonly session: number
  readonly metadata: Metadata
  readonly idempotencyKey: string | undefined
  /** Microseconds that the caller gave it. */
  readonly #budget: number
  #deadline = Number.NaN
  /** Set if its duration is measured. */
  began: CallStart | undefined
  answerMetadata: Metadata | undefined
  /** The server has sent its last frame: what the handler still returns is dropped. */
  finished = false
  requests: IncomingStream<unknown> | undefined
  answerCredit: Credit | undefined
  /** For a call with an idempotency key: where its answer is kept. */
  kept: KeptAnswer | undefined
  traced = 0
  /** Set for a call with buffers. */
  memory: CallMemory | undefined
  #controller: AbortController | undefined
  #abortReason: { readonly reason: unknown } | undefined

  constructor(info: MethodInfo, session: number, { call, budget, extension: { metadata, key } }: IncomingFrame) {
    this.id = call
    this.info = info
    this.session = session
    this.#budget = budget
    this.metadata = metadata ?? NO_METADATA
    this.idempotencyKey = key
  }

  /**
   * A time of `performance.now()`, counted from the first look. Reading the clock takes a good part of a short call.
   * Most calls never need it: their handler does not take the context, and answers before it returns.
   */
  get deadline(): number {
    if (Number.isNaN(this.#deadline))
      this.#deadline = this.#budget === NO_BUDGET ? Infinity : performance.now() + (this.#budget >>> 0) / 1000
    return this.#deadline
  }

  /** Count the deadline from now on. */
  beginTime(): void {
    void this.deadline
  }

  get source(): RemoteSource | undefined {
    return this.memory?.source
  }

  get target(): RemoteTarget | undefined {
    return this.memory?.target
  }

  /** A function of its own, because handlers destructure their contexts. */
  get allocate(): (lengthBytes: number) => RdmaBuffer {
    return (lengthBytes) => this.memory!.allocate(lengthBytes)
  }

  get register(): (bytes: Uint8Array) => RdmaBuffer {
    return (bytes) => this.memory!.register(bytes)
  }

  /** Undefined while a caller waits for it. */
  get abortReason(): { readonly reason: unknown } | undefined {
    return this.#abortReason
  }

  get method(): string {
    return this.info.name
  }

  get kind(): MethodKind {
    return this.info.kind
  }

  /** Made on first use: most handlers never look. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason.reason)
    }
    return this.#controller.signal
  }

  get remainingMs(): number {
    return this.deadline === Infinity ? Infinity : Math.max(0, this.deadline - performance.now())
  }

  /** Tell the handler that no caller waits for it. */
  abort(reason: unknown): void {
    if (this.#abortReason !== undefined) return
    this.#abortReason = { reason }
    this.#controller?.abort(reason)
    this.requests?.fail(reason)
    this.answerCredit?.stop()
  }
}
