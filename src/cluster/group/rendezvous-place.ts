import { isIP } from 'node:net'
import { mustBe } from '../../native/index.ts'

/** Where the ranks of a group meet. */
export type RendezvousPlace =
  /** In a space of this machine. */
  | { readonly kind: 'local'; readonly space: string }
  /** At a TCP port, where rank 0 or the launcher listens. */
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly keeper: 'rank 0' | 'launcher' }

const HOST_PATTERN = /^[A-Za-z0-9]([\w.-]*\w)?$/
const FORMS = "'local:NAME' or 'tcp:HOST:PORT' (an IPv6 address in brackets)"

/** @throws ArgumentError if `text` does not name such a place. */
export function parseRendezvous(text: string): RendezvousPlace {
  const [, kind, rest = ''] = (typeof text === 'string' && /^(local|tcp|launcher):(.+)$/.exec(text)) || []
  if (kind === 'local') return { kind, space: rest }
  const place = parseAddress(rest)
  if (kind === undefined || place === undefined) throw mustBe('rendezvous', FORMS, text)
  return { kind: 'tcp', ...place, keeper: kind === 'launcher' ? 'launcher' : 'rank 0' }
}

/** `host:port`, with an IPv6 address in brackets. Undefined if the text is not an address. */
export function parseAddress(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  const host = bracketed ?? plain
  if (host === undefined || !(port >= 1 && port <= 65_535)) return undefined
  const fit = bracketed === undefined ? HOST_PATTERN.test(host) : isIP(host) === 6
  return fit ? { host, port } : undefined
}
