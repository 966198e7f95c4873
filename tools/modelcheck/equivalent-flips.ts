/** Flips of some protocols' cells that change nothing which must be so, and the reason. */
export interface EquivalentFlips {
  /** Names of the protocols. */
  readonly of: readonly string[]
  /** Names of the flips: all that match go unnoticed. */
  readonly flips: RegExp
  readonly why: string
}

/**
 * Tests fail if the invariants detect one of them, or if a pattern matches no flip. The invariants must detect a sample
 * of all other flips.
 */
export const equivalentFlips: readonly EquivalentFlips[] = [
  {
    of: ['mesi', 'moesi', 'directory'],
    flips: /^cache I\/Evict -> /,
    why: 'The copy is forgotten together with its frame, in whatever state it is said to be.',
  },
  {
    of: ['mesi', 'moesi', 'directory'],
    flips:
      /^cache (SI_A\/Invalidate|EI_A\/ForwardModified|MI_A\/ForwardModified|MI_A\/WriteBack|II_A\/Load|II_A\/Store) -> (SI_A|EI_A)$/,
    why: 'Home has noted that the copy is gone and asks it for nothing more: which of the states that wait for its last word comes next makes no difference.',
  },
  {
    of: ['moesi'],
    flips: /^cache (SM\/AckMore -> OM|OM\/AckMore -> SM)$/,
    why: 'An acknowledgement ahead of the grant says that home has granted: only the grant and further acknowledgements can come, and both states take those alike.',
  },
  {
    of: ['moesi'],
    flips: /^cache E\/Load -> O$/,
    why: 'A page that was not written is answered for as if it had been: a write-back too many, and nothing else.',
  },
  {
    of: ['moesi'],
    flips: /^directory (X|O)\/UpgradeOwner without setOwner$/,
    why: 'It is the owner already.',
  },
]

/** Why a flip need not be noticed; undefined where it has to be. */
export function whyEquivalent(protocol: string, flip: string): string | undefined {
  return equivalentFlips.find(({ of, flips }) => of.includes(protocol) && flips.test(flip))?.why
}
