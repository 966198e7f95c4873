import { accessSync, constants, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, release } from 'node:os'
import { dirname, resolve } from 'node:path'
import process from 'node:process'
import { ExitCode, type Interruption, interruptible, Screen } from 'aether-dsm/internal/cli'
import { AetherError } from 'aether-dsm/internal/native'
import { reportPage } from '../bench/report/report-page.ts'
import { type BenchResult, benchResult } from '../bench/results/bench-result.ts'
import { EarlierRun } from '../bench/results/earlier-run.ts'
import type { RowKind } from '../bench/results/row-kind.ts'

/** What a benchmark reports while it measures. */
interface Telling {
  /** Its progress. */
  progress(text: string): void
  /** Software that is missing, and why. */
  missing(what: string, why: string): void
}

/** A benchmark with its options: what it measures, and the kind of its rows. */
export interface BenchSuite<Row extends object> {
  readonly name: string
  readonly kind: RowKind<Row>
  /** Printed before it starts. */
  readonly about?: string
  /** Default `exit`. */
  readonly interruption?: Interruption
  readonly measure: (telling: Telling) => readonly Row[] | Promise<readonly Row[]>
}

/** A benchmark with rows of any kind. */
export interface PreparedBench {
  readonly name: string
  readonly about: string | undefined
  readonly interruption: Interruption
  /**
   * Returns the function that measures it, and compares it with an earlier run if there is one.
   * @throws AetherError if the earlier run has rows of it that this version does not know.
   */
  beside(earlier: EarlierRun | undefined): (telling: Telling) => Promise<BenchResult>
}

export function prepareBench<Row extends object>(suite: BenchSuite<Row>): PreparedBench {
  const { name, kind, about, interruption = 'exit', measure } = suite
  return {
    name,
    about,
    interruption,
    beside(earlier) {
      const before = earlier?.before(name, kind)
      return async (telling) => benchResult(name, kind, await measure(telling), before)
    },
  }
}

/** What to do with the results. */
export interface BenchOutput {
  readonly json: boolean
  /** Files, if requested. */
  readonly compare?: string | undefined
  readonly html?: string | undefined
  /** The command line, for the page. */
  readonly args: readonly string[]
}

/**
 * Runs benchmarks one after another and shows their results. In an overview each has a title. If one fails, the others
 * still run; the error is printed on standard error, and the status is 1.
 * @throws AetherError if a file cannot be read or written, before anything is measured.
 */
export async function runBench(
  title: string,
  suites: readonly PreparedBench[],
  { json, compare, html, args }: BenchOutput,
  isOverview = false,
): Promise<number> {
  if (html !== undefined) checkWritable(html)
  const earlier = compare === undefined ? undefined : EarlierRun.read(compare)
  earlier?.expect(suites.map(({ name }) => name))
  const runs = suites.map((suite) => ({ ...suite, run: suite.beside(earlier) }))
  const screen = new Screen(json ? undefined : process.stdout)
  screen.line(`${title} on ${availableParallelism()} processors, ${processor()}, Linux ${release()}`)
  const missing: string[] = []
  const complain = (line: string): void => {
    missing.push(line)
    // Standard output has only the rows.
    process.stderr.write(`${line}\n`)
  }
  const results: BenchResult[] = []
  for (const [index, suite] of runs.entries()) {
    const [head, where] = isOverview
      ? [`${index + 1} of ${suites.length}, ${suite.name}: `, ` in ${suite.name}`]
      : ['', '']
    if (suite.about !== undefined && !isOverview) screen.line(suite.about)
    const telling: Telling = {
      progress: (text) => screen.progress(`${head}${text}, done …`),
      missing: (what, why) => complain(`without ${what}${where}: ${why}`),
    }
    screen.progress(`${head}starting …`)
    const result = await interruptible(suite.interruption, () => suite.run(telling)).catch((error: unknown) => {
      if (!isOverview || !(error instanceof AetherError)) throw error
      complain(`without ${suite.name}: ${error.message}`)
      return undefined
    })
    if (result === undefined) continue
    results.push(result)
    screen.line()
    if (isOverview) screen.line(screen.paint('bold', suite.name))
    show(screen, result)
  }
  if (html !== undefined)
    writeFileSync(html, reportPage({ title: `aether bench ${title}`, facts: facts(args), missing, results }))
  if (json) process.stdout.write(asJson(results.flatMap(({ rows }) => rows)))
  return results.length === suites.length ? ExitCode.Done : ExitCode.Failed
}

function show(screen: Screen, { table, lines }: BenchResult): void {
  screen.table(table.columns, table.cells)
  screen.line()
  for (const line of lines) screen.line(`  ${line}`.trimEnd())
}

/** One array, a line for each row. */
function asJson(rows: readonly object[]): string {
  return rows.length === 0 ? '[]\n' : `[\n${rows.map((row) => `  ${JSON.stringify(row)}`).join(',\n')}\n]\n`
}

/** The head of a page: the machine and versions, then the command and the date. */
function facts(args: readonly string[]): string[] {
  return [
    `${availableParallelism()} processors, ${processor()}; Linux ${release()}, Node.js ${process.versions.node}`,
    `aether bench ${args.join(' ')}`,
    new Date().toISOString(),
  ]
}

function processor(): string {
  return cpus()[0]?.model ?? 'of unknown kind'
}

/** So that an error shows now and not after minutes. */
function checkWritable(file: string): void {
  const directory = dirname(resolve(file))
  const refused = (why: string, cause?: unknown): AetherError =>
    new AetherError('ERR_AETHER_BENCH', `--html: ${file} cannot be written: ${why}`, { cause })
  const found = statSync(directory, { throwIfNoEntry: false })
  if (found === undefined) throw refused(`there is no directory ${directory}; mkdir -p makes it`)
  if (!found.isDirectory()) throw refused(`${directory} is not a directory`)
  const own = statSync(file, { throwIfNoEntry: false })
  if (own?.isDirectory() === true) throw refused('it is a directory: name a file in it')
  try {
    accessSync(own === undefined ? directory : file, constants.W_OK)
  } catch (cause) {
    throw refused('permission is denied', cause)
  }
}
