import { networkInterfaces } from 'node:os'

/** An address of this machine that leads to the device. Devices in software of one machine need none. */
export function addressOf(device: string): string {
  if (device.startsWith('shm')) return '127.0.0.1'
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1'
}
