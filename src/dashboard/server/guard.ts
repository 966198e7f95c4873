import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/** The longest address of a page that is read. */
const URL_LENGTH_MAX = 2048

/** A day: then the address that was printed is opened again. */
const COOKIE_SECONDS = 86_400

/** Why a request is not answered. */
export interface Refusal {
  readonly status: number
  readonly reason: string
}

/** Who is let in. */
export interface GuardOptions {
  /** The address on which the server listens. */
  readonly host: string
  readonly port: number
  /** Names by which it may be called besides, with or without a port. */
  readonly names: readonly string[]
  /** Undefined: everybody who reaches it. */
  readonly token: string | undefined
}

/** What the guard looks at. */
export type GuardedRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

/**
 * Decides which requests are answered. A page of another site that a browser on this machine shows can send requests to
 * a server on loopback: under a name of its own that it points here (DNS rebinding), which the Host header gives away,
 * or across origins, which Origin and Sec-Fetch-Site give away. All of these are refused, whether or not they bring the
 * token.
 */
export class Guard {
  readonly #options: GuardOptions
  readonly #token: Buffer | undefined
  /**
   * What stands for the token in cookies. A browser sends them to every server of the same host, whatever its port and
   * whoever runs it: so it is good here alone, and as long as this server lives.
   */
  readonly #pass: Buffer = Buffer.from(randomBytes(24).toString('base64url'))

  constructor(options: GuardOptions) {
    this.#options = options
    this.#token = options.token === undefined ? undefined : Buffer.from(options.token)
  }

  /**
   * The cookie that stands for the token once it was shown. Cookies know no ports: so the port is in its name, and they
   * would pile up: so it ends.
   */
  get cookie(): string {
    return `${this.#cookieName}=${this.#pass.toString()}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${COOKIE_SECONDS}`
  }

  get #cookieName(): string {
    return `aether-${this.#options.port}`
  }

  /** Undefined where all is well, but for the token. */
  refusalOf(request: GuardedRequest): Refusal | undefined {
    const { method = '', url = '', headers } = request
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, reason: 'only GET and HEAD' }
    if (url.length > URL_LENGTH_MAX) return { status: 414, reason: 'the address is too long' }
    if (!url.startsWith('/') || url.startsWith('//')) return { status: 400, reason: 'that is no path' }
    if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0)
      return { status: 413, reason: 'a request has no body here' }
    if (!this.#isOurs(headers.host)) return { status: 421, reason: 'this is not the host that was asked for' }
    const { origin } = headers
    if (origin !== undefined && origin !== `http://${headers.host}`) return { status: 403, reason: 'another origin' }
    const site = headers['sec-fetch-site']
    // 'none': typed by a person. A link from another site is no harm where the token is needed: it brings none
    // (SameSite=Strict).
    if (site !== undefined && site !== 'same-origin' && site !== 'none' && headers['sec-fetch-mode'] !== 'navigate')
      return { status: 403, reason: 'another site' }
    return undefined
  }

  /** Whether the request brings the token, as a bearer's or in the address, or the cookie that stands for it. */
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

  /** False also where none is needed. */
  isToken(given: string | null | undefined): boolean {
    return this.#token !== undefined && isSame(given, this.#token)
  }

  /** A name that an attacker could point here is none of ours; an address cannot be pointed anywhere. */
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

/** In a time that tells nothing of what is expected, but its length. */
function isSame(given: string | null | undefined, expected: Buffer): boolean {
  const bytes = Buffer.from(given ?? '')
  return bytes.length === expected.length && timingSafeEqual(bytes, expected)
}

/** Whether a name leads to this machine only: no name server has names below `localhost` (RFC 6761). */
function isLocal(name: string): boolean {
  return isLoopback(name) || /^([a-z0-9-]+\.)+localhost$/.test(name)
}

/** Whether an address leads to this machine only. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
}
