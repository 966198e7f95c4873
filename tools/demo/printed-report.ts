import { createHash } from 'node:crypto'
import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { type MemberReport, ReportPage, reportBytes } from './report-page.ts'

/** What a line begins with that is for the demo and not for people. */
const MARK = 'aether-demo '
/** More often would be no use to a reader. */
const PROGRESS_PAUSE_MS = 200

/** What a rank that shares no memory with the demo tells the demo, as a line of its output. */
export type RankLine =
  | { readonly type: 'progress'; readonly iteration: number; readonly change: number }
  | { readonly type: 'report'; readonly rank: number; readonly report: MemberReport; readonly digest: string }
  | {
      readonly type: 'bodies'
      readonly rank: number
      readonly totalMs: number
      readonly pagesIn: number
      /** Of rank 0 only. */
      readonly digest: string
    }

/** A report of a rank that shares no memory with the demo: its progress is printed. */
export class PrintedReport extends ReportPage {
  readonly #isPrinted: boolean
  #printedAtMs = 0

  constructor(isPrinted: boolean) {
    super(new Float64Array(reportBytes / Float64Array.BYTES_PER_ELEMENT))
    this.#isPrinted = isPrinted
  }

  override showProgress(iteration: number, change: number): void {
    super.showProgress(iteration, change)
    if (!this.#isPrinted || performance.now() - this.#printedAtMs < PROGRESS_PAUSE_MS) return
    this.#printedAtMs = performance.now()
    printLine({ type: 'progress', iteration, change })
  }
}

export function printLine(line: RankLine): void {
  process.stdout.write(`${MARK}${JSON.stringify(line)}\n`)
}

/** The line of a rank's output, without its prefix; undefined where it is for people. */
function parseLine(text: string): RankLine | undefined {
  const at = text.indexOf(MARK)
  return at < 0 ? undefined : (JSON.parse(text.slice(at + MARK.length)) as RankLine)
}

/** Of the bits, not of the numbers: to these 0 and -0 are equal and NaN is not itself. */
export function digestOf(ranks: Float64Array): string {
  return createHash('sha256')
    .update(new Uint8Array(ranks.buffer, ranks.byteOffset, ranks.byteLength))
    .digest('hex')
}

/** Takes the ranks' lines: what is for the demo goes to it, the rest to people. */
export class RankLines extends Writable {
  readonly #take: (line: RankLine) => void
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''

  constructor(take: (line: RankLine) => void) {
    super()
    this.#take = take
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    const lines = `${this.#rest}${this.#decoder.write(chunk)}`.split('\n')
    this.#rest = lines.pop() ?? ''
    for (const text of lines) {
      const line = parseLine(text)
      if (line === undefined) process.stderr.write(`${text}\n`)
      else this.#take(line)
    }
    done()
  }
}
