import type { AdapterOptions, NetworkOptions, SimulatedFault, Stream } from '../../providers/index.ts'

/** One thing that may go wrong in a run; a run has a list of them, and is the same run with some left out. */
export interface Hazard {
  /** For people. */
  readonly text: string
  readonly network?: Partial<NetworkOptions>
  readonly adapter?: Partial<AdapterOptions>
  readonly fault?: SimulatedFault
}

/** Cuts, stalls and links that are down heal before peers are given up, and so does their sum. */
const OUTAGE_NS_MAX = 300_000_000
/** Faults begin within the time that a run without any takes. */
const BEGIN_NS_MAX = 2_000_000

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

/** Every kind of hazard that members survive. */
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
  fault((stream, hosts) => ({
    kind: 'pause',
    host: stream.below(hosts),
    ...begin(stream),
    forNs: duration(stream, 1_000_000_000),
  })),
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
]

/** A hazard of any kind. */
export function drawHazard(stream: Stream, hosts: number): Hazard {
  return draws[stream.below(draws.length)]!(stream, hosts)
}
