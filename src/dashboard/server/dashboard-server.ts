import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { ArgumentError } from '../../native/index.ts'
import { isLoopback } from '../../runtime/index.ts'
import { refuse, send } from './answers.ts'
import { type Asset, readAssets } from './assets.ts'
import { Guard } from './guard.ts'
import { LiveRoutes } from './live-routes.ts'
import { RecordingRoutes } from './recording-routes.ts'
import type { DashboardOptions } from './routes.ts'

const CONNECTIONS_MAX = 64
/** Headers include the cookies of other servers on this host. */
const HEADER_BYTES_MAX = 65_536
/** Only the path of an address is used. */
const BASE = 'http://localhost'

/** Headers of every answer. The page loads nothing from elsewhere and cannot be framed. */
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

/** Serves the page of `aether dashboard` over HTTP. It looks only while a page is connected, or if `always` is set. */
export class DashboardServer {
  /** The address to open in a browser, with the token. */
  readonly url: string
  readonly #server: Server
  readonly #guard: Guard
  readonly #assets: ReadonlyMap<string, Asset>
  readonly #routes: LiveRoutes | RecordingRoutes

  private constructor(options: DashboardOptions, server: Server, host: string, token: string | undefined) {
    const { source } = options
    this.#server = server
    this.#assets = readAssets()
    const { port } = server.address() as AddressInfo
    this.#guard = new Guard({ host, port, names: options.names ?? [], token })
    this.url = `http://${host.includes(':') ? `[${host}]` : host}:${port}/${token === undefined ? '' : `?token=${token}`}`
    server.on('request', (request, response) => this.#answer(request, response))
    this.#routes = 'look' in source ? new LiveRoutes({ ...options, source }) : new RecordingRoutes(source)
  }

  /** @throws ArgumentError for an address other than loopback without a token; the error of listen(2). */
  static async start(options: DashboardOptions): Promise<DashboardServer> {
    const { host = '127.0.0.1', port = 0, token = randomBytes(24).toString('base64url') } = options
    if (token === null && !isLoopback(host))
      throw new ArgumentError('token', `others can reach a server on ${host}, so it needs a token`)
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

  /** How many pages are connected. */
  get streams(): number {
    return this.#live?.streams ?? 0
  }

  /** The page that reads most slowly: how many frames it has skipped, and bytes that wait to be sent to it. */
  get slowest(): { readonly skipped: number; readonly pendingBytes: number } {
    return this.#live?.slowest ?? { skipped: 0, pendingBytes: 0 }
  }

  async close(): Promise<void> {
    this.#live?.endStreams()
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
    this.#routes.close()
  }

  get #live(): LiveRoutes | undefined {
    return this.#routes instanceof LiveRoutes ? this.#routes : undefined
  }

  /** If one request fails, the server and the ranks beside it go on. */
  #answer(request: IncomingMessage, response: ServerResponse): void {
    try {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
      this.#admit(request, response)
    } catch (error) {
      if (response.headersSent) response.destroy()
      else refuse(response, 500, `this cannot be shown: ${(error as Error).message}`)
    }
  }

  #admit(request: IncomingMessage, response: ServerResponse): void {
    const refusal = this.#guard.refusalOf(request)
    if (refusal !== undefined) {
      refuse(response, refusal.status, refusal.reason)
      return
    }
    if (!URL.canParse(request.url ?? '', BASE)) {
      refuse(response, 400, 'this is not a path')
      return
    }
    const url = new URL(request.url ?? '', BASE)
    const given = url.searchParams.get('token')
    if (!this.#guard.knowsToken(request, given)) {
      refuse(response, 401, 'open the address that the command printed: it contains the token')
      return
    }
    // Do not leave the token in the address bar and the history.
    if (given !== null && url.pathname === '/') this.#remember(response, given)
    else this.#route(url, request, response)
  }

  /**
   * Set the cookie, if `given` is the token. A request that is let in by its cookie, or without a token, may have any.
   */
  #remember(response: ServerResponse, given: string): void {
    if (this.#guard.isToken(given)) response.setHeader('Set-Cookie', this.#guard.cookie)
    response.writeHead(303, { Location: '/' }).end()
  }

  #route(url: URL, request: IncomingMessage, response: ServerResponse): void {
    const asset = this.#assets.get(url.pathname)
    if (asset !== undefined) send(response, asset.type, asset.bytes)
    else if (!this.#routes.answer(url, request, response)) refuse(response, 404, 'there is nothing here')
  }
}

/** Answers a request that is not HTTP, has too large headers, or takes too long. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const line = tooLarge ? '431 Request Header Fields Too Large' : '400 Bad Request'
  if (socket.writable) socket.end(`HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  else socket.destroy()
}
