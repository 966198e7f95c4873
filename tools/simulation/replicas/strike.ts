import type { Stream } from 'aether-dsm/internal/providers'

/** What happens to a replica. Outages end; see the plan for how many may die. */
export type Blow =
  /** See the faults of the same names. */
  | { readonly kind: 'pause'; readonly forNs: number; readonly inWrite: boolean; readonly adapterStops: boolean }
  | { readonly kind: 'slow'; readonly forNs: number; readonly factor: number }
  /**
   * After `certainNs` the others know of it, if they ever do. `follows`: another replica comes then, so that in the end
   * none of the first voters may be left.
   */
  | {
      readonly kind: 'crash'
      readonly keeps: 'nothing' | 'memory'
      readonly lingerNs: number
      readonly certainNs: number | undefined
      readonly follows: boolean
    }
  /** Nothing gets from it to the others, or from them to it, or both. */
  | { readonly kind: 'isolate'; readonly forNs: number; readonly out: boolean; readonly in: boolean }
  /** The hosts fall apart in two groups, one of them that of the bits of `pick`. */
  | { readonly kind: 'split'; readonly forNs: number }
  /** It is asked to let the replica lead that `pick` names. */
  | { readonly kind: 'transfer' }

/**
 * A blow for the one that leads at that moment, or for one that does not. Only the run shows which host that is. A
 * candidate is a replica that wants to lead next. The blow comes `afterNs` later, when it has asked some acceptors and
 * not others.
 */
export interface Strike {
  readonly atNs: number
  readonly afterNs: number
  readonly target: 'leader' | 'follower' | 'candidate'
  /** Which one, where there are several. */
  readonly pick: number
  readonly blow: Blow
}

/** Long enough that the log goes on past what others keep. */
const LAG_NS_MAX = 60_000_000
const OUTAGE_NS_MAX = 15_000_000
/** In this time a candidate has begun its term, if all goes well. */
const CANDIDATE_NS_MAX = 50_000
/** Several at a time multiply, and a packet on a link takes as long as was decided when it was sent. */
export const SLOW_MAX = 20

/** Short and long ones alike. */
function duration(stream: Stream, most: number): number {
  return Math.round(1000 * (most / 1000) ** (stream.between(0, 1000) / 1000))
}

const draws: readonly ((stream: Stream) => Blow)[] = [
  (stream) => ({
    kind: 'pause',
    forNs: duration(stream, stream.chance(0.3) ? LAG_NS_MAX : OUTAGE_NS_MAX),
    inWrite: stream.chance(0.5),
    adapterStops: stream.chance(0.3),
  }),
  (stream) => ({ kind: 'slow', forNs: duration(stream, OUTAGE_NS_MAX), factor: stream.between(2, SLOW_MAX) }),
  (stream) => ({
    kind: 'crash',
    keeps: stream.chance(0.3) ? 'memory' : 'nothing',
    lingerNs: stream.chance(0.5) ? 0 : duration(stream, 2_000_000),
    certainNs: stream.chance(0.2) ? undefined : stream.between(2_000_000, 30_000_000),
    follows: stream.chance(0.7),
  }),
  (stream) => {
    const out = stream.chance(0.7)
    const most = stream.chance(0.3) ? LAG_NS_MAX : OUTAGE_NS_MAX
    return { kind: 'isolate', forNs: duration(stream, most), out, in: !out || stream.chance(0.6) }
  },
  (stream) => ({ kind: 'split', forNs: duration(stream, stream.chance(0.3) ? LAG_NS_MAX : OUTAGE_NS_MAX) }),
  () => ({ kind: 'transfer' }),
]

/** Up to three at a moment, or soon after: what comes together is worse than what comes one after the other. */
export function drawStrikes(stream: Stream, withinNs: number): Strike[] {
  const atNs = stream.between(0, withinNs)
  return Array.from({ length: stream.between(1, 3) }, (_, strike) => ({
    atNs: atNs + (stream.chance(0.3) ? 0 : duration(stream, 10_000_000)),
    afterNs: duration(stream, CANDIDATE_NS_MAX),
    target: strike > 0 && stream.chance(0.5) ? 'candidate' : stream.chance(0.7) ? 'leader' : 'follower',
    pick: stream.below(256),
    blow: draws[stream.below(draws.length)]!(stream),
  }))
}

/** Every replica that is there from the start ends, one after the other, and another takes its place. */
export function replaceAll(stream: Stream, replicas: number, withinNs: number): Strike[] {
  return Array.from({ length: replicas }, (_, index) => ({
    atNs: Math.round(((index + 1) * withinNs) / replicas),
    afterNs: 0,
    target: stream.chance(0.5) ? 'leader' : 'follower',
    pick: 0,
    blow: {
      kind: 'crash',
      keeps: 'nothing',
      lingerNs: 0,
      certainNs: stream.between(1_000_000, 3_000_000),
      follows: true,
    },
  }))
}
