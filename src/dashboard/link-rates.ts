import type { JournalLink } from '../dsm/index.ts'
import { ratePerSecond } from './observed-member.ts'
import type { Traffic } from './traffic.ts'
import type { LinkFrame } from './wire.ts'

/** Traffic of the queue pairs of a link. */
interface Carried {
  readonly from: number
  readonly to: number
  requests: number
  bytes: number
  totalBytes: number
  timed: number
  tookNs: number
}

/**
 * Turns counters of links into rates. Agents count what they send to each other. The traffic of a link from A to B is
 * counted by A, the time that B waited for A is counted by B. Queue pairs that are profiled count their requests,
 * including those of agents. If both counts are known, the larger one is used.
 */
export class LinkRates {
  #last = new Map<string, JournalLink>()
  #lastMs = 0
  readonly #carried = new Map<string, Carried>()

  /**
   * The rates since the last call. `counted` has the counters of each rank, `since` the traffic of queue pairs since
   * the last call. Only links between members in `present` are reported.
   */
  next(
    counted: ReadonlyMap<number, readonly JournalLink[]>,
    since: Traffic,
    present: ReadonlySet<number>,
    atMs: number,
  ): readonly LinkFrame[] {
    const elapsedMs = this.#lastMs === 0 ? 0 : atMs - this.#lastMs
    const now = new Map<string, JournalLink>()
    for (const [rank, links] of counted) for (const link of links) now.set(`${rank} ${link.peer}`, link)
    const frames = new Map([...ends(now)].map((link) => [link.join(' '), this.#frame(now, ...link, elapsedMs)]))
    this.#carry(since, present)
    for (const [key, carried] of this.#carried) frames.set(key, togetherWith(frames.get(key), carried, elapsedMs))
    this.#last = now
    this.#lastMs = atMs
    return [...frames.values()]
  }

  #carry(since: Traffic, present: ReadonlySet<number>): void {
    for (const [key, carried] of this.#carried)
      if (present.has(carried.from) && present.has(carried.to))
        Object.assign(carried, { requests: 0, bytes: 0, timed: 0, tookNs: 0 })
      else this.#carried.delete(key)
    for (const { from, to, layer, count, bytes, times } of since) {
      if (to === null || layer !== 'verbs') continue
      const key = `${from} ${to}`
      const carried = this.#carried.get(key) ?? { from, to, requests: 0, bytes: 0, totalBytes: 0, timed: 0, tookNs: 0 }
      this.#carried.set(key, carried)
      carried.requests += count
      carried.bytes += bytes
      carried.totalBytes += bytes
      carried.timed += times.count
      carried.tookNs += times.sumNs
    }
  }

  #frame(now: ReadonlyMap<string, JournalLink>, from: number, to: number, elapsedMs: number): LinkFrame {
    const sent = this.#since(now, `${from} ${to}`)
    const got = this.#since(now, `${to} ${from}`)
    return {
      from,
      to,
      messages: ratePerSecond(sent('messages'), elapsedMs),
      pages: ratePerSecond(sent('pages'), elapsedMs),
      bytes: ratePerSecond(sent('bytes'), elapsedMs),
      latencyNs: got('answers') > 0 ? got('answerNs') / got('answers') : null,
      totalBytes: now.get(`${from} ${to}`)?.bytes ?? 0,
    }
  }

  #since(now: ReadonlyMap<string, JournalLink>, key: string): (name: keyof JournalLink) => number {
    const later = now.get(key)
    const earlier = this.#last.get(key)
    return (name) => (later?.[name] ?? 0) - (earlier?.[name] ?? 0)
  }
}

function togetherWith(
  link: LinkFrame | undefined,
  { from, to, requests, bytes, totalBytes, timed, tookNs }: Carried,
  elapsedMs: number,
): LinkFrame {
  const latencyNs = timed > 0 ? tookNs / timed : null
  return {
    from,
    to,
    messages: Math.max(ratePerSecond(requests, elapsedMs), link?.messages ?? 0),
    pages: link?.pages ?? 0,
    bytes: Math.max(ratePerSecond(bytes, elapsedMs), link?.bytes ?? 0),
    latencyNs: link === undefined || link.totalBytes === 0 ? latencyNs : link.latencyNs,
    totalBytes: Math.max(totalBytes, link?.totalBytes ?? 0),
  }
}

/** Every ordered pair of ranks that have exchanged anything, in either direction. */
function ends(counted: ReadonlyMap<string, JournalLink>): Iterable<readonly [number, number]> {
  const pairs = new Map<string, readonly [number, number]>()
  for (const key of counted.keys()) {
    const [a, b] = key.split(' ').map(Number) as [number, number]
    pairs.set(`${a} ${b}`, [a, b]).set(`${b} ${a}`, [b, a])
  }
  return pairs.values()
}
