import type { AnswerTable, AnswerTableLimits } from './answer-table.ts'
import type { MethodInfo } from './method-info.ts'
import type { ServerCall } from './server-call.ts'
import type { SessionLimits } from './session.ts'

/** A method with its handler, interceptors included. */
export interface ServedMethod {
  readonly info: MethodInfo
  readonly handler: (request: unknown, call: ServerCall) => unknown
  /**
   * True if the handler, or an interceptor around it, may ask for the remaining time: it then counts from the arrival
   * of the request.
   */
  readonly looksAtTime: boolean
}

/** Limits of a server; each has a default. */
export interface ServerLimits extends SessionLimits, AnswerTableLimits {
  readonly callsMax: number
  readonly callsPerSessionMax: number
  readonly streamWindow: number
  readonly keepAliveMs: number
}

/** Has calls that may take too long. */
export interface CallOwner {
  /** The deadline of this call has passed. */
  expire(call: ServerCall): void
}

/** What the sessions of a server share. */
export interface ServerCore {
  readonly options: ServerLimits
  readonly methods: ReadonlyMap<number, ServedMethod>
  readonly answers: AnswerTable
  readonly incarnation: number
  readonly draining: boolean
  /** Running handlers. */
  readonly active: number
  /** A handler has not answered at once. */
  enter(call: ServerCall, owner: CallOwner): void
  /** The handler is done. */
  leave(call: ServerCall): void
  /** A handler failed. */
  failed(error: unknown, call: ServerCall): void
}
