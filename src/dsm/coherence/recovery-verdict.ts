import type { Claim, Verdict } from './recovery-message.ts'

/** What a member claims to have of one page. */
export interface RankClaim {
  readonly rank: number
  readonly claim: Claim
}

/**
 * A home's decision about a page: the rank that owns it, the ranks that share what home's memory holds too, or its
 * loss.
 */
export type PageVerdict =
  | { readonly kind: 'owned'; readonly owner: number }
  | { readonly kind: 'shared'; readonly sharers: readonly number[] }
  | { readonly kind: 'lost' }

/**
 * Decide what becomes of a page's copies:
 * 1. A writer stays the only owner.
 * 2. Else, if home's memory is valid, all ranks that have the page go on sharing it.
 * 3. Else one of them becomes the owner, and the others drop their copies, since no one would know of them.
 */
export function judge(claims: readonly RankClaim[], home: number, isMemoryValid: boolean): PageVerdict {
  const writer = claims.find(({ claim }) => claim === 'writer')
  if (writer !== undefined) return { kind: 'owned', owner: writer.rank }
  // Home's copy and home's memory are one frame.
  if (isMemoryValid || claims.some(({ rank }) => rank === home))
    return { kind: 'shared', sharers: claims.map(({ rank }) => rank) }
  const heir = claims.find(({ claim }) => claim === 'dirty') ?? claims[0]
  return heir === undefined ? { kind: 'lost' } : { kind: 'owned', owner: heir.rank }
}

/** What the verdict means to one who has claimed the page. */
export function verdictFor(verdict: PageVerdict, rank: number): Verdict {
  if (verdict.kind === 'owned') return verdict.owner === rank ? 'owner' : 'none'
  return verdict.kind === 'shared' && verdict.sharers.includes(rank) ? 'shared' : 'none'
}
