import type { ServerResponse } from 'node:http'
import { type PageSource, Telling } from '../telling.ts'
import type { Frame, LogFrame } from '../wire.ts'

/**
 * One connected page (Server-Sent Events). A page that is slow to read skips frames: only the message that is being
 * sent is queued for it. Afterwards it gets the current state and the lines of the log that it has missed.
 */
export class EventStream {
  readonly #response: ServerResponse
  readonly #regions: readonly string[]
  readonly #telling = new Telling()
  /** How many frames it has skipped. */
  skipped = 0

  constructor(response: ServerResponse, region: string | undefined) {
    this.#response = response
    this.#regions = region === undefined ? [] : [region]
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' })
    response.write('retry: 1000\n\n')
  }

  /** Send a look. `log` has the lines that are kept, `logged` is the number of lines ever logged. */
  send(frame: Frame, log: readonly LogFrame[], logged: number, source: PageSource): void {
    if (this.#response.writableNeedDrain || this.#response.destroyed) {
      this.skipped += 1
      return
    }
    for (const { event, data } of this.#telling.next(frame, log, logged, this.#regions, source))
      this.#response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  /** Bytes that wait to be sent to it. */
  get pendingBytes(): number {
    return this.#response.writableLength
  }

  end(): void {
    this.#response.end()
  }
}
