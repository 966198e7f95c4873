import type { Frame, LogFrame, PagesFrame } from '../src/dashboard/wire.ts'

/** How many looks are remembered: at five a second, two minutes. */
export const HISTORY = 600
const LOG_MAX = 1000

/** One link through time; the newest last. */
export interface LinkHistory {
  readonly from: number
  readonly to: number
  readonly bytes: number[]
  readonly latencyUs: (number | null)[]
}

/** What the page knows, as the server tells it. Rates are kept for two minutes, so that charts have a past. */
export class Feed {
  frame: Frame | undefined
  readonly log: LogFrame[] = []
  readonly times: number[] = []
  readonly totalBytes: number[] = []
  readonly links = new Map<string, LinkHistory>()
  /** States of the pages of {@link region}. */
  pages = new Uint16Array(0)
  region: string | undefined
  connected = false
  /** Blocks of pages that changed, for whoever draws them; `all` after a new region. */
  onPages: (blocks: readonly number[] | 'all') => void = () => {}
  onFrame: () => void = () => {}
  #source: EventSource | undefined

  /** Listen, from now on also to the pages of `region`. */
  listen(region: string | undefined = this.region): void {
    if (this.#source !== undefined && region === this.region) return
    this.#source?.close()
    this.region = region
    this.pages = new Uint16Array(0)
    this.onPages('all')
    const query = region === undefined ? '' : `?region=${encodeURIComponent(region)}`
    const source = new EventSource(`/events${query}`)
    this.#source = source
    source.addEventListener('frame', (event) => this.#take(JSON.parse(event.data) as Frame))
    source.addEventListener('pages', (event) => this.#takePages(JSON.parse(event.data) as PagesFrame))
    source.addEventListener('open', () => {
      this.connected = true
    })
    source.addEventListener('error', () => {
      this.connected = false
      this.onFrame()
    })
  }

  #take(frame: Frame): void {
    if (this.frame?.space !== frame.space) this.#forget()
    this.frame = frame
    const known = new Set(this.log.map(({ atMs, text }) => atMs + text))
    this.log.push(...frame.log.filter(({ atMs, text }) => !known.has(atMs + text)))
    this.log.splice(0, Math.max(0, this.log.length - LOG_MAX))
    push(this.times, frame.atMs)
    push(
      this.totalBytes,
      frame.links.reduce((sum, { bytes }) => sum + bytes, 0),
    )
    for (const { from, to, bytes, latencyNs } of frame.links) {
      const history = this.#historyOf(from, to)
      push(history.bytes, bytes)
      push(history.latencyUs, latencyNs === null ? null : latencyNs / 1000)
    }
    this.onFrame()
  }

  #historyOf(from: number, to: number): LinkHistory {
    const key = `${from} ${to}`
    let history = this.links.get(key)
    if (history === undefined) {
      const past = this.times.length - 1
      history = { from, to, bytes: new Array(past).fill(0), latencyUs: new Array(past).fill(null) }
      this.links.set(key, history)
    }
    return history
  }

  #forget(): void {
    this.links.clear()
    this.times.length = 0
    this.totalBytes.length = 0
  }

  #takePages({ region, pages, isNew, blocks }: PagesFrame): void {
    if (region !== this.region) return
    if (isNew || this.pages.length !== pages) {
      this.pages = new Uint16Array(pages)
      this.onPages('all')
    }
    for (const [block, states] of blocks) this.pages.set(decode(states), block * 256)
    this.onPages(blocks.map(([block]) => block))
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
