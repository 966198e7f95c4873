import type { AdapterOptions, NetworkOptions, SimulatedFault, Stream } from 'aether-dsm/internal/providers'

/** One thing that may go wrong in a run; a run has a list of them, and is the same run with some left out. */
export interface Hazard {
  /** For people. */
  readonly text: string
  readonly network?: Partial<NetworkOptions>
  readonly adapter?: Partial<AdapterOptions>
  readonly fault?: SimulatedFault
  /**
   * Of a crash: so much later the others know that it is certain, as where a process ends whose kernel says so. Never,
   * where its machine is gone.
   */
  readonly certainNs?: number
}

/** Cuts, stalls and links that are down heal before peers are given up, and so does their sum. */
const OUTAGE_NS_MAX = 300_000_000
/** Faults begin within the time that a run without any takes. */
const BEGIN_NS_MAX = 2_000_000

/** Of the members of a simulated cluster. No outage of those that members survive is so long. */
export const LEASE_NS = 10_000_000_000
/** Nothing of a dead member is under way any more. */
const CERTAIN_NS_MIN = 50_000_000
const CERTAIN_NS_MAX = 500_000_000

/** Draws a hazard in a cluster of `hosts`. */
type Draw = (stream: Stream, hosts: number) => Hazard

const network =
  (text: string, make: (stream: Stream) => Partial<NetworkOptions>): Draw =>
  (stream) => {
    const options = make(stream)
    return { text: `${text} ${JSON.stringify(options)}`, network: options }
  }

const adapter =
  (text: string, make: (stream: Stream) => Partial<AdapterOptions>): Draw =>
  (stream) => {
    const options = make(stream)
    return { text: `${text} ${JSON.stringify(options)}`, adapter: options }
  }

const fault =
  (make: (stream: Stream, hosts: number) => SimulatedFault): Draw =>
  (stream, hosts) => {
    const drawn = make(stream, hosts)
    return { text: JSON.stringify(drawn), fault: drawn }
  }

/** From a tenth of a percent to `most` percent. */
const percent = (stream: Stream, most: number): number => stream.between(1, 10 * most) / 1000

/** Short and long ones alike. */
function duration(stream: Stream, most: number): number {
  return Math.round(1000 * (most / 1000) ** (stream.between(0, 1000) / 1000))
}

function path(stream: Stream, hosts: number): { readonly from: number; readonly to: number } {
  const from = stream.below(hosts)
  return { from, to: (from + 1 + stream.below(hosts - 1)) % hosts }
}

const begin = (stream: Stream): { readonly atNs: number } => ({ atNs: stream.between(0, BEGIN_NS_MAX) })

/** What it costs: a member, or several. */
const deaths: readonly Draw[] = [
  (stream, hosts) => {
    const lingerNs = stream.chance(0.5) ? 0 : duration(stream, 5_000_000)
    const crash: SimulatedFault = { kind: 'crash', host: stream.below(hosts), ...begin(stream), lingerNs }
    if (stream.chance(0.3)) return { text: JSON.stringify(crash), fault: crash }
    const certainNs = lingerNs + stream.between(CERTAIN_NS_MIN, CERTAIN_NS_MAX)
    return { text: `${JSON.stringify(crash)}, certain after ${certainNs} ns`, fault: crash, certainNs }
  },
  (stream, hosts) => {
    const crash: SimulatedFault = { kind: 'crash', host: stream.below(hosts), ...begin(stream), keeps: 'memory' }
    return { text: JSON.stringify(crash), fault: crash }
  },
  fault((stream, hosts) => ({
    kind: 'pause',
    host: stream.below(hosts),
    ...begin(stream),
    forNs: stream.between(LEASE_NS, 3 * LEASE_NS),
    inWrite: stream.chance(0.5),
    adapterStops: stream.chance(0.3),
  })),
]

/** Whether members may be lost by it. */
export function isDeadly({ fault: drawn }: Hazard): boolean {
  if (drawn?.kind === 'crash') return true
  return drawn?.kind === 'pause' && (drawn.forNs ?? LEASE_NS) >= LEASE_NS
}

/** Every kind of hazard that members survive, and those that they do not. */
const draws: readonly Draw[] = [
  network('loss', (stream) => ({ loss: percent(stream, 5) })),
  network('duplicates', (stream) => ({ duplicate: percent(stream, 20) })),
  network('overtaking', (stream) => ({ reorder: percent(stream, 5) })),
  network('jitter', (stream) => ({ jitterNs: duration(stream, 100_000) })),
  network('late packets', (stream) => ({ tail: percent(stream, 10), tailNs: duration(stream, 1_000_000) })),
  adapter('lines in any order', (stream) => ({ tear: percent(stream, 50), tearNs: duration(stream, 50_000) })),
  adapter('acknowledged before visible', (stream) => ({
    earlyAcknowledge: percent(stream, 50),
    visibleNs: duration(stream, 50_000),
  })),
  adapter('late completions', (stream) => ({ completionNs: duration(stream, 50_000) })),
  adapter('lost wake-ups', (stream) => ({ lostWakeups: percent(stream, 20) })),
  fault((stream, hosts) => {
    const pause = { kind: 'pause', host: stream.below(hosts), ...begin(stream) } as const
    const forNs = duration(stream, 1_000_000_000)
    return { ...pause, forNs, adapterStops: forNs <= OUTAGE_NS_MAX && stream.chance(0.3) }
  }),
  fault((stream, hosts) => ({
    kind: 'slow',
    host: stream.below(hosts),
    ...begin(stream),
    factor: stream.between(2, 1000),
    forNs: duration(stream, 50_000_000),
  })),
  fault((stream, hosts) => ({
    kind: 'cut',
    ...path(stream, hosts),
    ...begin(stream),
    forNs: duration(stream, OUTAGE_NS_MAX),
  })),
  fault((stream, hosts) => ({
    kind: 'clog',
    ...path(stream, hosts),
    ...begin(stream),
    delayNs: duration(stream, 10_000_000),
    forNs: duration(stream, 100_000_000),
  })),
  fault((stream, hosts) => ({
    kind: 'lossy',
    ...path(stream, hosts),
    ...begin(stream),
    loss: percent(stream, 50),
    forNs: duration(stream, OUTAGE_NS_MAX),
  })),
  fault((stream, hosts) => ({
    kind: 'link-down',
    host: stream.below(hosts),
    ...begin(stream),
    forNs: duration(stream, OUTAGE_NS_MAX),
  })),
  fault((stream, hosts) => ({
    kind: 'memory-stall',
    host: stream.below(hosts),
    ...begin(stream),
    forNs: duration(stream, OUTAGE_NS_MAX),
  })),
  fault((stream, hosts) => ({
    kind: 'lose-wakeups',
    host: stream.below(hosts),
    ...begin(stream),
    forNs: duration(stream, OUTAGE_NS_MAX),
  })),
  ...deaths,
]

/** A hazard of any kind. */
export function drawHazard(stream: Stream, hosts: number): Hazard {
  return draws[stream.below(draws.length)]!(stream, hosts)
}
