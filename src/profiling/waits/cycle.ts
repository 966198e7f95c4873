/** A rank or process that waits for others. Each of its waits keeps it from going on. */
export interface WaitEdges {
  readonly waiter: number
  readonly others: readonly number[]
  /** What it waits for. */
  readonly object: string
}

/**
 * Find the shortest cycle through `from`, in which each waits for the next and the last for the first; undefined if
 * there is none. A breadth-first search in the wait-for graph (Holt, Some Deadlock Properties of Computer Systems,
 * 1972).
 */
export function findCycle(edges: readonly WaitEdges[], from: number): readonly number[] | undefined {
  const after = new Map<number, Set<number>>()
  for (const { waiter, others } of edges) {
    const known = after.get(waiter) ?? new Set()
    for (const other of others) known.add(other)
    after.set(waiter, known)
  }
  const cameFrom = new Map<number, number>()
  const queue = [from]
  for (let waiter = queue.shift(); waiter !== undefined; waiter = queue.shift())
    for (const next of after.get(waiter) ?? []) {
      if (next === from) return pathTo(waiter, from, cameFrom)
      if (cameFrom.has(next)) continue
      cameFrom.set(next, waiter)
      queue.push(next)
    }
  return undefined
}

function pathTo(last: number, first: number, cameFrom: ReadonlyMap<number, number>): number[] {
  const path = [last]
  for (let waiter = last; waiter !== first; path.unshift(waiter)) waiter = cameFrom.get(waiter)!
  return path
}

/**
 * `deadlock: ranks 0 and 1 wait for each other: rank 0 waits for lock 'b', for which it needs rank 1; …`
 *
 * `noun`: `rank` or `process`.
 */
export function cycleInWords(noun: string, cycle: readonly number[], edges: readonly WaitEdges[]): string {
  const parts = cycle.map((waiter, index) => {
    const next = cycle[(index + 1) % cycle.length]!
    const edge = edges.find((other) => other.waiter === waiter && other.others.includes(next))
    return `${noun} ${waiter} waits for ${edge?.object ?? 'something'}, for which it needs ${noun} ${next}`
  })
  const all = `${noun === 'process' ? 'processes' : `${noun}s`} ${cycle.slice(0, -1).join(', ')} and ${cycle.at(-1)}`
  const who = cycle.length === 1 ? `${noun} ${cycle[0]} waits for itself` : `${all} wait for each other`
  return `deadlock: ${who}: ${parts.join('; ')}`
}
