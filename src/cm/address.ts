import { isIP, SocketAddress } from 'node:net'
import { mustBe } from '../native/index.ts'

/** An IP address and a port of the connection manager. These ports are unrelated to those of TCP and UDP sockets. */
export interface ConnectionAddress {
  /** In its canonical form, `127.0.0.1` or `fd00::1`. */
  readonly address: string
  readonly port: number
  readonly family: 4 | 6
}

/** Check an address literal and a port. Names are resolved elsewhere. */
export function connectionAddress(address: string, port: number): ConnectionAddress {
  checkPort(port)
  const family = isIP(address)
  if (family !== 4 && family !== 6) {
    throw mustBe('address', 'a numeric IPv4 or IPv6 address', address)
  }
  if (family === 4) return { address, port, family }
  const [plain = '', zone] = address.split('%')
  const canonical = new SocketAddress({ address: plain, family: 'ipv6' }).address
  return { address: zone === undefined ? canonical : `${canonical}%${zone}`, port, family }
}

function checkPort(port: number): void {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw mustBe('port', 'an integer from 0 to 65535', port)
}

/** True for `0.0.0.0` and `::`, which stand for every address of the machine. */
export function isWildcard(address: string): boolean {
  return address === '0.0.0.0' || address === '::'
}

/** 224.0.0.0/4 and ff00::/8. */
export function isMulticastAddress({ address, family }: ConnectionAddress): boolean {
  if (family === 6) return /^ff[0-9a-f]{2}:/i.test(address)
  const first = Number.parseInt(address, 10)
  return first >= 224 && first < 240
}

/** `10.0.0.1:4791`, `[fd00::1]:4791`. */
export function formatAddress({ address, port, family }: ConnectionAddress): string {
  return family === 6 ? `[${address}]:${port}` : `${address}:${port}`
}
