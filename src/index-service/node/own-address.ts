import { openDevice } from '../../verbs/index.ts'

const V4_MAPPED = 0xffffn

/**
 * The IP address at which other machines reach this one over a device: that of its gid, as for tcp and RoCE. Undefined
 * for InfiniBand, whose gids are no IP addresses.
 */
export function ownAddress(deviceName: string): string | undefined {
  using device = openDevice(deviceName)
  const { gid } = device
  if (device.attributes.linkLayer === 'infiniband') return undefined
  const groups = (bits: bigint, count: number): bigint[] =>
    Array.from({ length: count }, (_, at) => (gid >> (BigInt(count - 1 - at) * bits)) & ((1n << bits) - 1n))
  if (gid >> 32n === V4_MAPPED) return groups(8n, 4).join('.')
  return groups(16n, 8)
    .map((group) => group.toString(16))
    .join(':')
}
