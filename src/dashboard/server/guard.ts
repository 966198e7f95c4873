import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/** The longest address of a page that is read. */
const URL_LENGTH_MAX = 2048

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
 * Decides which requests are answered. A page of another site that a browser on this machine shows can send requests to a server on loopback: under a name of its own
 * that it points here (DNS rebinding), which the Host header gives away, or across origins, which Origin and Sec-Fetch-Site give away. All of these are refused, whether or not
 * they bring the token.
 */
export class Guard {
  readonly #options: GuardOptions
  readonly #token: Buffer | undefined

  constructor(options: GuardOptions) {
    this.#options = options
    this.#token = options.token === undefined ? undefined : Buffer.from(options.token)
  }

  /** The cookie that stands for the token once it was shown. Cookies know no ports: so the port is in its name. */
  get cookieName(): string {
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
    // 'none': typed by a person. A link from another site is no harm where the token is needed: it brings none (SameSite=Strict).
    if (site !== undefined && site !== 'same-origin' && site !== 'none' && headers['sec-fetch-mode'] !== 'navigate')
      return { status: 403, reason: 'another site' }
    return undefined
  }

  /** Whether the request brings the token: in its cookie, as a bearer's, or in the address. */
  knowsToken(request: GuardedRequest, inAddress: string | null): boolean {
    if (this.#token === undefined) return true
    const { authorization, cookie = '' } = request.headers
    const bearer = /^Bearer (\S+)$/.exec(authorization ?? '')?.[1]
    const kept = cookie
      .split(/; */)
      .find((each) => each.startsWith(`${this.cookieName}=`))
      ?.slice(this.cookieName.length + 1)
    return [bearer, kept, inAddress].some((given) => given !== undefined && given !== null && this.isToken(given))
  }

  /** False also where none is needed. */
  isToken(given: string): boolean {
    const [bytes, token] = [Buffer.from(given), this.#token]
    return token !== undefined && bytes.length === token.length && timingSafeEqual(bytes, token)
  }

  /** A name that an attacker could point here is none of ours; an address cannot be pointed anywhere. */
  #isOurs(header: string | undefined): boolean {
    const { host, port, names } = this.#options
    const match = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(header ?? '')
    if (match === null) return false
    const name = match[1]!.toLowerCase().replace(/^\[|\]$/g, '')
    if (names.some((each) => each.toLowerCase() === header?.toLowerCase() || each.toLowerCase() === name)) return true
    if (Number(match[2] ?? 80) !== port) return false
    if (isLoopback(host)) return name === 'localhost' || isLoopback(name)
    return name === host.toLowerCase() || isIP(name) !== 0 || name === 'localhost'
  }
}

/** Whether an address leads to this machine only. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
}
