import { Screen } from './screen.ts'
import type { Column } from './table.ts'

/** A screen that nobody sees: it keeps what was shown, for another form of it. */
export class RecordedScreen extends Screen {
  /** Titles and cells of all tables, which have to be of the same columns. */
  columns: readonly string[] = []
  readonly cells: (readonly string[])[] = []
  readonly lines: string[] = []

  constructor() {
    super(undefined)
  }

  override line(text: string = ''): void {
    if (text.trim() !== '') this.lines.push(text.trim())
  }

  override table(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
    this.columns = columns.map(({ title }) => title)
    this.cells.push(...rows)
  }
}
