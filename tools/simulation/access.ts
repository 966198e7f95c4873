import type { Stream } from 'aether-dsm/internal/providers'
import type { SimulationPlan } from './plan.ts'

/** One access of a program. */
export interface Access {
  readonly kind: 'load' | 'store' | 'add'
  readonly page: number
  readonly word: number
  /** Give up some page before it. */
  readonly evicts: boolean
  readonly thinkNs: number
}

/** What a thread will do. */
export function drawAccesses(plan: SimulationPlan, stream: Stream): Access[] {
  return Array.from({ length: plan.accesses }, () => {
    const draw = stream.below(100)
    const kind = draw < plan.stores ? 'store' : draw < plan.stores + plan.atomics ? 'add' : 'load'
    return {
      kind,
      page: stream.below(plan.pages),
      word: stream.below(plan.words),
      evicts: stream.below(100) < plan.evictions,
      thinkNs: stream.between(0, plan.thinkNs),
    }
  })
}

/** An access that was made, and what it saw and left. Values that are stored are unlike all others of the run. */
export interface Observation {
  readonly kind: Access['kind']
  /** Page and word. */
  readonly location: number
  /** What was there; -1 of a store, which does not look. */
  readonly seen: number
  /** What is there now; -1 of a load. */
  readonly left: number
}
