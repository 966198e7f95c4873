import type { Attributes, TracerProvider } from '@opentelemetry/api'

/** How spans of calls are made. */
export interface OpenTelemetryOptions {
  /** Where tracers come from. Default: the provider that is registered globally, also where that happens later. */
  readonly tracerProvider?: TracerProvider
  /** Set on each span: `server.address`, say, which interceptors do not know. */
  readonly attributes?: Attributes
  /**
   * Set `rpc.system` and `rpc.service`, too, as conventions before 1.38 had them; `rpc.method` stays what it is today.
   * Default false.
   */
  readonly legacyAttributes?: boolean
}
