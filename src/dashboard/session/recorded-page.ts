import { EventKind, type Protocol, type ReadEvent } from '../../dsm/index.ts'
import { HISTORY_MAX, historyOf } from '../page-description.ts'
import { PageClass, type PageFrame } from '../wire.ts'
import { EVENT_NUMBERS, type RecordedEvents, type SessionRecord } from './session-format.ts'

/** What a recording tells of a page's state. */
export interface PageAt {
  readonly region: string
  readonly page: number
  /** As PagesFrame has it. */
  readonly state: number
  readonly coherence: string
  /** Ranks that have the region open. */
  readonly openAt: readonly number[]
}

/** What a look tells of a page. */
export interface PageLook {
  readonly atMs: number
  readonly events: readonly ReadEvent[]
  /** Events of this look, of any page, that are not recorded: they were before those that are. */
  readonly left: number
  /** Events that went by unread since the watching began; undefined where the look does not say. */
  readonly lost: number | undefined
}

/** Looks of a page, one after the other. */
export interface PageLooks {
  readonly looks: readonly PageLook[]
  /** Whether the first is the first of the recording. */
  readonly isFromBegin: boolean
}

/** What records, in the order of their time, tell of a page, look by look: of each no more events than are shown. */
export function looksOf(records: readonly SessionRecord[], region: string, page: number): readonly PageLook[] {
  const looks: PageLook[] = []
  for (const record of records) {
    const look = looks.at(-1)?.atMs === record.atMs ? looks.pop()! : emptyLook(record.atMs)
    if (record.event === 'frame') looks.push({ ...look, lost: record.data.lostEvents })
    else if (record.event === 'events') looks.push(withEvents(look, record.data, region, page))
    else looks.push(look)
  }
  return looks
}

/** A look that tells that something cannot be read. */
export function damagedLook(atMs: number): PageLook {
  return { ...emptyLook(atMs), left: 1 }
}

function emptyLook(atMs: number): PageLook {
  return { atMs, events: [], left: 0, lost: undefined }
}

function withEvents(look: PageLook, told: RecordedEvents, region: string, page: number): PageLook {
  const events = told.region === region ? [...look.events, ...eventsOf(told, page)] : look.events
  const dropped = Math.max(0, events.length - HISTORY_MAX)
  return { ...look, events: events.slice(dropped), left: look.left + told.left + dropped }
}

function eventsOf({ events, beginNs }: RecordedEvents, page: number): readonly ReadEvent[] {
  const found: ReadEvent[] = []
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
    const timeNs = beginNs + ns
    found.push({ rank, region: 0, timeNs, what, page, peer, before, after, requester: -1, bytes, tookNs })
  }
  return found
}

/** From which look on no event is missing. */
function firstUnbroken(looks: readonly PageLook[]): number {
  let [first, lost] = [0, Number.POSITIVE_INFINITY]
  for (const [index, look] of looks.entries()) {
    if (look.left > 0 || (look.lost ?? 0) > lost) first = index
    lost = look.lost ?? lost
  }
  return first
}

const inOrder = (looks: readonly PageLook[]): readonly ReadEvent[] =>
  looks.flatMap(({ events }) => events).sort((a, b) => a.timeNs - b.timeNs)

/** So many ranks at least have a copy that they may read. */
const READERS_MIN: Readonly<Record<number, number>> = {
  [PageClass.OneReader]: 1,
  [PageClass.Shared]: 2,
  [PageClass.Written]: 1,
}

/** A page as far as its recorded events tell of it. What came before them is not known: so neither is who else may read it, nor how often it was wanted in all. */
export function describeRecordedPage(at: PageAt, protocol: Protocol, { looks, isFromBegin }: PageLooks): PageFrame {
  const first = firstUnbroken(looks)
  const known = inOrder(looks.slice(first))
  const isAll = isFromBegin && first === 0 && (looks[0]?.left ?? 0) === 0
  const states = Object.keys(protocol.cache.states)
  const last = (kind: number): ReadonlyMap<number, ReadEvent> =>
    new Map(known.filter(({ what }) => what === kind).map((event) => [event.rank, event]))
  const home = [...last(EventKind.Home)].at(-1)
  const mayRead = (state: string | undefined): boolean =>
    (protocol.cache.states[state ?? '']?.right ?? 'none') !== 'none'
  const copies = [...last(EventKind.Copy)]
    .map(([rank, { after }]) => {
      const own = known.filter((event) => event.rank === rank)
      const faults = own.filter(({ what }) => what === EventKind.Wanted).length
      const losses = own.filter(
        ({ what, before, after: then }) =>
          what === EventKind.Copy && mayRead(states[before - 1]) && !mayRead(states[then - 1]),
      ).length
      const state = states[after - 1] ?? '?'
      return { rank, state, faults: isAll ? faults : null, losses: isAll ? losses : null }
    })
    .sort((a, b) => a.rank - b.rank)
  const kind = at.state & 15
  const readers = copies.filter(({ state }) => mayRead(state)).map(({ rank }) => rank)
  const isHeard = isAll || at.openAt.every((rank) => copies.some((copy) => copy.rank === rank))
  return {
    region: at.region,
    page: at.page,
    class: kind,
    owner: at.state >> 4 > 0 ? (at.state >> 4) - 1 : null,
    home: home?.[0] ?? null,
    homeState: home === undefined ? null : (Object.keys(protocol.directory.states)[home[1].after - 1] ?? null),
    version: null,
    copies,
    sharers: isHeard && readers.length >= (READERS_MIN[kind] ?? 0) ? readers : null,
    history: historyOf(inOrder(looks).slice(-HISTORY_MAX), protocol),
  }
}
