import type { NetworkOptions, Stream } from 'aether-dsm/internal/providers'
import type { SizesOfSimulation } from './simulated-replica.ts'
import {
  drawAbsence,
  drawBlackouts,
  drawBridge,
  drawClash,
  drawLag,
  drawOutage,
  drawRelay,
  drawRestarts,
  drawStrikes,
  replaceAll,
  type Strike,
} from './strike.ts'

/** Begin and length of what happens in a run: times are drawn within it. */
export const RUN_NS = 40_000_000
const DUEL_NS = 20_000_000
const CLASH_NS = 4_000_000
const REPLACEMENT_NS = 80_000_000

/** What a run is about. */
export interface Shape {
  readonly runNs: number
  readonly strikes: readonly Strike[]
  readonly hazardsMax: number
  readonly network?: Partial<NetworkOptions>
  /** Calls of each client, if not as in any run. */
  readonly calls?: number
  readonly thinkNs?: number
  readonly readers?: number
  readonly sizes?: Partial<SizesOfSimulation>
}

/** The fewer ticks, the more often a leader is given up that lives. */
const quickSilence = (stream: Stream): number => stream.between(3, 6)

export type ShapeName = 'mixed' | 'replacement' | 'duel' | 'relay' | 'bridge' | 'clash' | 'outage' | 'lag' | DiskShape
/** Of logs with journals only. */
type DiskShape = 'restarts' | 'blackout' | 'absence'

export const shapes: Readonly<Record<ShapeName, (stream: Stream, replicas: number) => Shape>> = {
  /** Strikes of any kind, at any time. */
  mixed: (stream): Shape => ({
    runNs: RUN_NS,
    strikes: several(stream.below(5), () => drawStrikes(stream, RUN_NS)),
    hazardsMax: 4,
  }),
  /** All who are there from the start are replaced. */
  replacement: (stream, replicas): Shape => ({
    runNs: REPLACEMENT_NS,
    strikes: [
      ...replaceAll(stream, replicas, REPLACEMENT_NS),
      ...several(stream.below(2), () => drawStrikes(stream, RUN_NS)),
    ],
    hazardsMax: 4,
  }),
  /** Leader after leader is struck, and each has stored only a part of what it wanted. */
  duel: (stream): Shape => ({
    runNs: RUN_NS,
    strikes: several(stream.between(5, 10), () => drawStrikes(stream, RUN_NS)),
    hazardsMax: 4,
    sizes: { silentTicks: quickSilence(stream) },
  }),
  relay: (stream): Shape => {
    const delayNs = stream.between(1000, 5000)
    return {
      runNs: DUEL_NS,
      strikes: [...drawRelay(stream, DUEL_NS, delayNs), ...(stream.chance(0.3) ? drawStrikes(stream, DUEL_NS) : [])],
      hazardsMax: 1,
      network: { delayNs, jitterNs: stream.chance(0.5) ? stream.between(200, 3 * delayNs) : 200 },
      calls: stream.between(10, 25),
      thinkNs: stream.between(50_000, 400_000),
      readers: stream.chance(0.3) ? 1 : 0,
      // A leader is missed soon, and a link that was cut works again soon.
      sizes: { silentTicks: quickSilence(stream), tickNs: 50_000, acknowledgeTimeout: 6 },
    }
  },
  bridge: (stream): Shape => ({
    runNs: DUEL_NS,
    strikes: [...drawBridge(stream, DUEL_NS), ...several(stream.below(2), () => drawStrikes(stream, DUEL_NS))],
    hazardsMax: 1,
    readers: 1,
    sizes: { silentTicks: quickSilence(stream) },
  }),
  /** Packets take long, so that much is under way, and yet no one is a lap of the ring behind. */
  clash: (stream): Shape => {
    const delayNs = stream.between(8000, 30_000)
    return {
      runNs: CLASH_NS,
      strikes: drawClash(stream, CLASH_NS, delayNs),
      hazardsMax: 0,
      network: { delayNs, jitterNs: stream.between(0, delayNs) },
      calls: stream.between(20, 50),
      thinkNs: stream.between(10_000, 200_000),
      sizes: {
        ...{ window: 16, ahead: 8, inFlightMax: 4 },
        ...{ silentTicks: stream.between(3, 4), tickNs: 50_000, acknowledgeTimeout: 6 },
      },
    }
  },
  outage: (stream): Shape => ({
    runNs: DUEL_NS,
    strikes: drawOutage(stream, DUEL_NS),
    hazardsMax: 1,
    sizes: { silentTicks: quickSilence(stream) },
  }),
  lag: (stream): Shape => ({
    runNs: RUN_NS,
    strikes: [...drawLag(stream, RUN_NS), ...several(stream.below(2), () => drawStrikes(stream, RUN_NS))],
    hazardsMax: 1,
    calls: stream.between(25, 50),
    sizes: { historyBytes: 1024 * stream.between(1, 3) },
  }),
  /** Replicas end and begin again, in the middle of whatever they do. */
  restarts: (stream): Shape => ({
    runNs: RUN_NS,
    strikes: [
      ...drawRestarts(stream, RUN_NS, stream.between(3, 8)),
      ...several(stream.below(3), () => drawStrikes(stream, RUN_NS)),
    ],
    hazardsMax: 1,
    sizes: stream.chance(0.5) ? { silentTicks: quickSilence(stream) } : {},
  }),
  /** All end at once. */
  blackout: (stream): Shape => ({
    runNs: RUN_NS,
    strikes: [
      ...drawBlackouts(stream, RUN_NS),
      ...drawRestarts(stream, RUN_NS, stream.below(3)),
      ...several(stream.below(2), () => drawStrikes(stream, RUN_NS)),
    ],
    hazardsMax: 1,
    sizes: stream.chance(0.5) ? { silentTicks: quickSilence(stream) } : {},
  }),
  /** A leader does not see that others have begun again, and lead. */
  absence: (stream, replicas): Shape => ({
    runNs: RUN_NS,
    strikes: drawAbsence(stream, RUN_NS, replicas),
    hazardsMax: 1,
    readers: 1,
    calls: stream.between(15, 30),
    // Others lead soon, and before this one finds out that it cannot replicate.
    sizes: { silentTicks: quickSilence(stream) },
  }),
}

/** How often each is drawn, of a hundred runs. */
const weights: readonly (readonly [Exclude<ShapeName, DiskShape>, number])[] = [
  ['mixed', 20],
  ['replacement', 10],
  ['duel', 8],
  ['relay', 32],
  ['bridge', 13],
  ['clash', 5],
  ['outage', 4],
  ['lag', 8],
]

function several(count: number, draw: () => readonly Strike[]): Strike[] {
  return Array.from({ length: count }, draw).flat()
}

export function drawShape(stream: Stream): ShapeName {
  let left = stream.below(weights.reduce((sum, [, weight]) => sum + weight, 0))
  for (const [name, weight] of weights) {
    left -= weight
    if (left < 0) return name
  }
  return 'mixed'
}
