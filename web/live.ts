import type { HistogramsFrame, LookFrame, OperationsFrame, PageFrame, PagesFrame } from '../src/dashboard/wire.ts'
import type { Feed } from './feed.ts'
import { ask, type Source } from './source.ts'

/** What runs now, as the server tells it. */
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
    const stream = new EventSource(`/events${query}`)
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
    stream.addEventListener('open', () => {
      feed.connected = true
    })
    stream.addEventListener('error', () => {
      feed.connected = false
      feed.onFrame()
    })
  }

  askPage(region: string, page: number): Promise<PageFrame | undefined> {
    return ask(`/page?${new URLSearchParams({ region, page: String(page) }).toString()}`)
  }

  clockMs(nowMs: number): number {
    return nowMs
  }
}
