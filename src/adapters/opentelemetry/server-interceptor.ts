import type { Context, Span } from '@opentelemetry/api'
import type { CallContext, ServerInterceptor, Stream } from '../../rpc/index.ts'
import { ANSWERED, abortedEnding, type CallEnding, CallSpans, handlerEnding, LEFT } from './call-span.ts'
import { checkOpenTelemetry, type OpenTelemetryOptions } from './open-telemetry-options.ts'
import { TracedStream } from './traced-stream.ts'

/**
 * A span of kind SERVER around each handler of a server: `createServer({ interceptors:
 * [openTelemetryServerInterceptor()] })`. Its parent is the span named in the call's metadata, if there is one. The
 * span is active while the handler runs and ends when the handler is done. Calls that reach no handler (refused,
 * unknown method) have no span.
 * @throws PackageMissingError if `@opentelemetry/api` is not installed.
 */
export function openTelemetryServerInterceptor(options: OpenTelemetryOptions = {}): ServerInterceptor {
  checkOpenTelemetry('openTelemetryServerInterceptor', options)
  const spans = new CallSpans('server', options)
  const { context, propagation, trace, ROOT_CONTEXT } = spans.api
  return (request, call, next) => {
    // Not the active span: if both ends are in one process, that may be the span of any caller.
    const parent = propagation.extract(ROOT_CONTEXT, call.metadata)
    const span = spans.begin(call.method, call.kind, parent)
    const own = trace.setSpan(parent, span)
    let result: unknown
    try {
      result = context.with(own, () => next(request))
    } catch (error) {
      spans.end(span, ending(call, handlerEnding(error)))
      throw error
    }
    return watched(spans, span, own, call, result)
  }
}

function watched(spans: CallSpans, span: Span, own: Context, call: CallContext, result: unknown): unknown {
  if (call.kind === 'server-stream' || call.kind === 'bidirectional')
    return new TracedStream(result as Stream<unknown>, {
      run: (act) => spans.api.context.with(own, act),
      completed: () => spans.end(span, ending(call, ANSWERED)),
      failed: (error) => spans.end(span, ending(call, handlerEnding(error))),
      left: () => spans.end(span, ending(call, LEFT)),
    })
  if (!isThenable(result)) {
    spans.end(span, ending(call, ANSWERED))
    return result
  }
  return result.then(
    (value) => {
      spans.end(span, ending(call, ANSWERED))
      return value
    },
    (error: unknown) => {
      spans.end(span, ending(call, handlerEnding(error)))
      throw error
    },
  )
}

/**
 * The caller was told of the abort, whatever the handler returned later. Calls with a key are an exception: their
 * answer is kept.
 */
function ending({ signal, idempotencyKey }: CallContext, handlers: CallEnding): CallEnding {
  return signal.aborted && idempotencyKey === undefined ? abortedEnding(signal.reason) : handlers
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
