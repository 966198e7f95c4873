import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { ArgumentError } from '../../native/index.ts'
import type { Frame, LogFrame, PageFrame } from '../wire.ts'
import { type Asset, readAssets } from './assets.ts'
import { EventStream, type StreamSource } from './event-stream.ts'
import { Guard, isLoopback } from './guard.ts'

/** Time between two looks while anybody listens. */
const LOOK_MS = 200
/** Pages that listen at a time. */
export const STREAMS_MAX = 16
const CONNECTIONS_MAX = 64
const HEADER_BYTES_MAX = 8192
const LOG_LINES_MAX = 500
/** Paths are all that counts of addresses. */
const BASE = 'http://localhost'

/** What the server shows. */
export interface DashboardSource extends StreamSource {
  look(): Frame
  page(region: string, page: number): PageFrame | undefined
  close(): void
}

export interface DashboardOptions {
  readonly source: DashboardSource
  /** Default `127.0.0.1`. */
  readonly host?: string
  /** Default 0: any that is free. */
  readonly port?: number
  /** What a browser has to show; default a random one; null: nothing, on loopback only. */
  readonly token?: string | null
  /** Names by which the server may be called, where it is behind another. */
  readonly names?: readonly string[]
  /** The text at `/metrics`; without it there is none. */
  readonly metrics?: () => string
  /** Told of every look, also while nobody listens where `always` is set. */
  readonly onLook?: (frame: Frame) => void
  readonly always?: boolean
}

/** Of every answer. The page has nothing from elsewhere, and nobody frames it. */
const headers: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'interest-cohort=()',
  'Cache-Control': 'no-store',
}

/** The page of `aether dashboard`, over HTTP. It looks only while a page listens (or `always` is set). */
export class DashboardServer {
  /** What to open in a browser, with the token. */
  readonly url: string
  readonly #options: DashboardOptions
  readonly #server: Server
  readonly #guard: Guard
  readonly #assets: ReadonlyMap<string, Asset>
  readonly #streams = new Set<EventStream>()
  readonly #log: LogFrame[] = []
  #logged = 0
  #timer: NodeJS.Timeout | undefined

  private constructor(options: DashboardOptions, server: Server, host: string, token: string | undefined) {
    this.#options = options
    this.#server = server
    this.#assets = readAssets()
    const { port } = server.address() as AddressInfo
    this.#guard = new Guard({ host, port, names: options.names ?? [], token })
    this.url = `http://${host.includes(':') ? `[${host}]` : host}:${port}/${token === undefined ? '' : `?token=${token}`}`
    server.on('request', (request, response) => this.#answer(request, response))
    if (options.always === true) this.#lookOn()
  }

  /** @throws ArgumentError for an address beyond loopback without a token; the error of listen(2). */
  static async start(options: DashboardOptions): Promise<DashboardServer> {
    const { host = '127.0.0.1', port = 0, token = randomBytes(24).toString('base64url') } = options
    if (token === null && !isLoopback(host))
      throw new ArgumentError('token', `who listens on ${host} is reached by others, and needs a token`)
    if (token !== null && !/^[\w-]{8,200}$/.test(token))
      throw new ArgumentError('token', 'a token is 8 to 200 letters, digits, dashes and underscores')
    const server = createServer({
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: 5000,
      requestTimeout: 10_000,
      connectionsCheckingInterval: 2000,
    })
    server.maxConnections = CONNECTIONS_MAX
    server.on('clientError', refuseMalformed)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, resolve)
    })
    return new DashboardServer(options, server, host, token ?? undefined)
  }

  /** Pages that listen now. */
  get streams(): number {
    return this.#streams.size
  }

  /** The page that is told the least, because it is slow to read: frames that passed it by, bytes that wait for it. */
  get slowest(): { readonly skipped: number; readonly pendingBytes: number } {
    const [first] = [...this.#streams].sort((a, b) => b.skipped - a.skipped)
    return { skipped: first?.skipped ?? 0, pendingBytes: first?.pendingBytes ?? 0 }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    for (const stream of this.#streams) stream.end()
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
    this.#options.source.close()
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    const refusal = this.#guard.refusalOf(request)
    if (refusal !== undefined) {
      refuse(response, refusal.status, refusal.reason)
      return
    }
    if (!URL.canParse(request.url ?? '', BASE)) {
      refuse(response, 400, 'that is no path')
      return
    }
    const url = new URL(request.url ?? '', BASE)
    const given = url.searchParams.get('token')
    if (!this.#guard.knowsToken(request, given)) {
      refuse(response, 401, 'open the address that the command printed: it has the token')
      return
    }
    // Not kept in the address, where it would be seen and remembered.
    if (given !== null && url.pathname === '/') {
      this.#remember(response, given)
      return
    }
    this.#route(url, request, response)
  }

  #remember(response: ServerResponse, token: string): void {
    const cookie = `${this.#guard.cookieName}=${token}; HttpOnly; SameSite=Strict; Path=/`
    response.writeHead(303, { Location: '/', 'Set-Cookie': cookie }).end()
  }

  #route(url: URL, request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = url
    if (pathname === '/events') {
      this.#listen(searchParams.get('region') ?? undefined, request, response)
      return
    }
    if (pathname === '/page') {
      this.#page(searchParams, response)
      return
    }
    if (pathname === '/metrics' && this.#options.metrics !== undefined) {
      answerMetrics(this.#options.metrics, response)
      return
    }
    const asset = this.#assets.get(pathname)
    if (asset === undefined) {
      refuse(response, 404, 'there is nothing here')
      return
    }
    send(response, asset.type, asset.bytes)
  }

  #page(query: URLSearchParams, response: ServerResponse): void {
    const page = query.get('page') ?? ''
    if (!/^\d{1,10}$/.test(page)) {
      refuse(response, 400, 'a page is a whole number')
      return
    }
    const known = this.#options.source.page(query.get('region') ?? '', Number(page))
    if (known === undefined) {
      refuse(response, 404, 'there is no such page')
      return
    }
    send(response, 'application/json', Buffer.from(JSON.stringify(known)))
  }

  #listen(region: string | undefined, request: IncomingMessage, response: ServerResponse): void {
    if (request.method !== 'GET') {
      refuse(response, 405, 'only GET')
      return
    }
    if (this.#streams.size >= STREAMS_MAX) {
      refuse(response, 503, `${STREAMS_MAX} pages listen already`)
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

function send(response: ServerResponse, type: string, bytes: Buffer): void {
  response.writeHead(200, { 'Content-Type': type, 'Content-Length': bytes.length }).end(bytes)
}

/** Whoever serves may do more than this: what cannot be read is told to the asker, and ends nothing. */
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

function refuse(response: ServerResponse, status: number, reason: string): void {
  const text = Buffer.from(`${reason}\n`)
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': text.length,
    Connection: 'close',
  })
  response.end(text)
}

/** What is no HTTP, or has headers beyond all measure, or takes too long to say it. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const line = tooLarge ? '431 Request Header Fields Too Large' : '400 Bad Request'
  if (socket.writable) socket.end(`HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  else socket.destroy()
}
