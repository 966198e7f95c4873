import type { VerbsGidEntry } from '../../native/index.ts'

/** The address family to prefer on a RoCE port that has both. */
export type AddressFamily = 'ipv4' | 'ipv6'

const FAMILY_SCORE = 100
const GLOBAL_SCORE = 10

/** `::ffff:a.b.c.d` */
function isMappedIpv4(gid: bigint): boolean {
  return gid >> 32n === 0xffffn
}

/** fe80::/10, or an IPv4 address of 169.254/16. */
function isLinkLocal(gid: bigint): boolean {
  if (isMappedIpv4(gid)) return ((gid >> 16n) & 0xffffn) === 0xa9fen
  return gid >> 118n === 0xfe80n >> 6n
}

/**
 * How good a gid is to talk from. The preferred address family counts most, then global scope, then the newer RoCE
 * version (v2 is routable). The score is -1 if the gid must not be used, because the entry is empty.
 */
function gidScore(entry: VerbsGidEntry, family: AddressFamily): number {
  if (entry.gid === 0n) return -1
  const familyScore = isMappedIpv4(entry.gid) === (family === 'ipv4') ? FAMILY_SCORE : 0
  const scope = isLinkLocal(entry.gid) ? 0 : GLOBAL_SCORE
  return familyScore + scope + Math.max(0, entry.type)
}

/** The entry with the best score, the first of several. Undefined if the table has none. */
export function chooseGid(entries: readonly VerbsGidEntry[], family: AddressFamily): VerbsGidEntry | undefined {
  let best: VerbsGidEntry | undefined
  for (const entry of entries) {
    if (gidScore(entry, family) < 0) continue
    if (best === undefined || gidScore(entry, family) > gidScore(best, family)) best = entry
  }
  return best
}
