import type { Attributes, TracerProvider } from '@opentelemetry/api'
import { checkBoolean, checkOptions, mustBe, type OptionNames } from '../../native/index.ts'

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

const names: OptionNames<OpenTelemetryOptions> = { tracerProvider: true, attributes: true, legacyAttributes: true }

/** @throws ArgumentError */
export function checkOpenTelemetry(call: string, options: OpenTelemetryOptions): void {
  checkOptions(call, options, names)
  const { tracerProvider, attributes, legacyAttributes = false } = options
  if (tracerProvider !== undefined && typeof tracerProvider?.getTracer !== 'function')
    throw mustBe('options.tracerProvider', 'an object with getTracer(), as OpenTelemetry makes', tracerProvider)
  if (attributes !== undefined && (typeof attributes !== 'object' || attributes === null))
    throw mustBe('options.attributes', "an object such as { 'server.address': 'host' }", attributes)
  checkBoolean('options.legacyAttributes', legacyAttributes)
}
