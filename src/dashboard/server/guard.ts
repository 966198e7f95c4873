import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { isLoopback } from '../../runtime/index.ts'

/** The maximum length of a request's URL. */
const URL_LENGTH_MAX = 2048

/** One day. After that, the printed address has to be opened again. */
const COOKIE_SECONDS = 86_400

/** Why a request is refused. */
export interface Refusal {
  readonly status: number
  readonly reason: string
}

/** Which requests are accepted. */
export interface GuardOptions {
  /** The address on which the server listens. */
  readonly host: string
  readonly port: number
  /** Other names of the server, with or without a port. */
  readonly names: readonly string[]
  /** Undefined: no token is needed. */
  readonly token: string | undefined
}

/** What the guard checks. */
export type GuardedRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

/**
 * Decides which requests are answered. A page of another site, open in a browser on this machine, can send requests to
 * a server on loopback. It can point its own host name here (DNS rebinding), which the Host header reveals. Or it can
 * send them across origins, which Origin and Sec-Fetch-Site reveal. All these requests are refused, even with the
 * token.
 */
export class Guard {
  readonly #options: GuardOptions
  readonly #token: Buffer | undefined
  /**
   * Stands for the token in the cookie. A browser sends cookies to every server of the host, on any port and of any
   * user. So the cookie has a value that is valid only for this server, while it runs.
   */
  readonly #pass: Buffer = Buffer.from(randomBytes(24).toString('base64url'))

  constructor(options: GuardOptions) {
    this.#options = options
    this.#token = options.token === undefined ? undefined : Buffer.from(options.token)
  }

  /**
   * The cookie that replaces the token after the first request. Cookies are not bound to a port, so its name has the
   * port; and it expires, because the cookies of many ports would pile up.
   */
  get cookie(): string {
    return `${this.#cookieName}=${this.#pass.toString()}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${COOKIE_SECONDS}`
  }

  get #cookieName(): string {
    return `aether-${this.#options.port}`
  }

  /** Why the request is refused, apart from its token; undefined if it is not. */
  refusalOf(request: GuardedRequest): Refusal | undefined {
    const { method = '', url = '', headers } = request
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, reason: 'only GET and HEAD' }
    if (url.length > URL_LENGTH_MAX) return { status: 414, reason: 'the address is too long' }
    if (!url.startsWith('/') || url.startsWith('//')) return { status: 400, reason: 'this is not a path' }
    if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0)
      return { status: 413, reason: 'a request must not have a body' }
    if (!this.#isOurs(headers.host)) return { status: 421, reason: 'this is not the host that was asked for' }
    const { origin } = headers
    if (origin !== undefined && origin !== `http://${headers.host}`)
      return { status: 403, reason: 'the request comes from another origin' }
    const site = headers['sec-fetch-site']
    // 'none': typed into the address bar. A link from another site does no harm if a token is needed, because it does
    // not bring the cookie (SameSite=Strict).
    if (site !== undefined && site !== 'same-origin' && site !== 'none' && headers['sec-fetch-mode'] !== 'navigate')
      return { status: 403, reason: 'the request comes from another site' }
    return undefined
  }

  /** Whether the request has the token, in the Authorization header or the address, or the cookie that replaces it. */
  knowsToken(request: GuardedRequest, inAddress: string | null): boolean {
    if (this.#token === undefined) return true
    const { authorization, cookie = '' } = request.headers
    const bearer = /^Bearer (\S+)$/.exec(authorization ?? '')?.[1]
    const kept = cookie
      .split(/; */)
      .find((each) => each.startsWith(`${this.#cookieName}=`))
      ?.slice(this.#cookieName.length + 1)
    return isSame(kept, this.#pass) || [bearer, inAddress].some((given) => this.isToken(given))
  }

  /** Whether this is the token. False if no token is needed. */
  isToken(given: string | null | undefined): boolean {
    return this.#token !== undefined && isSame(given, this.#token)
  }

  /** Whether a Host header is safe. An attacker can point a name of their own here, but not an IP address. */
  #isOurs(header: string | undefined): boolean {
    const { host, port, names } = this.#options
    const match = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(header ?? '')
    if (match === null) return false
    const name = match[1]!.toLowerCase().replace(/^\[|\]$/g, '')
    if (names.some((each) => each.toLowerCase() === header?.toLowerCase() || each.toLowerCase() === name)) return true
    if (Number(match[2] ?? 80) !== port) return false
    if (isLocal(name)) return true
    return !isLoopback(host) && (name === host.toLowerCase() || isIP(name) !== 0)
  }
}

/** Compares in a time that reveals nothing of `expected` but its length. */
function isSame(given: string | null | undefined, expected: Buffer): boolean {
  const bytes = Buffer.from(given ?? '')
  return bytes.length === expected.length && timingSafeEqual(bytes, expected)
}

/** Whether a name leads only to this machine. Names below `localhost` are never looked up in DNS (RFC 6761). */
function isLocal(name: string): boolean {
  return isLoopback(name) || /^([a-z0-9-]+\.)+localhost$/.test(name)
}
