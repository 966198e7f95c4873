import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { ArgumentError } from '../../native/index.ts'
import { refuse, send } from './answers.ts'
import { type Asset, readAssets } from './assets.ts'
import { Guard, isLoopback } from './guard.ts'
import { LiveRoutes } from './live-routes.ts'
import { RecordingRoutes } from './recording-routes.ts'
import type { DashboardOptions } from './routes.ts'

const CONNECTIONS_MAX = 64
/** Cookies of other servers of the host are among them. */
const HEADER_BYTES_MAX = 65_536
/** Paths are all that counts of addresses. */
const BASE = 'http://localhost'

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
    return this.#live?.streams ?? 0
  }

  /** The page that is told the least, because it is slow to read: frames that passed it by, bytes that wait for it. */
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

  /** One answer that cannot be made does not end the server, and what runs beside it. */
  #answer(request: IncomingMessage, response: ServerResponse): void {
    try {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
      this.#admit(request, response)
    } catch (error) {
      if (response.headersSent) response.destroy()
      else refuse(response, 500, `that cannot be shown: ${(error as Error).message}`)
    }
  }

  #admit(request: IncomingMessage, response: ServerResponse): void {
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
    if (given !== null && url.pathname === '/') this.#remember(response, given)
    else this.#route(url, request, response)
  }

  /** In a cookie, if it is the token: who is let in without it, or by a cookie, may have said anything. */
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

/** What is no HTTP, or has headers beyond all measure, or takes too long to say it. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const line = tooLarge ? '431 Request Header Fields Too Large' : '400 Bad Request'
  if (socket.writable) socket.end(`HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  else socket.destroy()
}
