import { networkInterfaces } from 'node:os'

/** Whether an address or name leads only to this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
}

/** An IPv4 address as sockets for both families show it. */
const V4_MAPPED = /^::ffff:(?=[\d.]+$)/i

/** Whether a numeric address is one of this machine. */
export function isOfThisMachine(address: string): boolean {
  const plain = address.replace(/%.*$/, '').replace(V4_MAPPED, '')
  if (isLoopback(plain)) return true
  return Object.values(networkInterfaces()).some((all) => all?.some((own) => own.address === plain))
}
