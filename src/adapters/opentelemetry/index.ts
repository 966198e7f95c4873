/**
 * Spans of [OpenTelemetry](https://opentelemetry.io) for the calls of `aether-dsm/rpc`: interceptors for both ends,
 * which pass the trace on in the metadata of a call.
 *
 * ```ts
 * import { openTelemetryClientInterceptor, openTelemetryServerInterceptor } from 'aether-dsm/adapters/opentelemetry'
 * import { createServer, openChannel } from 'aether-dsm/rpc'
 *
 * const server = createServer({ interceptors: [openTelemetryServerInterceptor()] })
 * const { port } = await server.listen({ device: 'shm0', address: '127.0.0.1' })
 * const channel = openChannel(
 *   { device: 'shm0', address: '127.0.0.1', port },
 *   { interceptors: [openTelemetryClientInterceptor()] },
 * )
 * await channel.ready()
 * await channel.close()
 * await server.close()
 * ```
 *
 * @module aether-dsm/adapters/opentelemetry
 */

export { PackageMissingError } from '../../native/index.ts'
export { openTelemetryClientInterceptor } from './client-interceptor.ts'
export type { OpenTelemetryOptions } from './open-telemetry-options.ts'
export { openTelemetryServerInterceptor } from './server-interceptor.ts'
