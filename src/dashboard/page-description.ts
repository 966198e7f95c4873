import { adviceOnPage, EventKind, messageKindName, type Protocol, type ReadEvent } from '../dsm/index.ts'
import type { EventStore } from './event-store.ts'
import type { RegionSight } from './region-sight.ts'
import type { PageAdviceFrame, PageEventFrame, PageFrame } from './wire.ts'

/** The maximum number of events reported for one page. */
export const HISTORY_MAX = 240
/** The maximum number of ranges reported for one rank. */
const RANGES_MAX = 256

const whats: Readonly<Record<number, PageEventFrame['what']>> = {
  [EventKind.Wanted]: 'wanted',
  [EventKind.Sent]: 'sent',
  [EventKind.Pushed]: 'pushed',
  [EventKind.Received]: 'received',
  [EventKind.Copy]: 'copy',
  [EventKind.Home]: 'home',
  [EventKind.Granted]: 'granted',
}

/** What all ranks show of a page, put together. */
export function describePage(sight: RegionSight, page: number, events: EventStore): PageFrame {
  const { protocol, map } = sight
  const cacheStates = Object.keys(protocol.cache.states)
  const known = [...sight.at].map(([rank, { journal, region }]) => ({ rank, ...journal.page(region, page) }))
  const home = known.find(({ directory }) => directory !== undefined)
  const copies = known
    .filter(({ copy, faults }) => copy !== undefined || faults > 0)
    .map(({ rank, copy, faults, losses }) => ({ rank, state: cacheStates[copy ?? 0] ?? '?', faults, losses }))
    .sort((a, b) => a.rank - b.rank)
  const readers = copies.filter(({ state }) => protocol.cache.states[state]?.right !== 'none')
  const state = map.states[page]!
  const isRegion = (rank: number, region: number): boolean => sight.at.get(rank)?.region.number === region
  const advice = describeAdvice(sight, page)
  return {
    region: sight.name,
    page,
    class: state & 15,
    owner: home?.owner ?? (state >> 4 > 0 ? (state >> 4) - 1 : null),
    home: home?.rank ?? null,
    homeState: home === undefined ? null : (Object.keys(protocol.directory.states)[home.directory ?? 0] ?? null),
    version: home?.version ?? null,
    copies,
    sharers: readers.map(({ rank }) => rank),
    history: historyOf(events.ofPage(page, isRegion, HISTORY_MAX), protocol),
    ...(advice && { advice }),
  }
}

/** Events in order of time, in words. */
export function historyOf(events: readonly ReadEvent[], protocol: Protocol): readonly PageEventFrame[] {
  const begin = events[0]?.timeNs ?? 0
  return events.map((event) => ({
    rank: event.rank,
    atUs: (event.timeNs - begin) / 1000,
    what: whats[event.what] ?? 'wanted',
    peer: event.peer < 0 ? null : event.peer,
    text: textOf(event, protocol),
  }))
}

function textOf({ what, before, after, bytes, tookNs }: ReadEvent, protocol: Protocol): string {
  const right = before === 2 ? 'write' : 'read'
  switch (what) {
    case EventKind.Wanted:
      return `wants to ${right}`
    case EventKind.Granted:
      return `may ${right} after ${(tookNs / 1000).toFixed(1)} µs`
    case EventKind.Pushed:
      return `${bytes} bytes`
    case EventKind.Copy:
      return `${stateName(protocol.cache.states, before)} → ${stateName(protocol.cache.states, after)}`
    case EventKind.Home:
      return `${stateName(protocol.directory.states, before)} → ${stateName(protocol.directory.states, after)}`
    default:
      return messageKindName(before)
  }
}

/** Events have a state's number + 1. 0 means that nothing was known of the page. */
function stateName(states: Readonly<Record<string, unknown>>, number: number): string {
  return number === 0 ? '–' : (Object.keys(states)[number - 1] ?? '?')
}

/** Why a page bounces, from what the ranks of this machine saw; undefined if it does not, or the adviser is off. */
function describeAdvice({ at, facts }: RegionSight, page: number): PageAdviceFrame | undefined {
  const shown = [...at].map(([rank, { journal, region }]) => [rank, journal.advice(region)] as const)
  const advice = adviceOnPage({ name: facts.name, size: facts.size, pageSize: facts.pageBytes }, page, shown)
  if (advice === undefined) return undefined
  const { kind, moves, finding, remedy, lengthBytes, readers, writers } = advice
  const told = writers.map(({ rank, ranges }) => ({
    rank,
    ranges: ranges.slice(0, RANGES_MAX).map(({ begin, end }) => [begin, end] as const),
  }))
  return { kind, moves, finding, remedy, lengthBytes, readers, writers: told }
}
