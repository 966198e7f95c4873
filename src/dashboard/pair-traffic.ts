import { type CounterReading, type HistogramReading, occupiedBuckets, type Profile } from '../profiling/index.ts'
import type { Durations } from './durations.ts'
import type { Traffic } from './traffic.ts'

/** Counters of a member over an interval. */
export interface MemberCounts {
  /** Its rank, or its slot if it has none. */
  readonly number: number
  readonly since: Profile
}

const PAIR = 'verbs.queuePair'
const LATENCY = 'verbs.latency'
/** The operand of an atomic request. */
const ATOMIC_BYTES = 8

/** Whether queue pairs are counted, as with `AETHER_PROFILE=1`. Called often, so it allocates nothing. */
export function hasPairs(profile: Profile): boolean {
  return profile.total(PAIR, 'end') > 0
}

/**
 * Adds the traffic of the members' queue pairs and endpoints. The numbers of their ends tell which two belong together.
 * A queue pair whose peer is not a member is left out. A READ counts for the link over which its bytes come.
 */
export function addPairs(traffic: Traffic, members: readonly MemberCounts[]): void {
  const counted = members.map((member) => ({ ...member, counters: member.since.counters().filter(isOne) }))
  const owners = new Map<number, number>()
  for (const { number, counters } of counted)
    for (const { name, values } of counters)
      if (name === PAIR && values['end'] !== 0) owners.set(values['end']!, number)
  for (const { number, since, counters } of counted) {
    const histograms = byLabel(since.histograms())
    // An endpoint knows the number of its queue pair but not the device. If several queue pairs of a thread have that
    // number, the peer is not known.
    const peers = new Map<string, number | undefined>()
    for (const reading of counters) {
      const { name, label, thread, values } = reading
      if (name !== PAIR) continue
      const [device = '', pair = ''] = label.split(' ')
      const peer = owners.get(values['peerEnd']!)
      const place = `${thread} ${pair}`
      peers.set(place, peers.has(place) ? undefined : peer)
      if (peer === undefined) continue
      addPair(traffic, number, peer, reading, (kind) => {
        const own = histograms.get(`${LATENCY} ${thread} ${label} ${kind}`)
        return own ?? histograms.get(`${LATENCY} ${thread} ${device} others ${kind}`)
      })
    }
    for (const { name, label, thread, values } of counters) {
      const peer = name === 'messaging.endpoint' ? peers.get(`${thread} ${label.split(' ')[0]}`) : undefined
      if (peer === undefined) continue
      const { times } = traffic.add(number, peer, 'messages', 'message', values['messagesSent']!, values['bytesSent']!)
      addTimes(times, histograms.get(`messaging.endpoint.wait ${thread} ${label}`))
    }
  }
}

/** Adds the calls that a member has made and answered, which are counted by method, not by peer. */
export function addCalls(traffic: Traffic, { number, since }: MemberCounts): void {
  const histograms = byLabel(since.histograms())
  for (const { name, label, thread, values } of since.counters().filter(isOne)) {
    const layer = name === 'rpc.client' ? 'calls' : name === 'rpc.server' ? 'answers' : undefined
    if (layer === undefined) continue
    const { times } = traffic.add(number, null, layer, label, values['calls']!, values['bytesReceived']!)
    addTimes(times, histograms.get(`${name}.latency ${thread} ${label}`))
  }
}

function addPair(
  traffic: Traffic,
  self: number,
  peer: number,
  { values }: CounterReading,
  latencyOf: (kind: string) => HistogramReading | undefined,
): void {
  const of = (counter: string): number => values[counter] ?? 0
  const add = (kind: string, count: number, bytes: number): void => {
    if (count <= 0) return
    const [from, to] = kind === 'read' ? [peer, self] : [self, peer]
    addTimes(traffic.add(from, to, 'verbs', kind, count, bytes).times, latencyOf(kind))
  }
  add('send', of('sends'), of('bytesOfSends'))
  add('write', of('writes'), of('bytesOfWrites'))
  add('read', of('reads'), of('bytesOfReads'))
  add('fetch-add', of('fetchAdds'), ATOMIC_BYTES * of('fetchAdds'))
  add('compare-swap', of('compareSwaps'), ATOMIC_BYTES * of('compareSwaps'))
  add('other', of('others'), 0)
}

function addTimes(times: Durations, histogram: HistogramReading | undefined): void {
  if (histogram === undefined || histogram.count <= 0) return
  for (const { fromNs, untilNs, count } of occupiedBuckets(histogram.slots)) times.add((fromNs + untilNs) / 2, count)
}

function byLabel(histograms: readonly HistogramReading[]): ReadonlyMap<string, HistogramReading> {
  return new Map(histograms.filter(isOne).map((each) => [`${each.name} ${each.thread} ${each.label}`, each]))
}

function isOne({ rest }: { readonly rest: boolean }): boolean {
  return !rest
}
