import type {
  ArraysFrame,
  HistogramsFrame,
  IndexesFrame,
  LookFrame,
  MachinesFrame,
  OperationsFrame,
  PageFrame,
  PagesFrame,
  StructureDetailFrame,
  StructuresFrame,
} from '../src/dashboard/wire.ts'
import type { Feed } from './feed.ts'
import { ask, refusalOf, type Source } from './source.ts'

/**
 * Time until the next try after the server has refused. A browser reconnects by itself only if a connection has ended.
 */
const RETRY_MS = 3000

/** A running space, from the server's stream of events. */
export class Live implements Source {
  readonly #feed: Feed
  #stream: EventSource | undefined

  constructor(feed: Feed) {
    this.#feed = feed
  }

  choose(region: string | undefined): void {
    const feed = this.#feed
    this.#stream?.close()
    const query = region === undefined ? '' : `?region=${encodeURIComponent(region)}`
    const path = `/events${query}`
    const stream = new EventSource(path)
    this.#stream = stream
    stream.addEventListener('frame', (event) => {
      feed.take({ event: 'frame', data: JSON.parse(event.data) as LookFrame })
      feed.onFrame()
    })
    stream.addEventListener('pages', (event) =>
      feed.take({ event: 'pages', data: JSON.parse(event.data) as PagesFrame }),
    )
    stream.addEventListener('histograms', (event) =>
      feed.take({ event: 'histograms', data: JSON.parse(event.data) as HistogramsFrame }),
    )
    stream.addEventListener('operations', (event) =>
      feed.take({ event: 'operations', data: JSON.parse(event.data) as OperationsFrame }),
    )
    stream.addEventListener('structures', (event) =>
      feed.take({ event: 'structures', data: JSON.parse(event.data) as StructuresFrame }),
    )
    stream.addEventListener('machines', (event) =>
      feed.take({ event: 'machines', data: JSON.parse(event.data) as MachinesFrame }),
    )
    stream.addEventListener('indexes', (event) =>
      feed.take({ event: 'indexes', data: JSON.parse(event.data) as IndexesFrame }),
    )
    stream.addEventListener('arrays', (event) =>
      feed.take({ event: 'arrays', data: JSON.parse(event.data) as ArraysFrame }),
    )
    stream.addEventListener('open', () => {
      feed.connected = true
      feed.refusal = undefined
    })
    stream.addEventListener('error', () => {
      const isRefused = stream.readyState === EventSource.CLOSED
      feed.connected = false
      if (!isRefused) feed.refusal = undefined
      feed.onFrame()
      if (!isRefused) return
      void this.#learnWhy(path)
      setTimeout(() => this.#stream === stream && this.choose(region), RETRY_MS)
    })
  }

  async #learnWhy(path: string): Promise<void> {
    this.#feed.refusal = await refusalOf(path)
    this.#feed.onFrame()
  }

  askPage(region: string, page: number): Promise<PageFrame | undefined> {
    return ask(`/page?${new URLSearchParams({ region, page: String(page) }).toString()}`)
  }

  askStructure(region: string, name: string): Promise<StructureDetailFrame | undefined> {
    return ask(`/structure?${new URLSearchParams({ region, name }).toString()}`)
  }

  clockMs(nowMs: number): number {
    return nowMs
  }
}
