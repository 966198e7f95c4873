import { type Paint, paintFor } from './paint.ts'
import { ProgressLine } from './progress-line.ts'
import { type Column, formatTable } from './table.ts'

/** Where a command shows what it does: lines, tables, a progress line. */
export class Screen {
  readonly paint: Paint
  readonly #stream: NodeJS.WriteStream | undefined
  readonly #progress: ProgressLine | undefined

  /** Without a stream nothing is shown: the command prints something else in the end. */
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

  /** How far the work is. The next line takes its place. */
  progress(text: string): void {
    this.#progress?.show(`  ${text}`)
  }
}
