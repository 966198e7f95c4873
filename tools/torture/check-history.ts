/**
 * What processes may see of pages that they share, while some of them die. Each page has one order of versions, because
 * a write has the page alone when it reads it and leaves the next version. All times are of one clock. So for each
 * page:
 *
 *   - What is seen was written by the rank that it names, and belongs together.
 *   - No version is written twice: otherwise one writer did not see the other, whose update is lost.
 *   - No access sees an older version than any rank knew when it started.
 *   - A page that was reported as lost stays lost.
 *   - It is reported only if it may be lost: no live rank had it when it was last written, and a rank that died may
 *     have had it.
 *
 * An access in progress at a death, or by a rank that may have been out of its group, took place or not, but not both.
 * What it found is not used.
 */
import { leftBy, type TortureAccess, type TortureHistory } from './history.ts'
import type { Stamp } from './page-stamp.ts'

/** In words, what must not have been; none where all is well. At most one of each kind for each page. */
export function checkTortureHistory(history: TortureHistory): string[] {
  return [...byPage(history.accesses)].flatMap(([page, accesses]) => {
    const checks = [wholeness, provenance, uniqueness, freshness, finality]
    const found = checks.flatMap((check) => check(accesses) ?? [])
    const unjust = justice(accesses, history)
    return [...found, ...(unjust === undefined ? [] : [unjust])].map((text) => `page ${page}: ${text}`)
  })
}

/** Pages that were reported as lost. */
export function lostPages(accesses: readonly TortureAccess[]): number[] {
  return [...new Set(accesses.filter(({ outcome }) => outcome === 'lost').map(({ page }) => page))]
}

type Check = (accesses: readonly TortureAccess[]) => string | undefined

function byPage(accesses: readonly TortureAccess[]): Map<number, TortureAccess[]> {
  const pages = new Map<number, TortureAccess[]>()
  for (const access of accesses) {
    const of = pages.get(access.page)
    if (of === undefined) pages.set(access.page, [access])
    else of.push(access)
  }
  return pages
}

const wholeness: Check = (accesses) => {
  const bad = accesses.find(({ outcome }) => outcome === 'torn' || outcome === 'failed')
  if (bad === undefined) return undefined
  return bad.outcome === 'torn' ? `torn: ${describeAccess(bad)}: ${bad.text}` : `${describeAccess(bad)}: ${bad.text}`
}

/** What is seen was being written before it was seen. */
const provenance: Check = (accesses) => {
  const begun = new Map<string, number>()
  for (const access of accesses) {
    const left = leftBy(access)
    if (left === undefined) continue
    const before = begun.get(key(left)) ?? Number.POSITIVE_INFINITY
    begun.set(key(left), Math.min(before, access.beganUs))
  }
  for (const access of accesses) {
    const { seen, endedUs } = access
    if (seen === undefined || seen.version === 0) continue
    const since = begun.get(key(seen))
    if (since === undefined) return `${describeAccess(access)}, which no rank wrote`
    if (since > endedUs) return `${describeAccess(access)}, which was written only later`
  }
  return undefined
}

/** Writes that certainly took place: they ended, or another access saw their version. */
const uniqueness: Check = (accesses) => {
  const authors = new Map<number, TortureAccess>()
  const seen = new Set(accesses.flatMap((access) => (access.seen === undefined ? [] : [key(access.seen)])))
  for (const access of accesses) {
    const left = leftBy(access)
    if (left === undefined || (access.outcome === 'doubt' && !seen.has(key(left)))) continue
    const other = authors.get(left.version)
    if (other !== undefined)
      return `lost update: version ${left.version} was written twice: ${describeAccess(other)}, and ${describeAccess(access)}`
    authors.set(left.version, access)
  }
  return undefined
}

const freshness: Check = (accesses) => {
  const known = accesses.filter(({ outcome, seen }) => outcome === 'done' && seen !== undefined)
  const ends = known.sort((one, other) => one.endedUs - other.endedUs)
  let next = 0
  let latest: TortureAccess | undefined
  for (const access of inOrder(accesses)) {
    for (; next < ends.length && ends[next]!.endedUs < access.beganUs; next += 1)
      if (latest === undefined || versionKnownBy(ends[next]!) > versionKnownBy(latest)) latest = ends[next]
    if (
      access.outcome === 'doubt' ||
      access.seen === undefined ||
      latest === undefined ||
      access.seen.version >= versionKnownBy(latest)
    )
      continue
    return `stale: ${describeAccess(access)}, after ${describeAccess(latest)}`
  }
  return undefined
}

const finality: Check = (accesses) => {
  const first = firstLoss(accesses)
  if (first === undefined) return undefined
  const later = accesses.find(
    ({ seen, beganUs, outcome }) => outcome !== 'doubt' && seen !== undefined && beganUs > first.endedUs,
  )
  return later === undefined ? undefined : `came back: ${describeAccess(later)}, after ${describeAccess(first)}`
}

/** Whether the page was to be lost. */
function justice(accesses: readonly TortureAccess[], { deaths, homeOf }: TortureHistory): string | undefined {
  const loss = firstLoss(accesses)
  if (loss === undefined) return undefined
  const isDead = (rank: number): boolean => (deaths.get(rank) ?? Number.POSITIVE_INFINITY) <= loss.endedUs
  const holder = survivingHolder(accesses, loss, isDead)
  if (holder !== undefined)
    return `lost without need: ${describeAccess(loss)}, though there was ${describeAccess(holder)}`
  if (isDead(homeOf(loss.page)) || accesses.some(({ rank }) => isDead(rank))) return undefined
  return `lost without need: ${describeAccess(loss)}, and no rank that died can have had it`
}

function firstLoss(accesses: readonly TortureAccess[]): TortureAccess | undefined {
  const losses = accesses.filter(({ outcome }) => outcome === 'lost')
  return losses.sort((one, other) => one.endedUs - other.endedUs)[0]
}

/** A live rank that has had the page since its last write, and has kept it. */
function survivingHolder(
  accesses: readonly TortureAccess[],
  loss: TortureAccess,
  isDead: (rank: number) => boolean,
): TortureAccess | undefined {
  const before = accesses.filter(({ beganUs }) => beganUs < loss.endedUs)
  const lastOf = new Map<number, TortureAccess>()
  for (const access of inOrder(before)) if (!isDead(access.rank)) lastOf.set(access.rank, access)
  const lastWriteEnd = (but: number): number =>
    before.reduce(
      (end, { kind, rank, endedUs }) => (kind === 'write' && rank !== but ? Math.max(end, endedUs) : end),
      -1,
    )
  return [...lastOf.values()].find((access) => {
    const { kind, outcome, endedUs, beganUs, rank } = access
    if (kind === 'release' || outcome !== 'done' || endedUs >= loss.endedUs) return false
    return beganUs > lastWriteEnd(rank)
  })
}

function inOrder(accesses: readonly TortureAccess[]): TortureAccess[] {
  return [...accesses].sort((one, other) => one.beganUs - other.beganUs)
}

/** After an access that has ended. */
function versionKnownBy(access: TortureAccess): number {
  return leftBy(access)?.version ?? access.seen?.version ?? 0
}

function key({ version, writer }: Stamp): string {
  return `${version} ${writer}`
}

/** In words, without its page. */
export function describeAccess({ rank, kind, seen, outcome, beganUs, endedUs }: TortureAccess): string {
  const what =
    seen === undefined ? '' : seen.version === 0 ? ' of zeros' : ` of version ${seen.version} by rank ${seen.writer}`
  const how = outcome === 'done' ? '' : `, ${outcome}`
  return `rank ${rank}'s ${kind}${what}${how} (${Math.round(beganUs)} to ${Math.round(endedUs)} µs)`
}
