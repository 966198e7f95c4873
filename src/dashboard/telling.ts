import { type PageMap, PageReader } from './page-map.ts'
import type {
  ArraysFrame,
  Frame,
  HistogramFrame,
  IndexFrame,
  LinkFrame,
  LogFrame,
  MachineFrame,
  Message,
  OperationFrame,
  PagesFrame,
  StructureFrame,
  StructuresFrame,
} from './wire.ts'

/**
 * The maximum number of blocks of one region, of 256 pages each, that one look sends; only the first look sends all. If
 * a million pages change all the time, each is sent again at every eighth look.
 */
export const BLOCKS_MAX = 512
/** The interval between histograms. */
const HISTOGRAMS_MS = 1000

/** The source of the states of pages. */
export interface PageSource {
  pages(region: string): PageMap | undefined
}

interface ToldPages {
  readonly map: PageMap
  readonly reader: PageReader
}

interface ToldHistogram {
  readonly name: string
  readonly slot: number
  readonly count: number
}

/** What a reader already knows of a space, so that the next look sends only what is new. */
export class Telling {
  readonly #links = new Map<number, string>()
  readonly #pages = new Map<string, ToldPages>()
  readonly #histograms = new Map<string, ToldHistogram>()
  /** Operations that were last sent with a rate, as they were sent, by link, layer and name. */
  #operations = new Map<string, string>()
  #operationsTold: readonly OperationFrame[] | undefined
  /** Structures as they were last sent, by region and name. */
  #structures = new Map<string, string>()
  #structuresTold: readonly StructureFrame[] | undefined
  /** Machines as they were last sent. */
  #machines: string | undefined
  #machinesTold: readonly MachineFrame[] | undefined
  /** The same of indexes. */
  #indexes: string | undefined
  #indexesTold: readonly IndexFrame[] | undefined
  /** The same of arrays. */
  #arrays: string | undefined
  #arraysTold: ArraysFrame | undefined
  #isWhole = true
  #loggedUpTo = 0
  #histogramsMs = 0

  /** Send everything with the next look, as if nothing had been sent. */
  begin(): void {
    this.#loggedUpTo = 0
    this.#links.clear()
    this.#pages.clear()
    this.#histograms.clear()
    this.#histogramsMs = 0
    this.#operations.clear()
    this.#operationsTold = undefined
    this.#structures.clear()
    this.#structuresTold = undefined
    this.#machines = undefined
    this.#machinesTold = undefined
    this.#indexes = undefined
    this.#indexesTold = undefined
    this.#arrays = undefined
    this.#arraysTold = undefined
    this.#isWhole = true
  }

  /**
   * The messages for a look and for the pages of `regions`. `log` has the lines that are kept, `logged` is the number
   * of lines ever logged.
   */
  next(
    frame: Frame,
    log: readonly LogFrame[],
    logged: number,
    regions: readonly string[],
    source: PageSource,
  ): readonly Message[] {
    const isWhole = this.#isWhole
    this.#isWhole = false
    const missed = Math.min(log.length, logged - this.#loggedUpTo)
    this.#loggedUpTo = logged
    const { links, histograms, operations, structures, structureMemory, machines, indexes, arrays, ...rest } = frame
    const lines = missed === 0 ? [] : log.slice(-missed)
    const told: Message[] = [
      { event: 'frame', data: { ...rest, log: lines, links: this.#changedLinks(links), isWhole } },
    ]
    if (isWhole || Math.abs(frame.atMs - this.#histogramsMs) >= HISTOGRAMS_MS) {
      this.#histogramsMs = frame.atMs
      const changed = this.#changedHistograms(histograms)
      const gone = this.#goneHistograms(histograms)
      if (isWhole || changed.length > 0 || gone.length > 0)
        told.push({
          event: 'histograms',
          data: { isWhole, histograms: changed, ...(gone.length > 0 && { gone }) },
        })
    }
    if (operations !== this.#operationsTold) {
      this.#operationsTold = operations
      const changed = this.#changedOperations(operations)
      if (isWhole || changed.length > 0) told.push({ event: 'operations', data: { isWhole, operations: changed } })
    }
    if (structures !== this.#structuresTold) {
      this.#structuresTold = structures
      told.push({
        event: 'structures',
        data: { isWhole, memory: structureMemory, ...this.#changedStructures(structures) },
      })
    }
    if (machines !== this.#machinesTold) {
      this.#machinesTold = machines
      const data = { machines: machines.map((machine) => ({ ...machine, rate: roundedRate(machine.rate) })) }
      const text = JSON.stringify(data)
      if (text !== this.#machines) told.push({ event: 'machines', data })
      this.#machines = text
    }
    if (indexes !== this.#indexesTold) {
      this.#indexesTold = indexes
      const text = JSON.stringify(indexes)
      if (text !== this.#indexes) told.push({ event: 'indexes', data: { indexes } })
      this.#indexes = text
    }
    if (arrays !== this.#arraysTold) {
      this.#arraysTold = arrays
      const text = JSON.stringify(arrays)
      if (text !== this.#arrays) told.push({ event: 'arrays', data: arrays })
      this.#arrays = text
    }
    for (const region of regions) {
      const data = this.#changedPages(region, source.pages(region), isWhole ? Number.POSITIVE_INFINITY : BLOCKS_MAX)
      if (data !== undefined) told.push({ event: 'pages', data })
    }
    return told
  }

  #changedLinks(links: readonly LinkFrame[]): readonly number[] {
    const changed: number[] = []
    for (const { from, to, messages, pages, bytes, latencyNs, totalBytes } of links) {
      const latency = latencyNs === null ? -1 : Math.round(latencyNs)
      const numbers = [Math.round(messages), Math.round(pages), Math.round(bytes), latency, totalBytes]
      const key = from * 65_536 + to
      const text = numbers.join()
      if (this.#links.get(key) === text) continue
      this.#links.set(key, text)
      changed.push(from, to, ...numbers)
    }
    // The page forgets links of members that have gone, so a link that comes back is sent again.
    if (this.#links.size > links.length) {
      const present = new Set(links.map(({ from, to }) => from * 65_536 + to))
      for (const key of this.#links.keys()) if (!present.has(key)) this.#links.delete(key)
    }
    return changed
  }

  #changedOperations(operations: readonly OperationFrame[]): readonly OperationFrame[] {
    const had = this.#operations
    const now = new Map<string, string>()
    const changed: OperationFrame[] = []
    for (const operation of operations.map(rounded)) {
      const key = JSON.stringify([operation.from, operation.to, operation.layer, operation.name])
      const text = JSON.stringify(operation)
      now.set(key, text)
      if (had.get(key) !== text) changed.push(operation)
    }
    for (const [key, text] of had)
      if (!now.has(key)) changed.push({ ...(JSON.parse(text) as OperationFrame), ...STILL })
    this.#operations = now
    return changed
  }

  #changedStructures(structures: readonly StructureFrame[]): Pick<StructuresFrame, 'structures' | 'gone'> {
    const had = this.#structures
    const now = new Map<string, string>()
    const changed: StructureFrame[] = []
    for (const structure of structures) {
      const { region, name, reads, writes } = structure
      const rounded = { ...structure, reads: roundedRate(reads), writes: roundedRate(writes) }
      const key = JSON.stringify([region, name])
      const text = JSON.stringify(rounded)
      now.set(key, text)
      if (had.get(key) !== text) changed.push(rounded)
    }
    const gone = [...had.keys()].filter((key) => !now.has(key)).map((key) => JSON.parse(key) as [string, string])
    this.#structures = now
    return { structures: changed, ...(gone.length > 0 && { gone }) }
  }

  #changedHistograms(histograms: readonly HistogramFrame[]): readonly HistogramFrame[] {
    return histograms.filter(({ name, slot, count }) => {
      const key = `${name} ${slot}`
      if (this.#histograms.get(key)?.count === count) return false
      this.#histograms.set(key, { name, slot, count })
      return true
    })
  }

  #goneHistograms(histograms: readonly HistogramFrame[]): readonly (readonly [name: string, slot: number])[] {
    const present = new Set(histograms.map(({ name, slot }) => `${name} ${slot}`))
    const gone: [name: string, slot: number][] = []
    for (const [key, { name, slot }] of this.#histograms) {
      if (present.has(key)) continue
      this.#histograms.delete(key)
      gone.push([name, slot])
    }
    return gone
  }

  #changedPages(region: string, map: PageMap | undefined, most: number): PagesFrame | undefined {
    if (map === undefined) {
      this.#pages.delete(region)
      return undefined
    }
    const known = this.#pages.get(region)
    const isNew = map !== known?.map
    const reader = isNew ? new PageReader(map) : known!.reader
    if (isNew) this.#pages.set(region, { map, reader })
    const blocks = map.takeChanged(reader, most)
    if (blocks.length === 0 && !isNew) return undefined
    return { region, pages: map.pages, isNew, blocks: blocks.map((block) => [block, packed(map.block(block))]) }
  }
}

const STILL = { rate: 0, bytes: 0, p50Ns: null, p99Ns: null } as const

function rounded({ from, to, layer, name, rate, bytes, p50Ns, p99Ns }: OperationFrame): OperationFrame {
  const whole = (ns: number | null): number | null => (ns === null ? null : Math.round(ns))
  return {
    from,
    to,
    layer,
    name,
    rate: roundedRate(rate),
    bytes: Math.round(bytes),
    p50Ns: whole(p50Ns),
    p99Ns: whole(p99Ns),
  }
}

/** A low rate must not be rounded to 0. */
function roundedRate(rate: number): number {
  return rate < 10 ? Math.round(rate * 100) / 100 : Math.round(rate)
}

/** A block whose pages all have one state, which is common, is that number. */
function packed(states: Uint16Array): string | number {
  const [first = 0] = states
  if (states.every((state) => state === first)) return first
  return Buffer.from(states.buffer, states.byteOffset, states.byteLength).toString('base64')
}
