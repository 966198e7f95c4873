import type { Attributes, Context, Span, SpanKind, Tracer } from '@opentelemetry/api'
import { AetherError } from '../../native/index.ts'
import { type MethodKind, RpcError, ServiceError } from '../../rpc/index.ts'
import { type OpenTelemetryApi, openTelemetryApi } from './open-telemetry-api.ts'
import type { OpenTelemetryOptions } from './open-telemetry-options.ts'

const SYSTEM = 'aether'
const SCOPE = 'aether-dsm'
const PREFIX = 'ERR_AETHER_RPC_'
/** The name of an error class without a name, by the conventions. */
const OTHER_TYPE = '_OTHER'

/** How a call ended, as its span reports it. */
export interface CallEnding {
  /** `OK`, or the code of an error without its common prefix: `DEADLINE`. */
  readonly status: string
  /** The class of the error, if the span counts as failed. */
  readonly errorType?: string
  readonly outcome?: string
}

/**
 * Begins and ends spans of calls by the semantic conventions for RPC of OpenTelemetry, version 1.45
 * (docs/rpc/rpc-spans.md): name, kind, `rpc.system.name`, `rpc.method`, `rpc.response.status_code`, `error.type`.
 * Messages of errors are left out: they may quote the request.
 */
export class CallSpans {
  readonly api: OpenTelemetryApi
  readonly #kind: SpanKind
  readonly #tracer: Tracer
  readonly #options: OpenTelemetryOptions

  constructor(side: 'client' | 'server', options: OpenTelemetryOptions) {
    const api = openTelemetryApi()
    this.api = api
    this.#kind = side === 'client' ? api.SpanKind.CLIENT : api.SpanKind.SERVER
    this.#tracer = (options.tracerProvider ?? api.trace).getTracer(SCOPE)
    this.#options = options
  }

  begin(method: string, kind: MethodKind, parent: Context): Span {
    return this.#tracer.startSpan(method, { kind: this.#kind, attributes: this.#attributes(method, kind) }, parent)
  }

  #attributes(method: string, kind: MethodKind): Attributes {
    const attributes: Attributes = {
      ...this.#options.attributes,
      'rpc.system.name': SYSTEM,
      'rpc.method': method,
      'aether.rpc.kind': kind,
    }
    if (this.#options.legacyAttributes === true) {
      attributes['rpc.system'] = SYSTEM
      attributes['rpc.service'] = method.slice(0, method.indexOf('/'))
    }
    return attributes
  }

  end(span: Span, { status, errorType, outcome }: CallEnding): void {
    span.setAttribute('rpc.response.status_code', status)
    if (outcome !== undefined) span.setAttribute('aether.rpc.outcome', outcome)
    if (errorType !== undefined) {
      span.setAttribute('error.type', errorType)
      span.setStatus({ code: this.api.SpanStatusCode.ERROR })
    }
    span.end()
  }
}

export const ANSWERED: CallEnding = { status: 'OK' }
/** The reader of a stream of answers stopped reading. */
export const LEFT: CallEnding = { status: 'CANCELLED' }

/** What a caller was told. All that is not an answer is a failure. */
export function clientEnding(error: unknown): CallEnding {
  const errorType = typeOf(error)
  if (error instanceof RpcError) return { status: statusOf(error), errorType, outcome: error.outcome }
  if (error instanceof ServiceError) return { status: 'SERVICE', errorType, outcome: 'failed' }
  const isAbort = errorType === 'AbortError' || errorType === 'TimeoutError'
  return { status: isAbort ? 'ABORTED' : 'OTHER', errorType }
}

/**
 * What a handler threw. An error of its service and a request that does not fit are the caller's concern: the server
 * has not failed.
 */
export function handlerEnding(error: unknown): CallEnding {
  if (error instanceof ServiceError) return { status: 'SERVICE' }
  if (error instanceof RpcError && error.code === 'ERR_AETHER_RPC_INVALID_REQUEST') return { status: 'INVALID_REQUEST' }
  return { status: 'HANDLER', errorType: typeOf(error) }
}

/**
 * Why the caller no longer waited for the answer. A server that was too slow has failed; one whose caller went away has
 * not.
 */
export function abortedEnding(reason: unknown): CallEnding {
  if (!(reason instanceof RpcError)) return { status: 'CANCELLED' }
  const status = statusOf(reason)
  return status === 'DEADLINE' ? { status, errorType: typeOf(reason) } : { status }
}

const statusOf = ({ code }: RpcError): string => (code.startsWith(PREFIX) ? code.slice(PREFIX.length) : 'OTHER')

/** The code of an error of this package, the class of any other. */
function typeOf(error: unknown): string {
  if (error instanceof AetherError) return error.code
  return error instanceof Error ? error.name : OTHER_TYPE
}
