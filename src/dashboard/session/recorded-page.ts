import { EventKind, type Protocol, type ReadEvent } from '../../dsm/index.ts'
import { HISTORY_MAX, historyOf } from '../page-description.ts'
import type { PageFrame } from '../wire.ts'
import { EVENT_NUMBERS, type SessionRecord } from './session-format.ts'

/** What a recording tells of a page's state. */
export interface PageAt {
  readonly region: string
  readonly page: number
  /** As PagesFrame has it. */
  readonly state: number
  readonly coherence: string
}

/** Events of a page that were recorded with one look. */
export interface LookEvents {
  readonly atMs: number
  readonly events: readonly ReadEvent[]
}

/** Events of a page, look by look; looks without any are left out. */
export function eventsOf(records: readonly SessionRecord[], region: string, page: number): readonly LookEvents[] {
  const looks: LookEvents[] = []
  for (const record of records) {
    if (record.event !== 'events' || record.data.region !== region) continue
    const found: ReadEvent[] = []
    const { events, beginNs } = record.data
    for (let at = 0; at < events.length; at += EVENT_NUMBERS) {
      if (events[at + 3] !== page) continue
      const [rank, ns, what, , peer, before, after, bytes, tookNs] = events.slice(at, at + EVENT_NUMBERS) as [
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
      ]
      found.push({
        rank,
        region: 0,
        timeNs: beginNs + ns,
        what,
        page,
        peer,
        before,
        after,
        requester: -1,
        bytes,
        tookNs,
      })
    }
    if (found.length > 0) looks.push({ atMs: record.atMs, events: found })
  }
  return looks
}

/** A page as far as its recorded events tell of it: who has had it before the recording began is not known. */
export function describeRecordedPage(at: PageAt, protocol: Protocol, events: readonly ReadEvent[]): PageFrame {
  const sorted = [...events].sort((a, b) => a.timeNs - b.timeNs)
  const states = Object.keys(protocol.cache.states)
  const last = (kind: number): ReadonlyMap<number, ReadEvent> =>
    new Map(sorted.filter(({ what }) => what === kind).map((event) => [event.rank, event]))
  const home = [...last(EventKind.Home)].at(-1)
  const isRight = (number: number): boolean => {
    const right = protocol.cache.states[states[number - 1] ?? '']?.right
    return right !== undefined && right !== 'none'
  }
  const copies = [...last(EventKind.Copy)]
    .map(([rank, { after }]) => {
      const own = sorted.filter((event) => event.rank === rank)
      return {
        rank,
        state: states[after - 1] ?? '?',
        faults: own.filter(({ what }) => what === EventKind.Wanted).length,
        losses: own.filter((event) => event.what === EventKind.Copy && isRight(event.before) && !isRight(event.after))
          .length,
      }
    })
    .sort((a, b) => a.rank - b.rank)
  return {
    region: at.region,
    page: at.page,
    class: at.state & 15,
    owner: at.state >> 4 > 0 ? (at.state >> 4) - 1 : null,
    home: home?.[0] ?? null,
    homeState: home === undefined ? null : (Object.keys(protocol.directory.states)[home[1].after - 1] ?? null),
    version: null,
    copies,
    sharers: copies
      .filter(({ state }) => (protocol.cache.states[state]?.right ?? 'none') !== 'none')
      .map(({ rank }) => rank),
    history: historyOf(sorted.slice(-HISTORY_MAX), protocol),
  }
}
