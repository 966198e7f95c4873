import { Stream } from 'aether-dsm/internal/providers'
import { drawHazard, type Hazard } from '../hazard.ts'
import type { ReplicaCall, SizesOfSimulation } from './simulated-replica.ts'
import { drawStrikes, replaceAll, SLOW_MAX, type Strike } from './strike.ts'

/** A run of replicas, all of it. Leave hazards and strikes out to shorten one that fails. */
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
  readonly sizes: SizesOfSimulation
  /** What goes wrong with the network and with hosts that are known before. */
  readonly hazards: readonly Hazard[]
  /** What happens to a replica that leads, or to one that does not. */
  readonly strikes: readonly Strike[]
  /** When further replicas come. */
  readonly joins: readonly number[]
}

/** Begin and length of what happens in a run: times are drawn within it. */
const RUN_NS = 40_000_000
const REPLACEMENT_NS = 80_000_000
/** An outage that is longer shows nothing else. */
const OUTAGE_NS_MAX = 50_000_000

/** Some runs are calm; others are long, have many strikes, or replace every replica. */
export function planReplicas(seed: number, changes: Partial<ReplicaPlan> = {}): ReplicaPlan {
  const stream = new Stream(seed, 'plan', undefined)
  const replicas = stream.chance(0.7) ? 3 : stream.chance(0.7) ? 5 : 2
  const hazards: Hazard[] = []
  for (let count = stream.below(5); count > 0; count -= 1) {
    const hazard = drawHazard(stream, replicas)
    // Strikes crash replicas, and see to it that a majority is left.
    if (hazard.fault?.kind !== 'crash') hazards.push(spread(hazard, stream))
  }
  const replaces = stream.chance(0.15)
  const runNs = replaces ? REPLACEMENT_NS : RUN_NS
  const strikes: Strike[] = replaces ? replaceAll(stream, replicas, runNs) : []
  // Leader after leader is struck, and each has stored only a part of what it wanted.
  const isDuel = !replaces && stream.chance(0.35)
  const moments = isDuel ? stream.between(5, 10) : stream.below(replaces ? 2 : 5)
  for (let count = moments; count > 0; count -= 1) strikes.push(...drawStrikes(stream, runNs))
  const isLong = stream.chance(isDuel ? 0.1 : 0.3)
  const calls = isLong ? stream.between(25, 50) : stream.between(5, 15)
  return {
    seed,
    replicas,
    clients: stream.between(1, 2),
    calls,
    keys: isLong ? stream.between(3, 6) : stream.between(1, 3),
    reads: stream.between(20, 60),
    // Bursts, or calls for as long as something goes wrong.
    thinkNs: stream.chance(0.25) ? stream.between(1000, 50_000) : stream.between(200_000, Math.round(runNs / calls)),
    sizes: {
      window: stream.chance(0.5) ? 16 : 8,
      ahead: stream.chance(0.5) ? 8 : stream.between(1, 4),
      inFlightMax: stream.between(1, 4),
      historyBytes: 1024 * stream.between(2, 8),
      // The fewer, the more often a leader is given up that lives.
      silentTicks: isDuel || stream.chance(0.3) ? stream.between(3, 6) : 20,
    },
    hazards,
    strikes,
    joins: Array.from({ length: stream.below(3) }, () => stream.between(0, RUN_NS)),
    ...changes,
  }
}

/** Hazards begin within the run, which is longer than that of a coherent region. */
function spread(hazard: Hazard, stream: Stream): Hazard {
  const { fault } = hazard
  if (fault === undefined) return hazard
  const slower = fault.kind === 'slow' ? { factor: Math.min(fault.factor, SLOW_MAX) } : {}
  const moved = { ...fault, ...slower, atNs: stream.between(0, RUN_NS) }
  if (!('forNs' in moved) || moved.forNs === undefined) return { ...hazard, fault: moved }
  return { ...hazard, fault: { ...moved, forNs: Math.min(moved.forNs, OUTAGE_NS_MAX) } }
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
