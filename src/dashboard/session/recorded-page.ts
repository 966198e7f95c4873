import { EventKind, PAGES_PER_BLOCK, type Protocol, type ReadEvent } from '../../dsm/index.ts'
import { HISTORY_MAX, historyOf } from '../page-description.ts'
import { BLOCKS_MAX } from '../telling.ts'
import { type LookFrame, PageClass, type PageFrame, type PagesFrame } from '../wire.ts'
import { EVENT_NUMBERS, type RecordedEvents, type SessionRecord } from './session-format.ts'

/** No rank is higher: what claims to be one is none. */
const RANK_MAX = 65_534

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
  /** Ranks that have the region open, none where it is not there; undefined where the look does not say. */
  readonly openAt: readonly number[] | undefined
  /** As PagesFrame has it; undefined where it is as it was, null where nobody can know. */
  readonly state: number | null | undefined
  /** All is told anew. */
  readonly isWhole: boolean
  /** What was told of the region before does not count. */
  readonly isNew: boolean
}

/** What records, in the order of their time, tell of a page, look by look: of each no more events than are shown. */
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

/** A look that tells that something cannot be read. */
export function damagedLook(atMs: number): PageLook {
  return { ...emptyLook(atMs), left: 1, state: null }
}

/** The state that is told of a page; undefined where none is. */
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
  // Of so many that have changed at a look, the others are told later.
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

/** So many ranks at least have a copy that they may read. */
const READERS_MIN: Readonly<Record<number, number>> = {
  [PageClass.OneReader]: 1,
  [PageClass.Shared]: 2,
  [PageClass.Written]: 1,
}

interface Copy {
  /** Its number, as events have it. */
  state: number | undefined
  faults: number
  losses: number
}

/**
 * What looks, one after the other, tell of a page's copies. Each look and event is gone through once: a recording may
 * come from anybody, and have as many ranks as events.
 */
class PageKnowledge {
  readonly copies: Map<number, Copy> = new Map()
  /** Ranks that had the region open while nobody had touched the page: of them no event is missing since. */
  readonly complete: Set<number> = new Set()
  home: ReadEvent | undefined
  /** Of this region, and none before it that had its name; of each look in the order of their time. */
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
    // States are read before events: of a look, those that are missing may be of what came after.
    if (state === PageClass.Untouched && !isBroken) for (const rank of openAt ?? []) this.complete.add(rank)
    // A journal that has just begun tells of its pages one after the other: it was touched before, and is only told
    // late.
    if (state !== PageClass.Untouched && this.#state === PageClass.Untouched && this.copies.size + events.length === 0)
      this.complete.clear()
    this.#state = state
    const inOrder = events.toSorted((a, b) => a.timeNs - b.timeNs)
    for (const event of inOrder) this.#takeEvent(event)
    this.history.push(...inOrder)
  }

  /** Whoever had the region open and is not among `ranks` has it no more. */
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
 * A page as far as its recorded events tell of it. What came before them is not known: so neither is who else may read
 * it, nor how often it was wanted in all.
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
