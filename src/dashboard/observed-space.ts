import { type ObservedMember, processInWords, SpaceObserver } from '../cluster/index.ts'
import { type JournalLink, observedRegions, type ReadEvent } from '../dsm/index.ts'
import { ArrayLooks } from './array-looks.ts'
import { EventStore } from './event-store.ts'
import { IndexLooks } from './index-looks.ts'
import { LinkRates } from './link-rates.ts'
import { MachineRates } from './machine-rates.ts'
import { MemberSight } from './observed-member.ts'
import { OperationRates } from './operation-rates.ts'
import { describePage } from './page-description.ts'
import { addPairs, hasPairs } from './pair-traffic.ts'
import { RegionSight } from './region-sight.ts'
import { ObservedStructures } from './structures/observed-structures.ts'
import { Traffic } from './traffic.ts'
import type {
  Frame,
  HistogramFrame,
  LogFrame,
  MemberFrame,
  PageFrame,
  RegionFrame,
  StructureDetailFrame,
} from './wire.ts'

/** How long members keep journals after the last look. A page that looks once per second renews that in time. */
const SHOW_MS = 5000

/** Events of pages since an earlier count. */
export interface EventsSince {
  readonly count: number
  /** How many events were left out. */
  readonly left: number
  readonly byRegion: ReadonlyMap<string, readonly ReadEvent[]>
}

/**
 * A running space seen from outside: its members, their counters, traffic between them, and the state of every page of
 * their coherent regions. Everything is read from shared memory and /proc. Members keep journals only while an observer
 * asks for them.
 *
 * ```ts
 * using space = ObservedSpace.attach('shop')
 * console.log(space.look().members)
 * ```
 */
export class ObservedSpace {
  readonly name: string
  readonly #observer: SpaceObserver
  readonly #sights = new Map<number, MemberSight>()
  readonly #regions = new Map<string, RegionSight>()
  readonly #links = new LinkRates()
  readonly #operations = new OperationRates()
  readonly #machines = new MachineRates()
  readonly #indexes = new IndexLooks()
  readonly #arrays = new ArrayLooks()
  readonly #events = new EventStore()
  readonly #structures: ObservedStructures
  readonly #knownRegions = new Set<string>()
  /** Members whose end has not been reported, by epoch. */
  readonly #untold = new Map<number, { readonly name: string; readonly process: string }>()
  #isFirst = true
  #lostEvents = 0

  private constructor(observer: SpaceObserver) {
    this.name = observer.name
    this.#observer = observer
    this.#structures = new ObservedStructures(observer)
  }

  /** @throws SpaceError if the space has no member. */
  static attach(name: string): ObservedSpace {
    return new ObservedSpace(SpaceObserver.attach(name))
  }

  /** Look once. Rates cover the time since the last look. */
  look(atMs: number = Date.now()): Frame {
    this.#observer.askToShow(SHOW_MS)
    const log: LogFrame[] = []
    const say = (kind: LogFrame['kind'], text: string): void => void log.push({ atMs, kind, text })
    const members = this.#observer.members()
    this.#meet(members, say)
    this.#readJournals()
    const arena = observedRegions(this.#observer)
    const regions = [...this.#arenaRegions(arena), ...this.#coherentRegions()]
    this.#noteRegions(regions, say)
    const seen = [...this.#sights.values()].map((sight) => {
      const profile = this.#observer.profile(sight.member)
      const opened = regions.filter(({ openAt }) => openAt.includes(sight.number)).length
      const { number, journal } = sight
      return {
        epoch: sight.member.epoch,
        number,
        profile,
        journal,
        since: sight.since(profile),
        ...sight.look(profile, atMs, opened),
      }
    })
    const traffic = new Traffic()
    addPairs(
      traffic,
      seen.flatMap(({ number, since }) => (since !== undefined && hasPairs(since) ? [{ number, since }] : [])),
    )
    const present = new Set(seen.map(({ number }) => number))
    const { structures, memory } = this.#structures.next(
      seen.map(({ frame, profile }) => ({ ...frame, profile })),
      atMs,
      arena,
    )
    const machines = this.#machines.next(seen, atMs)
    const links = this.#links.next(this.#counted(), traffic, present, atMs)
    return {
      atMs,
      space: this.name,
      epoch: this.#observer.epoch,
      running: members.length > 0,
      members: seen.map(({ frame }): MemberFrame => frame).sort(byNumber),
      links,
      operations: this.#operations.next(seen, links, atMs),
      regions,
      structures,
      structureMemory: memory,
      machines,
      indexes: this.#indexes.next(seen, machines),
      arrays: this.#arrays.next(seen, machines),
      histograms: seen.flatMap(({ histograms }): readonly HistogramFrame[] => histograms),
      log,
      lostEvents: this.#lostEvents,
    }
  }

  /** The coherent region with that name, if a member shows it. */
  region(name: string): RegionSight | undefined {
    return this.#regions.get(name)
  }

  /**
   * Events of pages after the first `count`, at most the last `most`, by the name of the region. Also returns the count
   * to pass to the next call.
   */
  eventsSince(count: number, most: number): EventsSince {
    const names = new Map<number, string>()
    for (const [name, { at }] of this.#regions)
      for (const [rank, { region }] of at) names.set(rank * 2 ** 32 + region.number, name)
    const byRegion = new Map<string, ReadEvent[]>()
    const left = this.#events.since(count, most, (event) => {
      const name = names.get(event.rank * 2 ** 32 + event.region)
      if (name === undefined) return
      const events = byRegion.get(name)
      if (events === undefined) byRegion.set(name, [event])
      else events.push(event)
    })
    return { count: this.#events.count, left, byRegion }
  }

  /** All that is known of a page; undefined if there is no such region or page. */
  page(region: string, page: number): PageFrame | undefined {
    const sight = this.#regions.get(region)
    return sight && page >= 0 && page < sight.map.pages ? describePage(sight, page, this.#events) : undefined
  }

  /** All that is known of a structure, with its keys or values if `showsContents`; undefined if there is none. */
  structure(region: string | undefined, name: string, showsContents: boolean): StructureDetailFrame | undefined {
    return this.#structures.detail(region, name, showsContents)
  }

  close(): void {
    this.#structures[Symbol.dispose]()
    for (const sight of this.#sights.values()) sight.close()
    this.#observer.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #meet(members: readonly ObservedMember[], say: (kind: LogFrame['kind'], text: string) => void): void {
    const present = new Set(members.map(({ epoch }) => epoch))
    for (const [epoch, sight] of this.#sights) {
      if (present.has(epoch)) continue
      sight.close()
      this.#sights.delete(epoch)
    }
    // A member that leaves says so before it goes. If one was killed, that may not have been noted yet.
    const fates = new Map(this.#observer.endedSince(0).map(({ epoch, fate }) => [epoch, fate]))
    for (const [epoch, { name, process }] of this.#untold) {
      if (present.has(epoch)) continue
      this.#untold.delete(epoch)
      const fate = fates.get(epoch) ?? 'died'
      say(fate, `${name} ${fate === 'left' ? 'left' : 'died'} (${process})`)
    }
    const isFirst = this.#isFirst
    this.#isFirst = false
    for (const member of members) this.#greet(member, isFirst, say)
  }

  #greet(member: ObservedMember, isFirst: boolean, say: (kind: LogFrame['kind'], text: string) => void): void {
    const known = this.#sights.get(member.epoch)
    // A member publishes its card a moment after it has joined.
    if (known !== undefined && (known.member.group !== undefined || member.group === undefined)) return
    known?.close()
    const sight = new MemberSight(member)
    this.#sights.set(member.epoch, sight)
    const process = processInWords(member)
    this.#untold.set(member.epoch, { name: nameOf(sight), process })
    if (known !== undefined) say('joined', `member ${member.slot} is ${nameOf(sight)} (${process})`)
    else say('joined', `${nameOf(sight)} ${isFirst ? 'is here' : 'joined'} (${process}, epoch ${member.epoch})`)
  }

  #readJournals(): void {
    const showing = new Map<string, Set<number>>()
    for (const sight of this.#sights.values()) {
      if (sight.journal?.isOver === true) sight.close()
      if (sight.journal === undefined) sight.read(this.#observer.openJournal(sight.member))
      const { journal } = sight
      if (journal === undefined) continue
      for (const facts of journal.regions()) {
        let region = this.#regions.get(facts.name)
        if (region?.isSame(facts) !== true) region = RegionSight.of(facts)
        if (region === undefined) continue
        this.#regions.set(facts.name, region)
        region.take(journal, facts)
        showing.set(facts.name, (showing.get(facts.name) ?? new Set()).add(journal.rank))
      }
      this.#lostEvents += journal.events((event) => this.#events.add(event))
    }
    for (const [name, region] of this.#regions) {
      region.keep(showing.get(name) ?? new Set())
      if (!showing.has(name)) this.#regions.delete(name)
    }
  }

  #counted(): ReadonlyMap<number, readonly JournalLink[]> {
    const journals = [...this.#sights.values()].flatMap(({ journal }) => (journal === undefined ? [] : [journal]))
    return new Map(journals.map((journal) => [journal.rank, journal.links()]))
  }

  #arenaRegions(regions: ReturnType<typeof observedRegions>): RegionFrame[] {
    const bySlot = new Map([...this.#sights.values()].map((sight) => [sight.member.slot, sight.number]))
    return regions.map(({ name, size, pageSize, coherence, openAt }) => ({
      name,
      coherence,
      size,
      pageBytes: pageSize,
      pages: Math.ceil(size / pageSize),
      openAt: openAt.map((slot) => bySlot.get(slot) ?? slot),
      hasPages: false,
      cells: [],
    }))
  }

  #coherentRegions(): RegionFrame[] {
    return [...this.#regions.values()].map((region) => ({
      name: region.name,
      coherence: region.facts.protocol,
      size: region.facts.size,
      pageBytes: region.facts.pageBytes,
      pages: region.facts.pages,
      openAt: [...region.at.keys()].sort((a, b) => a - b),
      hasPages: true,
      cells: region.cells(),
    }))
  }

  #noteRegions(regions: readonly RegionFrame[], say: (kind: LogFrame['kind'], text: string) => void): void {
    const names = new Set(regions.map(({ name }) => name))
    for (const { name, coherence, pages } of regions) {
      if (this.#knownRegions.has(name)) continue
      this.#knownRegions.add(name)
      say('region', `region '${name}': ${coherence}, ${pages} pages`)
    }
    for (const name of this.#knownRegions) {
      if (names.has(name)) continue
      this.#knownRegions.delete(name)
      say('region', `region '${name}' is gone`)
    }
  }
}

function nameOf(sight: MemberSight): string {
  return sight.rank === undefined ? `member ${sight.member.slot}` : `rank ${sight.rank}`
}

function byNumber(a: MemberFrame, b: MemberFrame): number {
  return (a.rank ?? a.slot) - (b.rank ?? b.slot) || a.epoch - b.epoch
}
