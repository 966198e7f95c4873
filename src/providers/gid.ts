import { mustBe } from '../native/index.ts'

/** A 128-bit port identifier as bigint, in host order: the first byte on the wire is the most significant. */
export type Gid = bigint

/** `fd00:0:12:…` in eight hexadecimal groups, as `ibv_devinfo -v` prints it. */
export function formatGid(gid: Gid): string {
  if (typeof gid !== 'bigint' || gid < 0n) throw mustBe('gid', 'a gid, as device.gid or parseGid() gives', gid)
  const digits = gid.toString(16).padStart(32, '0')
  return (digits.match(/.{4}/g) ?? []).join(':')
}

/** The inverse of {@link formatGid}, for gids that arrive as text. */
export function parseGid(text: string): Gid {
  if (typeof text !== 'string' || !/^([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$/i.test(text)) {
    throw mustBe('text', 'a gid, eight groups of hexadecimal digits', text)
  }
  return BigInt(
    `0x${text
      .split(':')
      .map((group) => group.padStart(4, '0'))
      .join('')}`,
  )
}

/** ff00::/8, as in IPv6 (IB specification 4.1.1). */
export function isMulticast(gid: Gid): boolean {
  return typeof gid === 'bigint' && gid >> 120n === 0xffn
}
