import { AetherError, type AetherErrorCode, messageOfThrown, mustBe, textOfThrown } from '../native/index.ts'
import { FailureCode } from './frame.ts'
import type { SchemaIssue } from './standard-schema.ts'

/**
 * What became of the call:
 * - `not-sent`: it never left this process.
 * - `refused`: the server refused it before anything was done.
 * - `failed`: the handler ran and failed.
 * - `unknown`: it left, and may or may not have taken effect.
 */
export type CallOutcome = 'not-sent' | 'refused' | 'failed' | 'unknown'

/** A call ended without an answer. Match on `code`; `outcome` says whether it may have taken effect. */
export class RpcError extends AetherError {
  override readonly name: string = 'RpcError'
  readonly outcome: CallOutcome
  /** `service/method`, or empty if the error is about a link. */
  readonly method: string
  /** For `ERR_AETHER_RPC_INVALID_REQUEST` and `…_INVALID_RESPONSE`: what the schema found. */
  readonly issues: readonly SchemaIssue[]

  constructor(
    code: AetherErrorCode,
    outcome: CallOutcome,
    method: string,
    message: string,
    options?: ErrorOptions & { readonly issues?: readonly SchemaIssue[] },
  ) {
    super(code, method === '' ? message : `${method}: ${message}`, options)
    this.outcome = outcome
    this.method = method
    this.issues = options?.issues ?? []
  }
}

/** The text of an error, without its method. */
export function textOf({ method, message }: RpcError): string {
  return method === '' ? message : message.slice(method.length + 2)
}

/** The error of a call whose connection has ended. `sent`: the server may know of it. */
export function lost(method: string, sent: boolean, cause: unknown): RpcError {
  const why = cause instanceof Error ? `: ${cause.message}` : ''
  return sent
    ? new RpcError(
        'ERR_AETHER_RPC_CONNECTION_LOST',
        'unknown',
        method,
        `the connection ended before the answer came, so the call may or may not have taken effect${why}`,
        { cause },
      )
    : new RpcError(
        'ERR_AETHER_RPC_CONNECTION_LOST',
        'not-sent',
        method,
        `the connection ended before the call left${why}`,
        { cause },
      )
}

/** An error of the service. If a handler throws it, the call fails at the client with the same reason and details. */
export class ServiceError<Details = unknown> extends AetherError {
  override readonly name = 'ServiceError'
  /** The reason, one of the service's errors. */
  readonly reason: string
  readonly details: Details

  constructor(reason: string, details: Details, message: string = reason) {
    if (typeof reason !== 'string') throw mustBe('reason', 'a string, the name of one of the errors', reason)
    if (typeof message !== 'string') throw mustBe('message', 'a string', message)
    super('ERR_AETHER_RPC_SERVICE', message)
    this.reason = reason
    this.details = details
  }
}

/** The peer sent an invalid frame, or one that may not come here. The link ends with it. */
export class MalformedFrameError extends AetherError {
  override readonly name = 'MalformedFrameError'

  constructor(what: string) {
    super('ERR_AETHER_RPC_MALFORMED', `the peer's message is malformed: ${what}`)
  }
}

/** The parts of an error on the wire. */
export interface Failure {
  readonly code: number
  readonly message: string
  readonly reason: string
  readonly details: unknown
}

const failures: ReadonlyMap<number, readonly [AetherErrorCode, CallOutcome]> = new Map([
  [FailureCode.Handler, ['ERR_AETHER_RPC_HANDLER', 'failed']],
  [FailureCode.UnknownMethod, ['ERR_AETHER_RPC_UNKNOWN_METHOD', 'refused']],
  [FailureCode.InvalidRequest, ['ERR_AETHER_RPC_INVALID_REQUEST', 'refused']],
  [FailureCode.Overloaded, ['ERR_AETHER_RPC_OVERLOADED', 'refused']],
  [FailureCode.Draining, ['ERR_AETHER_RPC_DRAINING', 'refused']],
  [FailureCode.Deadline, ['ERR_AETHER_RPC_DEADLINE', 'unknown']],
  [FailureCode.Cancelled, ['ERR_AETHER_RPC_CANCELLED', 'unknown']],
  [FailureCode.TooLarge, ['ERR_AETHER_RPC_TOO_LARGE', 'refused']],
  [FailureCode.InvalidResponse, ['ERR_AETHER_RPC_INVALID_RESPONSE', 'failed']],
  [FailureCode.Forgotten, ['ERR_AETHER_RPC_OUTCOME_UNKNOWN', 'unknown']],
])

/** What is said of a request, or of an item of a stream of them, which comes when its handler runs already. */
const ofRequests: readonly number[] = [FailureCode.InvalidRequest, FailureCode.TooLarge]

/** The error of a caller for what the server said. */
export function errorOf(
  method: string,
  streamsRequests: boolean,
  { code, message, reason, details }: Failure,
): AetherError {
  if (code === FailureCode.Service) return new ServiceError(reason, details, message)
  const [errorCode, known] = failures.get(code) ?? (['ERR_AETHER_RPC_HANDLER', 'unknown'] as const)
  const outcome = streamsRequests && ofRequests.includes(code) ? 'failed' : known
  const issues = Array.isArray(details) ? (details as SchemaIssue[]) : []
  return new RpcError(errorCode, outcome, method, message, { issues })
}

/** What an error of a handler sends over the wire: no stack. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ServiceError)
    return {
      code: FailureCode.Service,
      message: messageOfThrown(error),
      reason: messageOfThrown(error.reason),
      details: error.details,
    }
  return { code: FailureCode.Handler, message: textOfThrown(error), reason: '', details: undefined }
}
