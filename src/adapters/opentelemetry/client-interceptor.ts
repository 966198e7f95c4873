import type { Context, Span } from '@opentelemetry/api'
import type { ClientCallInfo, ClientInterceptor, Metadata, Stream } from '../../rpc/index.ts'
import { ANSWERED, CallSpans, clientEnding, LEFT } from './call-span.ts'
import { withinMetadata } from './metadata-room.ts'
import { checkOpenTelemetry, type OpenTelemetryOptions } from './open-telemetry-options.ts'
import { type StreamWatcher, TracedStream } from './traced-stream.ts'

/**
 * A span of kind CLIENT around each call of a channel: `openChannel(source, { interceptors:
 * [openTelemetryClientInterceptor()] })`. Its parent is the span that is active where the call is made. The registered
 * propagator writes the trace into the call's metadata, which takes it to the server.
 *
 * A span ends with its call. The span of a stream of answers ends when the stream ends, the reader leaves it, or its
 * `signal` is aborted. If a stream is abandoned without being closed and has no signal, its span does not end.
 *
 * @throws PackageMissingError if `@opentelemetry/api` is not installed.
 */
export function openTelemetryClientInterceptor(options: OpenTelemetryOptions = {}): ClientInterceptor {
  checkOpenTelemetry('openTelemetryClientInterceptor', options)
  const spans = new CallSpans('client', options)
  const { context, trace } = spans.api
  return (call, next) => {
    const parent = context.active()
    const span = spans.begin(call.method, call.kind, parent)
    const own = trace.setSpan(parent, span)
    let result: unknown
    try {
      const carrying = carry(spans, call, own)
      result = context.with(own, () => next(carrying))
    } catch (error) {
      spans.end(span, clientEnding(error))
      throw error
    }
    return call.sync ? answered(spans, span, result) : watched(spans, span, own, call, result)
  }
}

/** The call with the trace in its metadata; the call itself, if no propagator adds anything. */
function carry({ api }: CallSpans, call: ClientCallInfo, own: Context): ClientCallInfo {
  const carrier: Record<string, string> = {}
  api.propagation.inject(own, carrier)
  if (Object.keys(carrier).length === 0) return call
  const metadata: Metadata = withinMetadata(call.options.metadata ?? {}, carrier)
  return { ...call, options: { ...call.options, metadata } }
}

function answered(spans: CallSpans, span: Span, result: unknown): unknown {
  spans.end(span, ANSWERED)
  return result
}

function watched(spans: CallSpans, span: Span, own: Context, call: ClientCallInfo, result: unknown): unknown {
  if (call.kind === 'server-stream' || call.kind === 'bidirectional') {
    const watcher: StreamWatcher = {
      run: (act) => spans.api.context.with(own, act),
      completed: () => spans.end(span, ANSWERED),
      failed: (error) => spans.end(span, clientEnding(error)),
      left: () => spans.end(span, LEFT),
    }
    return new TracedStream(result as Stream<unknown>, watcher, call.options.signal)
  }
  return Promise.resolve(result).then(
    (value) => answered(spans, span, value),
    (error: unknown) => {
      spans.end(span, clientEnding(error))
      throw error
    },
  )
}
