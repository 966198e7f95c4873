import type { LogFrame } from '../src/dashboard/wire.ts'
import { card, make } from './dom.ts'
import type { Feed } from './feed.ts'
import type { View } from './view.ts'

/** Members that joined, left or died, and regions that were opened and closed; the newest first. */
export class EventLogView implements View {
  readonly id = 'log'
  readonly title = 'Log'
  readonly element: HTMLElement
  readonly #feed: Feed
  readonly #body = make('div', { class: 'scroll' })
  #shown: readonly LogFrame[] | undefined

  constructor(feed: Feed) {
    this.#feed = feed
    this.element = make('section', { id: this.id }, card('Events', this.#body))
  }

  update(): void {
    const { log } = this.#feed
    if (log === this.#shown) return
    this.#shown = log
    const lines = [...log].reverse().map(({ atMs, kind, text }) => {
      const time = new Date(atMs).toTimeString().slice(0, 8)
      return make('div', { class: `logline ${kind}` }, make('time', {}, time), make('span', {}, text))
    })
    this.#body.replaceChildren(
      ...(lines.length > 0 ? lines : [make('div', { class: 'empty' }, 'Nothing has happened yet.')]),
    )
  }
}
