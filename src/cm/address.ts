import { isIP, SocketAddress } from 'node:net'
import { checkWhole, mustBe } from '../native/index.ts'

/** An IP address and a port of the connection manager. These ports are unrelated to those of TCP and UDP sockets. */
export interface ConnectionAddress {
  /** In its canonical form, `127.0.0.1` or `fd00::1`. */
  readonly address: string
  readonly port: number
  readonly family: 4 | 6
}

/** Check an address literal and a port; names are resolved elsewhere. `argument` is what errors call the address. */
export function connectionAddress(address: string, port: number, argument: string = 'address'): ConnectionAddress {
  checkPort('port', port)
  const family = familyOf(address)
  if (family !== 4 && family !== 6) throw mustBe(argument, 'a numeric IPv4 or IPv6 address', address)
  if (family === 4) return { address, port, family }
  const [plain = '', zone] = address.split('%')
  const canonical = new SocketAddress({ address: plain, family: 'ipv6' }).address
  return { address: zone === undefined ? canonical : `${canonical}%${zone}`, port, family }
}

/** @throws ArgumentError unless it is an address and a port, as `connectionAddress` returns them. */
export function checkAddress(argument: string, value: ConnectionAddress): void {
  if (typeof value !== 'object' || value === null)
    throw mustBe(argument, "an object such as { address: '127.0.0.1', port: 7471, family: 4 }", value)
  checkPort(`${argument}.port`, value.port)
  const family = familyOf(value.address)
  if (family === 0) throw mustBe(`${argument}.address`, 'a numeric IPv4 or IPv6 address', value.address)
  if (value.family !== family)
    throw mustBe(`${argument}.family`, `${family}, the family of ${value.address}`, value.family)
}

/** 4, 6, or 0 for what is no numeric address. */
export function familyOf(address: unknown): number {
  return typeof address === 'string' ? isIP(address) : 0
}

export function checkPort(argument: string, port: unknown): void {
  checkWhole(argument, port, 0, 65_535)
}

/** True for `0.0.0.0` and `::`, which stand for every address of the machine. */
export function isWildcard(address: string): boolean {
  return address === '0.0.0.0' || address === '::'
}

/** @throws ArgumentError unless it is the address of a multicast group. */
export function checkGroup(group: ConnectionAddress): void {
  checkAddress('group', group)
  checkMulticastAddress('group.address', group)
}

/** @throws ArgumentError */
export function checkMulticastAddress(argument: string, address: ConnectionAddress): void {
  if (isMulticastAddress(address)) return
  throw mustBe(argument, 'a multicast address, of 224.0.0.0/4 or ff00::/8', address.address)
}

/** 224.0.0.0/4 and ff00::/8. */
function isMulticastAddress({ address, family }: ConnectionAddress): boolean {
  if (family === 6) return /^ff[0-9a-f]{2}:/i.test(address)
  const first = Number.parseInt(address, 10)
  return first >= 224 && first < 240
}

/** `10.0.0.1:4791`, `[fd00::1]:4791`. */
export function formatAddress({ address, port, family }: ConnectionAddress): string {
  return family === 6 ? `[${address}]:${port}` : `${address}:${port}`
}
