import type { Gid } from '../gid.ts'

/** The first 16 bits of every gid of this provider: a unique local address (RFC 4193), so never that of a real port. */
const PREFIX = 0xfd41n

/** Where a device's segment is: gid = prefix (16) | descriptor (24) | process (24) | nonce (64). */
export interface SegmentLocation {
  readonly processId: number
  readonly descriptor: number
  readonly nonceLow: number
  readonly nonceHigh: number
}

export function encodeGid(location: SegmentLocation): Gid {
  const nonce = (BigInt(location.nonceHigh) << 32n) | BigInt(location.nonceLow)
  return (PREFIX << 112n) | (BigInt(location.descriptor) << 88n) | (BigInt(location.processId) << 64n) | nonce
}

/** Undefined if the gid does not belong to this provider. */
export function decodeGid(gid: Gid): SegmentLocation | undefined {
  if (typeof gid !== 'bigint' || gid >> 112n !== PREFIX) return undefined
  return {
    descriptor: Number((gid >> 88n) & 0xffffffn),
    processId: Number((gid >> 64n) & 0xffffffn),
    nonceLow: Number(gid & 0xffffffffn),
    nonceHigh: Number((gid >> 32n) & 0xffffffffn),
  }
}

/** The gid as four 32-bit words, for the block of a queue pair. */
export function gidWords(gid: Gid): [number, number, number, number] {
  const word = (shift: bigint): number => Number((gid >> shift) & 0xffffffffn) | 0
  return [word(96n), word(64n), word(32n), word(0n)]
}
