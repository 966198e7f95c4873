/** What a progress line is written to. */
export interface ProgressStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const terminalPauseMs = 80
const filePauseMs = 2000
/** Some pseudo-terminals say that they have no columns at all. */
const widthUnknown = 80
const eraseLine = '\r\u001b[2K'

/**
 * One line that says how far the work is: rewritten in place on a terminal; elsewhere a line of its own now and then,
 * so that a log shows that something goes on without being filled by it.
 */
export class ProgressLine {
  readonly #stream: ProgressStream
  readonly #now: () => number
  #shownMs: number
  #visible = false

  constructor(stream: ProgressStream, now: () => number = () => performance.now()) {
    this.#stream = stream
    this.#now = now
    // The first line in a file comes only after a pause: short work needs none.
    this.#shownMs = stream.isTTY === true ? Number.NEGATIVE_INFINITY : now()
  }

  /** Show `text`, or leave it where the last one was shown only just now. */
  show(text: string): void {
    const now = this.#now()
    if (now - this.#shownMs < (this.#stream.isTTY === true ? terminalPauseMs : filePauseMs)) return
    this.#shownMs = now
    if (this.#stream.isTTY !== true) {
      this.#stream.write(`${text}\n`)
      return
    }
    // A line that wraps could not be erased.
    this.#stream.write(eraseLine + text.slice(0, (this.#stream.columns || widthUnknown) - 1))
    this.#visible = true
  }

  /** Remove it, before anything else is written. */
  clear(): void {
    if (this.#visible) this.#stream.write(eraseLine)
    this.#visible = false
  }
}
