import { networkInterfaces } from 'node:os'

/** Whether an address or name leads only to this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
}

/** Whether a numeric address is one of this machine. */
export function isOfThisMachine(address: string): boolean {
  if (isLoopback(address)) return true
  const [plain] = address.split('%')
  return Object.values(networkInterfaces()).some((all) => all?.some((own) => own.address === plain))
}
