/**
 * What the members of a group say to each other about a region while it recovers; see region-recovery.ts. All are of
 * one epoch.
 */
export type RecoveryMessage = { readonly epoch: number } & (
  | { readonly kind: 'flush' | 'ready' }
  /** Copies of the sender that were to go and are held by its program: before its `ready`, and when they are gone. */
  | { readonly kind: 'held' | 'left'; readonly pages: readonly number[] }
  | { readonly kind: 'claims'; readonly entries: readonly ClaimEntry[]; readonly last: boolean }
  | { readonly kind: 'verdicts'; readonly entries: readonly VerdictEntry[]; readonly last: boolean }
)

/**
 * What a member's copy of a page is worth. A `writer`'s copy is the only one, and may change until it is taken away.
 * All other copies of a page hold the same bytes. If one of them is `dirty`, home's memory may lack those bytes.
 */
export type Claim = 'clean' | 'dirty' | 'writer'

/** What becomes of a copy that was claimed. */
export type Verdict = 'none' | 'shared' | 'owner'

export interface ClaimEntry {
  readonly page: number
  readonly claim: Claim
}

export interface VerdictEntry {
  readonly page: number
  readonly verdict: Verdict
}

export const claimCodes: readonly Claim[] = ['clean', 'dirty', 'writer']
export const verdictCodes: readonly Verdict[] = ['none', 'shared', 'owner']
