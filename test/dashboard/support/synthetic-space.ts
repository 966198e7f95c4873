import type {
  ArraysFrame,
  DashboardSource,
  Frame,
  IndexFrame,
  MachineFrame,
  OperationFrame,
  PageFrame,
  StructureFrame,
} from '../../../src/dashboard/index.ts'
import type { EventsSince } from '../../../src/dashboard/observed-space.ts'
import { OPERATION_LINKS_MAX } from '../../../src/dashboard/operation-rates.ts'
import { PageMap } from '../../../src/dashboard/page-map.ts'
import { directory, EventKind, PAGE_ENTRY_BYTES, PAGES_PER_BLOCK, type ReadEvent } from '../../../src/dsm/index.ts'

/** How much there is of everything. */
export interface SyntheticSize {
  readonly members: number
  readonly pages: number
  /** Blocks of 256 pages that change at each look. */
  readonly blocksALook: number
  /** Default 5. */
  readonly structures?: number
  /** Milliseconds from look to look; undefined: as the clock has it. */
  readonly lookMs?: number
}

/**
 * A space of which everything is made up, the same at each run: as many members, links and pages as are wanted,
 * changing from look to look.
 */
export class SyntheticSpace implements DashboardSource {
  readonly size: SyntheticSize
  readonly map: PageMap
  /** Words that stand where names do. */
  regionName = 'grid'
  logText = 'something happened'
  structureName = 'structure'
  machineName = 'accounts'
  looks = 0
  /** When the last look was, for who takes looks down: of a clock that nobody sets. */
  readonly clock = (): number => this.looks * (this.size.lookMs ?? 0)
  #block = 0
  #told: readonly OperationFrame[] = []
  #toldStructures: readonly StructureFrame[] = []
  #toldMachines: readonly MachineFrame[] = []
  #toldIndexes: readonly IndexFrame[] = []
  #toldArrays: ArraysFrame = { arrays: [], moved: [] }
  #events: ReadEvent[] = []

  constructor(size: SyntheticSize) {
    this.size = size
    this.map = new PageMap(size.pages, directory)
  }

  look(): Frame {
    const { members, pages, lookMs } = this.size
    const look = ++this.looks
    const atMs = lookMs === undefined ? Date.now() : 1_700_000_000_000 + look * lookMs
    this.#change(look)
    const ranks = Array.from({ length: members }, (_, rank) => rank)
    return {
      atMs,
      space: 'synthetic',
      epoch: members,
      running: true,
      members: ranks.map((rank) => ({
        slot: rank,
        epoch: rank + 1,
        processId: 1000 + rank,
        rank,
        state: 'running',
        residentBytes: 50e6 + rank,
        processors: ((look + rank) % 10) / 10,
        waits: look % 100,
        bytesIn: 1e6 + look,
        bytesOut: 1e6 + rank * look,
        waitP50Ns: 20_000,
        waitP99Ns: 90_000,
        regions: 1,
      })),
      links: ranks.flatMap((from) =>
        ranks
          .filter((to) => to !== from)
          .map((to) => ({
            from,
            to,
            messages: 100,
            pages: 10,
            bytes: ((from * 31 + to * 17 + look) % 97) * 1e4,
            latencyNs: 20_000 + ((from + to + look) % 50) * 1000,
            totalBytes: look * 1e5,
          })),
      ),
      operations: this.#operations(look),
      regions: [
        {
          name: this.regionName,
          coherence: 'directory',
          size: pages * 4096,
          pageBytes: 4096,
          pages,
          openAt: ranks,
          hasPages: true,
          cells: [{ side: 'cache', state: 'I', event: 'Load', count: look }],
        },
      ],
      structures: this.#structures(look),
      structureMemory: [
        {
          region: 'structures',
          sizeBytes: 2 ** 26,
          usedBytes: 2 ** 20 * (1 + (look % 9)),
          isEstimate: false,
          isOther: false,
        },
      ],
      machines: this.#machines(look),
      indexes: this.#indexes(look),
      arrays: this.#arrays(look),
      histograms: ranks.map((rank) => ({
        name: 'dsm.fault grid',
        slot: rank,
        count: look * 100,
        meanNs: 25_000,
        p50Ns: 20_000,
        p90Ns: 50_000,
        p99Ns: 90_000,
        maxNs: 200_000,
        parts: Array.from({ length: 24 }, (_, index) => [48 + index, look + index]).flat(),
      })),
      log: look % 10 === 1 ? [{ atMs, kind: 'note', text: `${this.logText} at look ${look}` }] : [],
      lostEvents: 0,
    }
  }

  pages(region: string): PageMap | undefined {
    return region === this.regionName ? this.map : undefined
  }

  page(region: string, page: number): PageFrame | undefined {
    if (region !== this.regionName || page >= this.size.pages) return undefined
    const state = this.map.states[page]!
    const nothing = { home: 0, homeState: 'S', version: this.looks, copies: [], sharers: [1, 2], history: [] }
    return { region, page, class: state & 15, owner: (state >> 4) - 1, ...nothing }
  }

  /** Of each look: rank 1 wanted page 3 to write, and had it. */
  takeEvents(): EventsSince {
    const events = this.#events
    this.#events = []
    return { count: this.looks, left: 0, byRegion: new Map([[this.regionName, events]]) }
  }

  close(): void {}

  /** Two operations of so many links as a real space tells, anew every fifth look. */
  #operations(look: number): readonly OperationFrame[] {
    if (look % 5 !== 1) return this.#told
    const links = this.size.members * (this.size.members - 1)
    this.#told = Array.from({ length: Math.min(OPERATION_LINKS_MAX, links) }, (_, index) => {
      const from = index % this.size.members
      const to = (from + 1 + Math.floor(index / this.size.members)) % this.size.members
      const link = { from, to, layer: 'coherence', rate: 10 + (look % 7), bytes: 1000 * look } as const
      return [
        { ...link, name: 'page', p50Ns: null, p99Ns: null },
        { ...link, name: 'wait to read', p50Ns: 20_000 + look, p99Ns: 90_000 },
      ]
    }).flat()
    return this.#told
  }

  /** Again at every fifth look. */
  #structures(look: number): readonly StructureFrame[] {
    if (look % 5 !== 1) return this.#toldStructures
    const kinds = ['map', 'queue', 'log', 'mutex', 'counter']
    this.#toldStructures = Array.from({ length: this.size.structures ?? 5 }, (_, index) => ({
      region: 'structures',
      name: `${this.structureName} ${index}`,
      kind: kinds[index % kinds.length]!,
      entries: index % kinds.length < 3 ? look * (index + 1) : null,
      bytes: 4096 * (index + 1),
      isEstimate: index % 2 === 0,
      isChanging: false,
      now: index % kinds.length === 4 ? String(look) : '',
      reads: 1000 * index + look,
      writes: 10 * index,
      waiting: index % 3,
      evictions: look * index,
      expirations: 0,
    }))
    return this.#toldStructures
  }

  /** Another list at each fifth look: two machines, of which rank 0 leads the first, and rank 1 the second. */
  #machines(look: number): readonly MachineFrame[] {
    if (look % 5 !== 1) return this.#toldMachines
    const stages = { campaignNs: 2e5, promisedNs: 4e5, caughtUpNs: 6e5, decidedNs: 9e5 }
    this.#toldMachines = [this.machineName, 'second'].flatMap((name, leader) =>
      Array.from({ length: Math.min(3, this.size.members) }, (_, number) => ({
        name,
        number,
        leads: number === leader,
        term: 1 + leader,
        applied: 10 * look - number,
        behind: number,
        rate: number === 2 ? 0 : 10 + (look % 7),
        proposing: number,
        failOver: number === leader ? stages : null,
      })),
    )
    return this.#toldMachines
  }

  /** Another list at each fifth look: an index of four shards. Rank 0 leads them, and the last rank takes one over. */
  #indexes(look: number): readonly IndexFrame[] {
    if (look % 5 !== 1) return this.#toldIndexes
    const members = Math.min(3, this.size.members)
    const nodes = Array.from({ length: members }, (_, number) => ({
      number,
      bytesMax: 2 ** 30,
      slow: number * look,
      shards: Array.from({ length: number === 0 ? 4 : number }, (__, shard) => ({
        shard,
        state: number > 0 && number === members - 1 && shard === 0 ? ('opening' as const) : ('holds' as const),
        leads: number === 0,
        behind: number === 0 ? 0 : null,
        keys: look,
        expiring: 0,
        waiting: number,
        bytesUsed: 1024 * look,
        bytesHeld: 2 ** 24,
        evicted: 0,
      })),
    }))
    this.#toldIndexes = [{ name: this.machineName, shards: 4, replicas: 3, nodes }]
    return this.#toldIndexes
  }

  /** Another frame at each fifth look: an array whose rows are dealt out, and one that every member has. */
  #arrays(look: number): ArraysFrame {
    if (look % 5 !== 1) return this.#toldArrays
    const members = Math.min(3, this.size.members)
    const numbers = Array.from({ length: members }, (_, number) => number)
    const parts = numbers.map((number) => ({ number, elements: 64 * 4, bytes: 2048 }))
    const of = { dtype: 'float64', axes: 2, shape: [8 * members, 32], parts }
    const cells = Array.from({ length: 8 * members }, (_, row) => Array.from({ length: 32 }, () => row % members))
    const name = this.machineName
    this.#toldArrays = {
      arrays: [
        { ...of, name, partition: ['cyclic', 'replicated'], cells },
        { ...of, name: `${name} everywhere`, partition: ['replicated', 'replicated'], cells: [[-2]] },
      ],
      moved: numbers.map((number) => ({ number, bytes: 1024 * look * number, exchanges: look })),
    }
    return this.#toldArrays
  }

  #change(look: number): void {
    const { members, pages, blocksALook } = this.size
    const blocks = Math.ceil(pages / PAGES_PER_BLOCK)
    const states = Object.keys(directory.cache.states)
    const entries = new DataView(new ArrayBuffer(PAGES_PER_BLOCK * PAGE_ENTRY_BYTES))
    for (let count = 0; count < Math.min(blocks, blocksALook); count += 1, this.#block = (this.#block + 1) % blocks) {
      for (let page = 0; page < PAGES_PER_BLOCK; page += 1) {
        const state = (page + look + this.#block) % 3 === 0 ? 'M' : 'S'
        entries.setUint8(page * PAGE_ENTRY_BYTES, 1 + states.indexOf(state))
      }
      this.map.take((this.#block + look) % members, this.#block, entries)
    }
    const nothing = { peer: -1, before: 2, after: 0, requester: -1, bytes: 0 }
    const [timeNs, tookNs] = [look * 200e6, 40_000]
    this.#events.push(
      { ...nothing, rank: 1, region: 0, timeNs, what: EventKind.Wanted, page: 3, tookNs: 0 },
      { ...nothing, rank: 1, region: 0, timeNs: timeNs + tookNs, what: EventKind.Granted, page: 3, tookNs },
    )
  }
}
