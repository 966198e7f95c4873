import type { Attributes, TracerProvider } from '@opentelemetry/api'

/** Options of the spans of calls. */
export interface OpenTelemetryOptions {
  /** The source of tracers. Default: the globally registered provider, even if it is registered later. */
  readonly tracerProvider?: TracerProvider
  /** Attributes of each span, such as `server.address`, which interceptors do not know. */
  readonly attributes?: Attributes
  /**
   * Also set `rpc.system` and `rpc.service`, as in conventions before 1.38; `rpc.method` stays as it is today. Default
   * false.
   */
  readonly legacyAttributes?: boolean
}
