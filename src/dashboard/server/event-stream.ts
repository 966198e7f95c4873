import type { ServerResponse } from 'node:http'
import { type PageSource, Telling } from '../telling.ts'
import type { Frame, LogFrame } from '../wire.ts'

/**
 * One page that listens (Server-Sent Events). While it is slow to take what it was sent, frames pass it by: nothing is
 * queued for it but the one message that is on its way, and afterwards it gets what is so now, and the lines of the log
 * that it has missed.
 */
export class EventStream {
  readonly #response: ServerResponse
  readonly #regions: readonly string[]
  readonly #telling = new Telling()
  /** Frames that passed it by. */
  skipped = 0

  constructor(response: ServerResponse, region: string | undefined) {
    this.#response = response
    this.#regions = region === undefined ? [] : [region]
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' })
    response.write('retry: 1000\n\n')
  }

  /** Tell of a look. `log` is all that is kept, `logged` how many lines there ever were. */
  send(frame: Frame, log: readonly LogFrame[], logged: number, source: PageSource): void {
    if (this.#response.writableNeedDrain || this.#response.destroyed) {
      this.skipped += 1
      return
    }
    for (const { event, data } of this.#telling.next(frame, log, logged, this.#regions, source))
      this.#response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  /** Bytes that are on their way to it. */
  get pendingBytes(): number {
    return this.#response.writableLength
  }

  end(): void {
    this.#response.end()
  }
}
