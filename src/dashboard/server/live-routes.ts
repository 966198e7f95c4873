import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LogFrame } from '../wire.ts'
import { numberIn, refuse, send, sendJson } from './answers.ts'
import { EventStream } from './event-stream.ts'
import type { DashboardOptions, DashboardSource, Routes } from './routes.ts'

/** Time between two looks while a page is connected. */
const LOOK_MS = 200
/** The maximum number of connected pages. */
export const STREAMS_MAX = 16
const LOG_LINES_MAX = 500

/**
 * Answers requests about a running space: a stream of looks, one page of memory, metrics. It looks only while a page is
 * connected, or if `always` is set.
 */
export class LiveRoutes implements Routes {
  readonly #options: DashboardOptions & { readonly source: DashboardSource }
  readonly #streams = new Set<EventStream>()
  readonly #log: LogFrame[] = []
  #logged = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: DashboardOptions & { readonly source: DashboardSource }) {
    this.#options = options
    if (options.always === true) this.#lookOn()
  }

  get streams(): number {
    return this.#streams.size
  }

  get slowest(): { readonly skipped: number; readonly pendingBytes: number } {
    const [first] = [...this.#streams].sort((a, b) => b.skipped - a.skipped)
    return { skipped: first?.skipped ?? 0, pendingBytes: first?.pendingBytes ?? 0 }
  }

  answer({ pathname, searchParams }: URL, request: IncomingMessage, response: ServerResponse): boolean {
    const { metrics } = this.#options
    if (pathname === '/session') sendJson(response, { kind: 'live' })
    else if (pathname === '/events') this.#listen(searchParams.get('region') ?? undefined, request, response)
    else if (pathname === '/page') this.#page(searchParams, response)
    else if (pathname === '/structure') this.#structure(searchParams, response)
    else if (pathname === '/metrics' && metrics !== undefined) answerMetrics(metrics, response)
    else return false
    return true
  }

  /** Stop looking, and disconnect all pages. */
  endStreams(): void {
    this.#rest()
    for (const stream of this.#streams) stream.end()
  }

  close(): void {
    this.endStreams()
    this.#options.source.close()
  }

  #page(query: URLSearchParams, response: ServerResponse): void {
    const page = numberIn(query, 'page', response)
    if (page === undefined) return
    const known = this.#options.source.page(query.get('region') ?? '', page)
    if (known === undefined) refuse(response, 404, 'there is no such page')
    else sendJson(response, known)
  }

  /** Keys and values only go to those who have brought a token: without one, any user of this machine may look. */
  #structure(query: URLSearchParams, response: ServerResponse): void {
    const { source, token } = this.#options
    const known = source.structure?.(query.get('region') ?? '', query.get('name') ?? '', token !== null)
    if (known === undefined) refuse(response, 404, 'there is no such structure')
    else sendJson(response, known)
  }

  #listen(region: string | undefined, request: IncomingMessage, response: ServerResponse): void {
    if (request.method !== 'GET') {
      refuse(response, 405, 'only GET')
      return
    }
    if (this.#streams.size >= STREAMS_MAX) {
      refuse(response, 503, `${STREAMS_MAX} pages are connected already`)
      return
    }
    const stream = new EventStream(response, region)
    this.#streams.add(stream)
    response.on('close', () => {
      this.#streams.delete(stream)
      if (this.#streams.size === 0 && this.#options.always !== true) this.#rest()
    })
    this.#lookOn()
  }

  #lookOn(): void {
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS)
  }

  #rest(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    const { source, onLook } = this.#options
    const frame = source.look()
    this.#log.push(...frame.log)
    this.#logged += frame.log.length
    this.#log.splice(0, Math.max(0, this.#log.length - LOG_LINES_MAX))
    onLook?.(frame)
    for (const stream of this.#streams) stream.send(frame, this.#log, this.#logged, source)
  }
}

/** If the metrics cannot be read, only this request fails: the process may do more than serve them. */
function answerMetrics(metrics: () => string, response: ServerResponse): void {
  let text: string
  try {
    text = metrics()
  } catch (error) {
    refuse(response, 500, `the figures cannot be read: ${(error as Error).message}`)
    return
  }
  send(response, 'text/plain; version=0.0.4; charset=utf-8', Buffer.from(text))
}
