import {
  cacheEvents,
  directoryEvents,
  type JournalReader,
  type JournalRegion,
  type Protocol,
  protocols,
} from '../dsm/index.ts'
import { PageMap } from './page-map.ts'
import type { CellCount } from './wire.ts'

/** One coherent region over successive looks, merged from all ranks. */
export class RegionSight {
  readonly name: string
  readonly protocol: Protocol
  readonly facts: JournalRegion
  readonly map: PageMap
  /** For each rank, its journal and the region's entry in it. */
  readonly at: Map<number, { readonly journal: JournalReader; readonly region: JournalRegion }> = new Map()

  constructor(facts: JournalRegion, protocol: Protocol) {
    this.name = facts.name
    this.facts = facts
    this.protocol = protocol
    this.map = new PageMap(facts.pages, protocol)
  }

  /** Undefined if this version does not know the protocol. */
  static of(facts: JournalRegion): RegionSight | undefined {
    const protocol = protocols.get(facts.protocol)
    return protocol && new RegionSight(facts, protocol)
  }

  isSame(facts: JournalRegion): boolean {
    return facts.pages === this.facts.pages && facts.protocol === this.facts.protocol && facts.id === this.facts.id
  }

  /** Read what has changed at a rank. */
  take(journal: JournalReader, region: JournalRegion): void {
    const known = this.at.get(journal.rank)?.region.number
    // The rank has closed the region and opened it again since the last look.
    if (known !== undefined && known !== region.number) this.map.forget(journal.rank)
    this.at.set(journal.rank, { journal, region })
    for (const block of journal.changedBlocks(region)) this.map.take(journal.rank, block, journal.block(region, block))
  }

  /** Forget the ranks that are not in `ranks`: they no longer have the region open. */
  keep(ranks: ReadonlySet<number>): void {
    for (const rank of [...this.at.keys()]) {
      if (ranks.has(rank)) continue
      this.at.delete(rank)
      this.map.forget(rank)
    }
  }

  cells(): readonly CellCount[] {
    const [cache, directory] = [new Map<number, number>(), new Map<number, number>()]
    for (const { journal, region } of this.at.values()) {
      const counted = journal.cells(region)
      add(cache, counted.cache)
      add(directory, counted.directory)
    }
    const { protocol } = this
    return [
      ...named('cache', cache, Object.keys(protocol.cache.states), cacheEvents),
      ...named('directory', directory, Object.keys(protocol.directory.states), directoryEvents),
    ]
  }
}

function add(sums: Map<number, number>, counts: Uint32Array): void {
  counts.forEach((count, cell) => {
    if (count > 0) sums.set(cell, (sums.get(cell) ?? 0) + count)
  })
}

function named(
  side: CellCount['side'],
  sums: ReadonlyMap<number, number>,
  states: readonly string[],
  events: readonly string[],
): CellCount[] {
  return [...sums].map(([cell, count]) => ({
    side,
    state: states[Math.floor(cell / events.length)] ?? '?',
    event: events[cell % events.length]!,
    count,
  }))
}
