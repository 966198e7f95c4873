import type { Observation } from './access.ts'

/** Whether a history is sequentially consistent; 'unknown' where finding out takes too long. */
export type Verdict = 'yes' | 'no' | 'unknown'

/** How many states are looked at. */
const STATES_MAX = 100_000

/**
 * Whether the history is sequentially consistent (Lamport 1979). It looks for one order of all accesses that keeps
 * every thread's own order. In it, each access must see the last value of its location, at first 0. Times and the
 * protocol are not used. The search covers the positions that threads can reach, and visits no state twice.
 */
export function checkSequentialConsistency(threads: readonly (readonly Observation[])[]): Verdict {
  const visited = new Set<string>()
  const positions = threads.map(() => 0)
  const memory = new Map<number, number>()
  let looked = 0

  const search = (): Verdict => {
    if (positions.every((position, thread) => position === threads[thread]!.length)) return 'yes'
    const key = `${positions.join()}/${[...memory].sort(([one], [other]) => one - other).join()}`
    if (visited.has(key)) return 'no'
    looked += 1
    if (looked > STATES_MAX) return 'unknown'
    visited.add(key)
    for (let thread = 0; thread < threads.length; thread += 1) {
      const verdict = follow(thread)
      if (verdict !== 'no') return verdict
    }
    return 'no'
  }

  const follow = (thread: number): Verdict => {
    const next = threads[thread]![positions[thread]!]
    if (next === undefined) return 'no'
    const before = memory.get(next.location) ?? 0
    if (next.kind !== 'store' && next.seen !== before) return 'no'
    positions[thread]! += 1
    if (next.kind !== 'load') memory.set(next.location, next.left)
    const verdict = search()
    positions[thread]! -= 1
    memory.set(next.location, before)
    return verdict
  }

  return search()
}
