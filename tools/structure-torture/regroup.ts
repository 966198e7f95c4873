import { join } from 'aether-dsm/internal/dsm'
import { openStructures } from 'aether-dsm/internal/structures'

/** A place in the group that those make who are left. */
export interface Regroup {
  readonly rank: number
  readonly size: number
}

const PATIENCE_MS = 50_000
const CALLS = 20

/**
 * Those who are left of a group make another, all of them homes. Gives what this one found at every home: each adds
 * {@link CALLS}.
 */
export async function regroup({ rank, size }: Regroup, leaseMs: number): Promise<readonly number[]> {
  await using group = await join({
    rank,
    size,
    rendezvous: 'local:torture-regrouped',
    leaseMs,
    timeoutMs: PATIENCE_MS,
  })
  await using shared = await openStructures(group, { size: 2 ** 20 })
  const counters = await Promise.all(namesOfAllHomes(shared, size).map((name) => shared.counter(name)))
  for (const counter of counters) for (let call = 0; call < CALLS; call += 1) await counter.add()
  await group.barrier({ timeoutMs: PATIENCE_MS })
  const found = await Promise.all(counters.map((counter) => counter.get()))
  await group.barrier({ timeoutMs: PATIENCE_MS })
  return found
}

/** What each of them finds where all is well. */
export function wantedOf({ size }: Pick<Regroup, 'size'>): readonly number[] {
  return Array.from({ length: size }, () => CALLS * size)
}

/** A name for each home. */
function namesOfAllHomes(shared: { homeOf(name: string): number }, size: number): readonly string[] {
  const names = new Map<number, string>()
  for (let at = 0; names.size < size; at += 1) names.set(shared.homeOf(`counter ${at}`), `counter ${at}`)
  return [...names].sort(([a], [b]) => a - b).map(([, name]) => name)
}
