import type * as Api from '@opentelemetry/api'
import { peerPackage } from '../../native/index.ts'

/** What `@opentelemetry/api` exports. */
export type OpenTelemetryApi = typeof Api

/**
 * The user's `@opentelemetry/api`. All copies of that package share what was registered, so it does not matter which
 * copy is found.
 * @throws PackageMissingError if it is not installed.
 */
export function openTelemetryApi(): OpenTelemetryApi {
  return peerPackage('@opentelemetry/api')
}
