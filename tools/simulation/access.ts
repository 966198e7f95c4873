import type { Stream } from 'aether-dsm/internal/providers'
import type { SimulationPlan } from './plan.ts'

/** `from` up to but not including `to`. */
interface PageRange {
  readonly from: number
  readonly to: number
}

/** One access of a program. */
export interface Access {
  readonly kind: 'load' | 'store' | 'add'
  readonly page: number
  readonly word: number
  /** An explicit call holds the page for so long. */
  readonly copyNs: number
  /** Pages that are given up after it. */
  readonly givesUp: PageRange | undefined
  /** What the process has written is fenced after it. */
  readonly fences: boolean
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
      copyNs: stream.between(0, plan.copyNs),
      givesUp: stream.below(100) < plan.evictions ? drawRange(plan.pages, stream) : undefined,
      fences: stream.below(100) < plan.fences,
      thinkNs: stream.between(0, plan.thinkNs),
    }
  })
}

function drawRange(pages: number, stream: Stream): PageRange {
  const from = stream.below(pages)
  return { from, to: stream.between(from + 1, pages) }
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
