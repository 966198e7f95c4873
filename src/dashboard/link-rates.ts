import type { JournalLink } from '../dsm/index.ts'
import { ratePerSecond } from './observed-member.ts'
import type { LinkFrame } from './wire.ts'

/** Turns what ranks have counted about their links into rates. A link from A to B is what A says it sent, and how long B says it waited for A. */
export class LinkRates {
  #last = new Map<string, JournalLink>()
  #lastMs = 0

  /** `counted`: what each rank shows. */
  next(counted: ReadonlyMap<number, readonly JournalLink[]>, atMs: number): readonly LinkFrame[] {
    const elapsedMs = this.#lastMs === 0 ? 0 : atMs - this.#lastMs
    const now = new Map<string, JournalLink>()
    for (const [rank, links] of counted) for (const link of links) now.set(`${rank} ${link.peer}`, link)
    const frames = [...ends(now)].map(([from, to]) => this.#frame(now, from, to, elapsedMs))
    this.#last = now
    this.#lastMs = atMs
    return frames
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

/** Every ordered pair of ranks that have exchanged anything, in either direction. */
function ends(counted: ReadonlyMap<string, JournalLink>): Iterable<readonly [number, number]> {
  const pairs = new Map<string, readonly [number, number]>()
  for (const key of counted.keys()) {
    const [a, b] = key.split(' ').map(Number) as [number, number]
    pairs.set(`${a} ${b}`, [a, b]).set(`${b} ${a}`, [b, a])
  }
  return pairs.values()
}
