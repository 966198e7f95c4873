import type {
  ArraysFrame,
  HistogramFrame,
  IndexFrame,
  LinkFrame,
  LogFrame,
  LookFrame,
  Message,
  PageFrame,
  PagesFrame,
  StructureDetailFrame,
} from '../src/dashboard/wire.ts'
import { LinkHistory } from './link-history.ts'
import { MachineList } from './machine-list.ts'
import { OperationList } from './operation-list.ts'
import type { Source } from './source.ts'
import { StructureList } from './structure-list.ts'
import { HISTORY } from './time-series.ts'

const LOG_MAX = 1000
/** As in wire.ts. */
const LINK_NUMBERS = 7
const CLASSES = 16

/** What the page knows, from the messages of its source. Rates are kept for two minutes, for the charts. */
export class Feed {
  frame: LookFrame | undefined
  /** Number of the last look. */
  look = HISTORY
  log: LogFrame[] = []
  readonly times: number[] = []
  readonly totalBytes: number[] = []
  /** The current traffic of each link, and its history. */
  readonly flows = new Map<string, LinkFrame>()
  readonly links = new Map<string, LinkHistory>()
  readonly operations = new OperationList()
  readonly structures = new StructureList()
  readonly machines = new MachineList()
  /** Undefined in recordings of an earlier version, which have none. */
  indexes: readonly IndexFrame[] | undefined
  /** Grows with every change of the indexes. */
  indexesStamp = 0
  /** The same of arrays. */
  arrays: ArraysFrame | undefined
  arraysStamp = 0
  readonly histograms = new Map<string, HistogramFrame>()
  /** Grows with every change of the histograms. */
  histogramsStamp = 0
  /** States of the pages of {@link region}, and the number of pages in each class. */
  pages = new Uint16Array(0)
  counts = new Uint32Array(CLASSES)
  region: string | undefined
  connected = false
  /** The server's latest reason to refuse the connection. */
  refusal: string | undefined
  /** Called with the blocks of pages that have changed; with `all` after a change of region. */
  onPages: (blocks: readonly number[] | 'all') => void = () => {}
  onFrame: () => void = () => {}
  #source: Source | undefined

  set source(source: Source) {
    this.#source = source
    source.choose(this.region)
  }

  /** From now on receive the pages of `region`, or of no region. */
  choose(region: string | undefined): void {
    if (region === this.region) return
    this.region = region
    this.#clearPages(0)
    this.#source?.choose(region)
  }

  askPage(page: number): Promise<PageFrame | undefined> {
    return this.#source?.askPage(this.region ?? '', page) ?? Promise.resolve(undefined)
  }

  /** What is known of a structure now; undefined in a recording. */
  askStructure(region: string, name: string): Promise<StructureDetailFrame | undefined> {
    return this.#source?.askStructure?.(region, name) ?? Promise.resolve(undefined)
  }

  /** Whether a recording is shown, and not a running space. */
  get isRecording(): boolean {
    return this.#source !== undefined && this.#source.askStructure === undefined
  }

  take(message: Message): void {
    if (message.event === 'frame') this.#takeFrame(message.data)
    else if (message.event === 'pages') this.#takePages(message.data)
    else if (message.event === 'operations') this.operations.take(message.data, this.look)
    else if (message.event === 'structures') this.structures.take(message.data, this.look)
    else if (message.event === 'machines') this.machines.take(message.data, this.look)
    else if (message.event === 'indexes') this.#takeIndexes(message.data.indexes)
    else if (message.event === 'arrays') this.#takeArrays(message.data)
    else {
      this.histogramsStamp += 1
      if (message.data.isWhole) this.histograms.clear()
      for (const histogram of message.data.histograms)
        this.histograms.set(`${histogram.name} ${histogram.slot}`, histogram)
      for (const [name, slot] of message.data.gone ?? []) this.histograms.delete(`${name} ${slot}`)
    }
  }

  /** Forget everything but the selected region. */
  forget(): void {
    this.frame = undefined
    this.log = []
    this.histograms.clear()
    this.histogramsStamp += 1
    this.#forgetRates()
    this.#clearPages(0)
  }

  #takeFrame(frame: LookFrame): void {
    if (this.frame?.space !== frame.space) this.#forgetRates()
    this.frame = frame
    this.look += 1
    if (frame.isWhole) this.flows.clear()
    const known = new Set(this.log.map(({ atMs, text }) => atMs + text))
    const lines = frame.log.filter(({ atMs, text }) => !known.has(atMs + text))
    if (lines.length > 0) this.log = [...this.log, ...lines].slice(-LOG_MAX)
    this.#takeLinks(frame)
    push(this.times, frame.atMs)
    let total = 0
    for (const { bytes } of this.flows.values()) total += bytes
    push(this.totalBytes, total)
  }

  #takeLinks({ links, members }: LookFrame): void {
    for (let at = 0; at + LINK_NUMBERS <= links.length; at += LINK_NUMBERS) {
      const [from, to, messages, pages, bytes, latency, totalBytes] = links.slice(at, at + LINK_NUMBERS) as [
        number,
        number,
        number,
        number,
        number,
        number,
        number,
      ]
      const key = `${from} ${to}`
      this.flows.set(key, { from, to, messages, pages, bytes, latencyNs: latency < 0 ? null : latency, totalBytes })
      let history = this.links.get(key)
      if (history === undefined) {
        history = new LinkHistory(from, to, this.look - 1)
        this.links.set(key, history)
      }
      history.set(this.look, bytes, latency)
    }
    const present = new Set(members.map(({ rank, slot }) => rank ?? slot))
    if (present.size === this.#present.size && [...present].every((number) => this.#present.has(number))) return
    this.#present = present
    for (const [key, { from, to }] of this.flows) {
      if (present.has(from) && present.has(to)) continue
      this.flows.delete(key)
      this.links.get(key)?.set(this.look, 0, -1)
    }
  }
  #present: ReadonlySet<number> = new Set()

  #forgetRates(): void {
    this.flows.clear()
    this.links.clear()
    this.operations.clear()
    this.structures.clear()
    this.machines.clear()
    this.#takeIndexes(undefined)
    this.#takeArrays(undefined)
    this.times.length = 0
    this.totalBytes.length = 0
  }

  #takeIndexes(indexes: readonly IndexFrame[] | undefined): void {
    this.indexes = indexes
    this.indexesStamp += 1
  }

  #takeArrays(arrays: ArraysFrame | undefined): void {
    this.arrays = arrays
    this.arraysStamp += 1
  }

  #clearPages(pages: number): void {
    this.pages = new Uint16Array(pages)
    this.counts = new Uint32Array(CLASSES)
    this.counts[0] = pages
    this.onPages('all')
  }

  #takePages({ region, pages, isNew, blocks }: PagesFrame): void {
    if (region !== this.region) return
    if (isNew || this.pages.length !== pages) this.#clearPages(pages)
    for (const [block, states] of blocks) this.#takeBlock(block * 256, states)
    this.onPages(blocks.map(([block]) => block))
  }

  #takeBlock(first: number, states: string | number): void {
    const end = Math.min(this.pages.length, first + 256)
    for (let page = first; page < end; page += 1) this.counts[this.pages[page]! & 15]! -= 1
    if (typeof states === 'number') this.pages.fill(states, first, end)
    else this.pages.set(decode(states).subarray(0, end - first), first)
    for (let page = first; page < end; page += 1) this.counts[this.pages[page]! & 15]! += 1
  }
}

function push<T>(list: T[], value: T): void {
  list.push(value)
  if (list.length > HISTORY) list.shift()
}

function decode(text: string): Uint16Array {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  return new Uint16Array(bytes.buffer)
}
