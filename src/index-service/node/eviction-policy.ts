import { MarkMode, type MarkModeNumber } from '../memory/use-marks.ts'
import type { EvictionRule } from '../state/victims.ts'

/**
 * What becomes of keys when the memory is full, by the names that Redis has for it.
 *
 * - `noeviction`: none goes, and writes are refused.
 * - `allkeys-…`: any key may go, `volatile-…`: only keys that expire.
 * - `…-lru`: first those that were not used for the longest time, `…-lfu`: those that are used least, `…-random`: any,
 *   `…-ttl`: those that expire first.
 */
export type EvictionPolicy =
  | 'noeviction'
  | 'allkeys-lru'
  | 'allkeys-lfu'
  | 'allkeys-random'
  | 'volatile-lru'
  | 'volatile-lfu'
  | 'volatile-random'
  | 'volatile-ttl'

type Rule = Omit<EvictionRule, 'samples'> & { readonly marks?: MarkModeNumber }

/** In the order in which Redis names them. */
const RULES: Readonly<Record<EvictionPolicy, Rule | undefined>> = {
  'volatile-lru': { of: 'volatile', by: 'recency', marks: MarkMode.Recency },
  'volatile-lfu': { of: 'volatile', by: 'frequency', marks: MarkMode.Frequency },
  'volatile-random': { of: 'volatile', by: 'random' },
  'volatile-ttl': { of: 'volatile', by: 'expiry' },
  'allkeys-lru': { of: 'all', by: 'recency', marks: MarkMode.Recency },
  'allkeys-lfu': { of: 'all', by: 'frequency', marks: MarkMode.Frequency },
  'allkeys-random': { of: 'all', by: 'random' },
  noeviction: undefined,
}

export const EVICTION_POLICIES: readonly EvictionPolicy[] = Object.keys(RULES) as EvictionPolicy[]

/** What a policy means; undefined: nothing is evicted. `marks`: what has to be noted of keys for it. */
export function ruleOf(policy: EvictionPolicy): Rule | undefined {
  return RULES[policy]
}

/** A policy, and how well it chooses. */
export interface EvictionSettings {
  readonly policy: EvictionPolicy
  /** Keys that are looked at for one that goes. */
  readonly samples: number
  /** Bytes that may be used if this process writes; undefined: all that there are. */
  readonly boundBytes?: number | undefined
}

export const DEFAULT_EVICTION: EvictionSettings = { policy: 'noeviction', samples: 5 }
