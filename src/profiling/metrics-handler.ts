import type { IncomingMessage, ServerResponse } from 'node:http'
import { checkFunction } from '../native/index.ts'
import { type MetricSource, prometheusText } from './prometheus.ts'
import { threadProfile } from './thread-profiling.ts'

/**
 * Answer GET and HEAD with {@link prometheusText}, anything else with 405. The handler needs a server:
 *
 * ```ts no-run
 * import { createServer } from 'node:http'
 * import { metricsHandler } from 'aether-dsm/profiling'
 *
 * const metrics = metricsHandler()
 * createServer((request, response) => {
 *   if (request.url === '/metrics') metrics(request, response)
 *   else response.writeHead(404).end()
 * }).listen(9464, '127.0.0.1')
 * ```
 *
 * `sources` is called for each request. Default: {@link threadProfile}.
 */
export function metricsHandler(
  sources: () => Iterable<MetricSource> = () => [{ profile: threadProfile() }],
): (request: IncomingMessage, response: ServerResponse) => void {
  checkFunction('sources', sources, 'that returns what prometheusText() takes')
  return (request, response) => {
    const { method } = request
    if (method !== 'GET' && method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end()
      return
    }
    const text = prometheusText(sources())
    const type = 'text/plain; version=0.0.4; charset=utf-8'
    response.writeHead(200, {
      'content-type': type,
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
    })
    response.end(method === 'HEAD' ? undefined : text)
  }
}
