import { EventKind, PAGES_PER_BLOCK, type Protocol, type ReadEvent } from '../../dsm/index.ts'
import { HISTORY_MAX, historyOf } from '../page-description.ts'
import { BLOCKS_MAX } from '../telling.ts'
import { type LookFrame, PageClass, type PageFrame, type PagesFrame } from '../wire.ts'
import { EVENT_NUMBERS, type RecordedEvents, type SessionRecord } from './session-format.ts'

/** The highest rank. A larger number in a recording is not a rank. */
const RANK_MAX = 65_534

/** A page's state in a recording. */
export interface PageAt {
  readonly region: string
  readonly page: number
  /** As in `PagesFrame`. */
  readonly state: number
  readonly coherence: string
  /** Ranks that have the region open. */
  readonly openAt: readonly number[]
}

/** What a look says about a page. */
export interface PageLook {
  readonly atMs: number
  readonly events: readonly ReadEvent[]
  /** Events of this look, of any page, that were not recorded. They came before the recorded ones. */
  readonly left: number
  /** Events that were missed since observation started; undefined if the look does not say. */
  readonly lost: number | undefined
  /** Ranks that have the region open, empty if there is no such region; undefined if the look does not say. */
  readonly openAt: readonly number[] | undefined
  /** As in `PagesFrame`; undefined if it has not changed, null if it is not known. */
  readonly state: number | null | undefined
  /** The look has the full state. */
  readonly isWhole: boolean
  /** Earlier states of the region are void. */
  readonly isNew: boolean
}

/** The looks at a page in records that are in order of time. Each has at most as many events as are shown. */
export function looksOf(records: readonly SessionRecord[], region: string, page: number): readonly PageLook[] {
  const looks: PageLook[] = []
  for (const record of records) {
    const look = looks.at(-1)?.atMs === record.atMs ? looks.pop()! : emptyLook(record.atMs)
    if (record.event === 'frame') looks.push(withFrame(look, record.data, region))
    else if (record.event === 'pages' && record.data.region === region) looks.push(withPages(look, record.data, page))
    else if (record.event === 'events') looks.push(withEvents(look, record.data, region, page))
    else looks.push(look)
  }
  return looks
}

/** A look that stands for something that cannot be read. */
export function damagedLook(atMs: number): PageLook {
  return { ...emptyLook(atMs), left: 1, state: null }
}

/** The state of a page in this message; undefined if it has none. */
export function toldState({ pages, blocks }: PagesFrame, page: number): number | undefined {
  const told = page < pages ? blocks.find(([block]) => block === Math.floor(page / PAGES_PER_BLOCK))?.[1] : undefined
  return typeof told === 'string' ? Buffer.from(told, 'base64').readUInt16LE(2 * (page % PAGES_PER_BLOCK)) : told
}

function emptyLook(atMs: number): PageLook {
  return {
    atMs,
    events: [],
    left: 0,
    lost: undefined,
    openAt: undefined,
    state: undefined,
    isWhole: false,
    isNew: false,
  }
}

function withFrame(look: PageLook, { lostEvents, regions, isWhole }: LookFrame, region: string): PageLook {
  const openAt = regions.find(({ name, hasPages }) => name === region && hasPages)?.openAt ?? []
  return { ...look, lost: lostEvents, openAt, isWhole }
}

function withPages(look: PageLook, told: PagesFrame, page: number): PageLook {
  // If a look has this many changed blocks, there may be more, which are sent later.
  const isAll = look.isWhole || told.blocks.length < BLOCKS_MAX
  const untold = isAll ? (told.isNew ? PageClass.Untouched : look.state) : null
  return { ...look, state: toldState(told, page) ?? untold, isNew: look.isNew || told.isNew }
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
    if (!Number.isInteger(rank) || rank < 0 || rank > RANK_MAX) continue
    const timeNs = beginNs + ns
    found.push({ rank, region: 0, timeNs, what, page, peer, before, after, requester: -1, bytes, tookNs })
  }
  return found
}

/** The minimum number of ranks that may read the page. */
const READERS_MIN: Readonly<Record<number, number>> = {
  [PageClass.OneReader]: 1,
  [PageClass.Shared]: 2,
  [PageClass.Written]: 1,
}

interface Copy {
  /** Its number, as in events. */
  state: number | undefined
  faults: number
  losses: number
}

/**
 * What successive looks say about a page's copies. It visits each look and event only once, because a recording may
 * come from an untrusted source and have as many ranks as events.
 */
class PageKnowledge {
  readonly copies: Map<number, Copy> = new Map()
  /** Ranks that had the region open before any rank touched the page: none of their events since is missing. */
  readonly complete: Set<number> = new Set()
  home: ReadEvent | undefined
  /** Events of this region, not of an earlier one with its name. The events of each look are in order of time. */
  history: ReadEvent[] = []
  readonly #mayRead: (state: number) => boolean
  #openAt: readonly number[] = []
  #state: number | null = null
  #lost: number | undefined

  constructor(mayRead: (state: number) => boolean) {
    this.#mayRead = mayRead
  }

  take(look: PageLook): void {
    const { events, left, openAt, lost = this.#lost, state = this.#state } = look
    const isOther = openAt?.length === 0 || (look.isNew && !look.isWhole)
    const isBroken = left > 0 || (this.#lost !== undefined && lost !== this.#lost)
    if (isOther) this.history = []
    if (isOther || isBroken) this.#forgetAll()
    this.#lost = lost
    if (openAt !== undefined) this.#keep(openAt)
    // A look reads states before events, so events that it misses may be later than the state.
    if (state === PageClass.Untouched && !isBroken) for (const rank of openAt ?? []) this.complete.add(rank)
    // A journal that has just started reports its pages one after another: this page was touched earlier, and is only
    // reported late.
    if (state !== PageClass.Untouched && this.#state === PageClass.Untouched && this.copies.size + events.length === 0)
      this.complete.clear()
    this.#state = state
    const inOrder = events.toSorted((a, b) => a.timeNs - b.timeNs)
    for (const event of inOrder) this.#takeEvent(event)
    this.history.push(...inOrder)
  }

  /** Forget ranks that had the region open and are not in `ranks`. */
  #keep(ranks: readonly number[]): void {
    const here = new Set(ranks)
    for (const rank of this.#openAt) if (!here.has(rank)) this.#forget(rank)
    this.#openAt = ranks
  }

  #takeEvent(event: ReadEvent): void {
    const { rank, what, before, after } = event
    if (what === EventKind.Home) this.home = event
    if (what !== EventKind.Wanted && what !== EventKind.Copy) return
    const copy = this.copies.get(rank) ?? { state: undefined, faults: 0, losses: 0 }
    this.copies.set(rank, copy)
    if (what === EventKind.Wanted) copy.faults += 1
    else {
      if (this.#mayRead(before) && !this.#mayRead(after)) copy.losses += 1
      copy.state = after
    }
  }

  #forget(rank: number): void {
    this.copies.delete(rank)
    this.complete.delete(rank)
    if (this.home?.rank === rank) this.home = undefined
  }

  #forgetAll(): void {
    this.copies.clear()
    this.complete.clear()
    this.home = undefined
  }
}

/**
 * A page, as far as it is known from its recorded events. Events before them are unknown. So other ranks may be able to
 * read it, and it may have been requested more often.
 */
export function describeRecordedPage(at: PageAt, protocol: Protocol, looks: readonly PageLook[]): PageFrame {
  const names = Object.keys(protocol.cache.states)
  const mayRead = (state: number): boolean =>
    (protocol.cache.states[names[state - 1] ?? '']?.right ?? 'none') !== 'none'
  const known = new PageKnowledge(mayRead)
  for (const look of looks) known.take(look)
  const { complete, home } = known
  const heard = [...known.copies].flatMap(([rank, { state, ...copy }]) =>
    state === undefined ? [] : { rank, state, ...copy },
  )
  heard.sort((a, b) => a.rank - b.rank)
  const kind = at.state & 15
  const readers = heard.filter(({ state }) => mayRead(state)).map(({ rank }) => rank)
  const ranks = new Set(heard.map(({ rank }) => rank))
  const isHeard = at.openAt.every((rank) => complete.has(rank) || ranks.has(rank))
  return {
    region: at.region,
    page: at.page,
    class: kind,
    owner: at.state >> 4 > 0 ? (at.state >> 4) - 1 : null,
    home: home?.rank ?? null,
    homeState: home === undefined ? null : (Object.keys(protocol.directory.states)[home.after - 1] ?? null),
    version: null,
    copies: heard.map(({ rank, state, faults, losses }) => {
      const isAll = complete.has(rank)
      return { rank, state: names[state - 1] ?? '?', faults: isAll ? faults : null, losses: isAll ? losses : null }
    }),
    sharers: isHeard && readers.length >= (READERS_MIN[kind] ?? 0) ? readers : null,
    history: historyOf(known.history.sort((a, b) => a.timeNs - b.timeNs).slice(-HISTORY_MAX), protocol),
  }
}
