import type { Stream } from 'aether-dsm/internal/providers'

/** What happens to a replica. Outages end; see the plan for how many may die. */
type Blow =
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
  /**
   * It crashes, and begins again with its disk. `isCertain`: the others are told of the end, too. Its memory may still
   * answer for a while.
   */
  | { readonly kind: 'restart'; readonly downNs: number; readonly lingerNs: number; readonly isCertain: boolean }
  /**
   * All crash within some time. A majority begins again soon, each at a time of its own, and the others `lateNs` later.
   * `losesOne`: one of them has lost its disk.
   */
  | {
      readonly kind: 'blackout'
      readonly withinNs: number
      readonly downNs: number
      readonly lateNs: number
      readonly losesOne: boolean
    }
  /** Nothing comes to its disk. */
  | { readonly kind: 'stall'; readonly forNs: number }
  /** Nothing gets from it to the others, or from them to it, or both. */
  | { readonly kind: 'isolate'; readonly forNs: number; readonly out: boolean; readonly in: boolean }
  /**
   * It is cut off until enough others are struck by this that a majority would be cut off. It still reaches those of
   * the bits of `pick`. So one leader after the other stores a part of what it wants, and the next ones meet what it
   * left.
   */
  | { readonly kind: 'relay'; readonly forNs: number }
  /** It and the one that `pick` names do not reach each other, and all others reach both. It may end by a crash. */
  | { readonly kind: 'part'; readonly forNs: number; readonly crashes: boolean }
  /** Nothing gets out or in, not even from it to its own memory. */
  | { readonly kind: 'link-down'; readonly forNs: number }
  /** Packets get lost that it sends, or is sent. */
  | { readonly kind: 'lossy'; readonly forNs: number; readonly loss: number }
  /** What gets from it to the one that `pick` names, or comes from there, takes longer. */
  | { readonly kind: 'delay'; readonly forNs: number; readonly delayNs: number; readonly out: boolean }
  /** The hosts fall apart in two groups, one of them that of the bits of `pick`. */
  | { readonly kind: 'split'; readonly forNs: number }
  /** What it is told by another way than its links comes later: its program is busy. */
  | { readonly kind: 'deaf'; readonly forNs: number }
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
export const LAG_NS_MAX = 60_000_000
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
  part,
  delay,
  lossy,
  (stream) => ({ kind: 'link-down', forNs: duration(stream, OUTAGE_NS_MAX) }),
  () => ({ kind: 'transfer' }),
]

function part(stream: Stream): Blow {
  return { kind: 'part', forNs: duration(stream, OUTAGE_NS_MAX), crashes: stream.chance(0.1) }
}

function lossy(stream: Stream, forNs = duration(stream, 2_000_000)): Blow {
  return { kind: 'lossy', forNs, loss: stream.between(10, 50) / 100 }
}

function delay(stream: Stream): Blow {
  return {
    kind: 'delay',
    forNs: duration(stream, OUTAGE_NS_MAX),
    delayNs: duration(stream, 3_000_000),
    out: stream.chance(0.5),
  }
}

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

/** Steps of a term's beginning, each of which takes a packet's time: until its first entry is stored and told. */
const CANDIDATE_STEPS = 12

/** One leader after the other is cut off, soon after it wanted to lead. `delayNs`: what a packet takes. */
export function drawRelay(stream: Stream, withinNs: number, delayNs: number): Strike[] {
  const rounds = stream.between(8, 24)
  return Array.from({ length: rounds }, (_, round) => ({
    atNs: Math.round(((round + 0.5) * withinNs) / rounds),
    // Between two steps of a term's beginning, mostly.
    afterNs: stream.chance(0.8) ? stream.between(0, CANDIDATE_STEPS * delayNs) : duration(stream, 3_000_000),
    target: round === 0 || stream.chance(0.2) ? 'leader' : 'candidate',
    pick: stream.chance(0.5) ? 0 : stream.below(256),
    blow: { kind: 'relay', forNs: OUTAGE_NS_MAX },
  }))
}

/** Two do not reach each other, and take turns in leading those who reach both. */
export function drawBridge(stream: Stream, withinNs: number): Strike[] {
  const moments = stream.between(2, 5)
  return Array.from({ length: moments }, (_, moment) => {
    const atNs = Math.round((moment * withinNs) / moments)
    const common = { atNs, afterNs: stream.between(0, 20_000), pick: stream.below(256) }
    const parted: Strike = { ...common, target: 'leader', blow: part(stream) }
    const other: Strike = {
      ...{ ...common, pick: stream.below(256) },
      target: stream.chance(0.7) ? 'candidate' : 'leader',
      blow: stream.chance(0.7) ? delay(stream) : part(stream),
    }
    return [parted, other]
  }).flat()
}

/** A leader is gone, and the one that wants to follow it gives up before it could ask anyone. */
export function drawOutage(stream: Stream, withinNs: number): Strike[] {
  const common = { atNs: stream.between(2_000_000, withinNs / 2), pick: 0 }
  const gone = (most: number): Blow => ({ kind: 'link-down', forNs: stream.between(12_000_000, most) })
  return [
    { ...common, afterNs: 0, target: 'leader', blow: gone(40_000_000) },
    { ...common, afterNs: stream.between(0, 3000), target: 'candidate', blow: gone(20_000_000) },
  ]
}

/**
 * A leader that is busy goes on while another, which does not reach it, begins a term with those who reach both. What
 * the two ask for comes in between each other, and then the first one ends.
 */
export function drawClash(stream: Stream, withinNs: number, delayNs: number): Strike[] {
  const moments = stream.between(2, 4)
  return Array.from({ length: moments }, (_, moment): Strike[] => {
    const common = { atNs: Math.round(((moment + 1) * withinNs) / (moments + 1)), afterNs: 0, pick: stream.below(256) }
    const forNs = stream.between(500_000, 2_000_000)
    return [
      { ...common, target: 'leader', blow: { kind: 'part', forNs, crashes: stream.chance(0.5) } },
      {
        ...common,
        target: 'candidate',
        // When it has the promise and prepares slots.
        afterNs: stream.between(3 * delayNs, 7 * delayNs),
        blow: lossy(stream, stream.between(100_000, 500_000)),
      },
    ]
  }).flat()
}

/** Followers stay behind, by whole laps of the ring, and what they are sent comes late. */
export function drawLag(stream: Stream, withinNs: number): Strike[] {
  const moments = stream.between(2, 6)
  return Array.from({ length: moments }, () => ({
    atNs: stream.between(0, withinNs),
    afterNs: 0,
    target: stream.chance(0.8) ? 'follower' : 'leader',
    pick: stream.below(256),
    blow: stream.chance(0.5)
      ? delay(stream)
      : { kind: 'pause', forNs: duration(stream, LAG_NS_MAX), inWrite: stream.chance(0.3), adapterStops: false },
  }))
}

const restartDraws: readonly ((stream: Stream) => Blow)[] = [restart, restart, restart, stall, blackout, diskLost]

function restart(stream: Stream): Blow {
  return {
    kind: 'restart',
    downNs: duration(stream, stream.chance(0.2) ? LAG_NS_MAX : OUTAGE_NS_MAX),
    lingerNs: stream.chance(0.6) ? 0 : duration(stream, OUTAGE_NS_MAX),
    isCertain: stream.chance(0.5),
  }
}

function stall(stream: Stream): Blow {
  return { kind: 'stall', forNs: duration(stream, LAG_NS_MAX) }
}

function blackout(stream: Stream): Blow {
  return {
    kind: 'blackout',
    withinNs: stream.chance(0.3) ? 0 : duration(stream, 2_000_000),
    downNs: duration(stream, OUTAGE_NS_MAX),
    lateNs: stream.chance(0.5) ? 0 : duration(stream, LAG_NS_MAX),
    losesOne: stream.chance(0.2),
  }
}

function diskLost(stream: Stream): Blow {
  return { ...certainEnd, certainNs: stream.between(1_000_000, 10_000_000) }
}

const certainEnd = { kind: 'crash', keeps: 'nothing', lingerNs: 0, follows: true } as const

/** What comes on top where there are disks: up to three at a moment, or soon after. */
export function drawRestarts(stream: Stream, withinNs: number, moments: number): Strike[] {
  return Array.from({ length: moments }, (): Strike[] => {
    const atNs = stream.between(0, withinNs)
    return Array.from(
      { length: stream.between(1, 3) },
      (): Strike => ({
        atNs: atNs + (stream.chance(0.3) ? 0 : duration(stream, 10_000_000)),
        afterNs: duration(stream, stream.chance(0.5) ? CANDIDATE_NS_MAX : 1_000_000),
        target: stream.chance(0.4) ? 'candidate' : stream.chance(0.5) ? 'leader' : 'follower',
        pick: stream.below(256),
        blow: restartDraws[stream.below(restartDraws.length)]!(stream),
      }),
    )
  }).flat()
}

/**
 * A leader is cut off from some, and the others end and begin again, while what was their memory still answers it. So a
 * majority can decide without it, and another majority tells it that no one else leads.
 */
export function drawAbsence(stream: Stream, withinNs: number, replicas: number): Strike[] {
  const others = replicas - 1
  const restarted = Math.floor(replicas / 2)
  return Array.from({ length: stream.between(1, 3) }, (): Strike[] => {
    const atNs = stream.between(2_000_000, withinNs)
    const lingerNs = stream.between(8_000_000, OUTAGE_NS_MAX)
    const first = stream.below(others)
    const deaf: Strike = { atNs, afterNs: 0, target: 'leader', pick: 0, blow: { kind: 'deaf', forNs: lingerNs } }
    const rest = Array.from({ length: others }, (_, place): Strike => {
      const common = { atNs, pick: (first + place) % others }
      if (place >= restarted)
        return { ...common, afterNs: 0, target: 'leader', blow: { kind: 'part', forNs: lingerNs, crashes: false } }
      const blow: Blow = { kind: 'restart', downNs: stream.between(1000, 1_000_000), lingerNs, isCertain: false }
      return { ...common, afterNs: 0, target: 'follower', blow }
    })
    return [deaf, ...rest]
  }).flat()
}

/** All end at once, and begin again: at some time, or when one of them wants to lead. */
export function drawBlackouts(stream: Stream, withinNs: number): Strike[] {
  return Array.from({ length: stream.between(1, 4) }, () => ({
    atNs: stream.between(0, withinNs),
    afterNs: duration(stream, 1_000_000),
    target: stream.chance(0.5) ? 'candidate' : 'leader',
    pick: stream.below(256),
    blow: blackout(stream),
  }))
}

/** Every replica that is there from the start ends, one after the other, and another takes its place. */
export function replaceAll(stream: Stream, replicas: number, withinNs: number): Strike[] {
  return Array.from({ length: replicas }, (_, index) => ({
    atNs: Math.round(((index + 1) * withinNs) / replicas),
    afterNs: 0,
    target: stream.chance(0.5) ? 'leader' : 'follower',
    pick: 0,
    blow: { ...certainEnd, certainNs: stream.between(1_000_000, 3_000_000) },
  }))
}
