/** What a progress line is written to. */
export interface ProgressStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const terminalPauseMs = 80
const filePauseMs = 2000
/** Used if a pseudo-terminal reports 0 columns. */
const widthUnknown = 80
const eraseLine = '\r\u001b[2K'

/**
 * One line that shows progress. On a terminal it is rewritten in place. Elsewhere a line is printed now and then, so
 * that a log shows progress without being flooded.
 */
export class ProgressLine {
  readonly #stream: ProgressStream
  readonly #now: () => number
  #shownMs: number
  #visible = false

  constructor(stream: ProgressStream, now: () => number = () => performance.now()) {
    this.#stream = stream
    this.#now = now
    // In a file the first line comes only after a pause, so short work prints none.
    this.#shownMs = stream.isTTY === true ? Number.NEGATIVE_INFINITY : now()
  }

  /** Show `text`, unless the last one was shown only just now. */
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

  /** Remove the line before anything else is written. */
  clear(): void {
    if (this.#visible) this.#stream.write(eraseLine)
    this.#visible = false
  }
}
