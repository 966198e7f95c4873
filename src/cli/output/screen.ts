import { type Paint, paintFor } from './paint.ts'
import { ProgressLine } from './progress-line.ts'
import { type Column, formatTable } from './table.ts'

/** The output of a command: lines, tables, a progress line. */
export class Screen {
  readonly paint: Paint
  readonly #stream: NodeJS.WriteStream | undefined
  readonly #progress: ProgressLine | undefined

  /** Without a stream nothing is shown, for commands that print only JSON at the end. */
  constructor(stream: NodeJS.WriteStream | undefined) {
    this.#stream = stream
    this.paint = paintFor(stream ?? {})
    this.#progress = stream === undefined ? undefined : new ProgressLine(stream)
  }

  line(text: string = ''): void {
    this.#progress?.clear()
    this.#stream?.write(`${text}\n`)
  }

  table(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
    const [titles, ...lines] = formatTable(columns, rows)
    this.line(`  ${this.paint('dim', titles ?? '')}`)
    for (const line of lines) this.line(`  ${line}`)
  }

  /** Show progress. The next line of output replaces it. */
  progress(text: string): void {
    this.#progress?.show(`  ${text}`)
  }
}
