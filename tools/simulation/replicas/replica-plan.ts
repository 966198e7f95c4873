import { Stream } from 'aether-dsm/internal/providers'
import { drawHazard, type Hazard } from '../hazard.ts'
import type { ReplicaCall } from './simulated-replica.ts'

/** A run of replicas, all of it. Leave hazards out to shorten one that fails. */
export interface ReplicaPlan {
  readonly seed: number
  readonly replicas: number
  /** Clients at each replica. */
  readonly clients: number
  readonly calls: number
  readonly keys: number
  /** How many of a hundred calls are reads. */
  readonly reads: number
  readonly thinkNs: number
  readonly hazards: readonly Hazard[]
  /** When further replicas come. */
  readonly joins: readonly number[]
}

/** Begin and length of what happens in a run: times are drawn within it. */
const RUN_NS = 40_000_000

export function planReplicas(seed: number, changes: Partial<ReplicaPlan> = {}): ReplicaPlan {
  const stream = new Stream(seed, 'plan', undefined)
  const replicas = stream.chance(0.7) ? 3 : stream.chance(0.7) ? 5 : 2
  const hazards: Hazard[] = []
  let deaths = 0
  for (let count = stream.below(7); count > 0; count -= 1) {
    const hazard = drawHazard(stream, replicas)
    const isDeath = hazard.fault?.kind === 'crash'
    // A majority has to be there in the end.
    if (isDeath && (deaths + 1) * 2 >= replicas) continue
    if (isDeath) deaths += 1
    hazards.push(spread(hazard, stream))
  }
  const joins = Array.from({ length: stream.below(3) }, () => stream.between(0, RUN_NS))
  return {
    seed,
    replicas,
    clients: stream.between(1, 2),
    calls: stream.between(5, 15),
    keys: stream.between(1, 3),
    reads: stream.between(20, 60),
    thinkNs: stream.between(1000, 2_000_000),
    hazards,
    joins,
    ...changes,
  }
}

/** Hazards begin within the run, which is longer than that of a coherent region. */
function spread(hazard: Hazard, stream: Stream): Hazard {
  const { fault } = hazard
  if (fault === undefined) return hazard
  const moved = { ...fault, atNs: stream.between(0, RUN_NS) }
  if (!('forNs' in moved) || moved.forNs === undefined) return { ...hazard, fault: moved }
  return { ...hazard, fault: { ...moved, forNs: Math.min(moved.forNs, 300_000_000) } }
}

/** What one client does: values of its own. */
export function drawCalls({ calls, keys, reads }: ReplicaPlan, stream: Stream, client: number): ReplicaCall[] {
  return Array.from({ length: calls }, (_, call) => {
    const key = stream.below(keys)
    const value = (client + 1) * 1000 + call + 1
    if (stream.below(100) < reads) return { key, input: { type: 'get' } as const }
    const expected = stream.below(4) === 0 ? 0 : (stream.below(client + 1) + 1) * 1000 + stream.below(calls) + 1
    if (stream.chance(0.3)) return { key, input: { type: 'compareAndSet', expected, value } as const }
    return { key, input: { type: 'set', value } as const }
  })
}
