import type { ServerResponse } from 'node:http'
import type { PageMap } from '../page-map.ts'
import type { Frame, LogFrame, PagesFrame } from '../wire.ts'

/** Blocks that are told in one message: 256 pages each. */
const BLOCKS_MAX = 2048

/** What a stream asks of the server. */
export interface StreamSource {
  pages(region: string): PageMap | undefined
}

/**
 * One page that listens (Server-Sent Events). While it is slow to take what it was sent, frames pass it by: nothing is queued for it but the one message that is
 * on its way, and afterwards it gets what is so now, and the lines of the log that it has missed.
 */
export class EventStream {
  readonly #response: ServerResponse
  readonly #region: string | undefined
  #map: PageMap | undefined
  #stamp = 0
  #loggedUpTo = 0
  /** Frames that passed it by. */
  skipped = 0

  constructor(response: ServerResponse, region: string | undefined) {
    this.#response = response
    this.#region = region
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' })
    response.write('retry: 1000\n\n')
  }

  /** Tell of a look. `log` is all that is kept, `logged` how many lines there ever were. */
  send(frame: Frame, log: readonly LogFrame[], logged: number, source: StreamSource): void {
    if (this.#response.writableNeedDrain || this.#response.destroyed) {
      this.skipped++
      return
    }
    const missed = Math.min(log.length, logged - this.#loggedUpTo)
    this.#loggedUpTo = logged
    this.#say('frame', { ...frame, log: missed === 0 ? [] : log.slice(-missed) })
    const pages = this.#region === undefined ? undefined : this.#changed(this.#region, source.pages(this.#region))
    if (pages !== undefined) this.#say('pages', pages)
  }

  /** Bytes that are on their way to it. */
  get pendingBytes(): number {
    return this.#response.writableLength
  }

  end(): void {
    this.#response.end()
  }

  #changed(region: string, map: PageMap | undefined): PagesFrame | undefined {
    const isNew = map !== this.#map
    if (isNew) {
      this.#map = map
      this.#stamp = 0
    }
    if (map === undefined) return undefined
    const { blocks, stamp } = map.changedSince(this.#stamp, BLOCKS_MAX)
    this.#stamp = stamp
    if (blocks.length === 0 && !isNew) return undefined
    return { region, pages: map.pages, isNew, blocks: blocks.map((block) => [block, base64Of(map.block(block))]) }
  }

  #say(event: string, data: unknown): void {
    this.#response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }
}

function base64Of(states: Uint16Array): string {
  return Buffer.from(states.buffer, states.byteOffset, states.byteLength).toString('base64')
}
