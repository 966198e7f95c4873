import { readFileSync } from 'node:fs'
import { AetherError } from 'aether-dsm/internal/native'
import type { Before, RowKind } from './row-kind.ts'

/** What an earlier run wrote with `--json`. */
export class EarlierRun {
  readonly #file: string
  readonly #rows: readonly EarlierRow[]

  private constructor(file: string, rows: readonly EarlierRow[]) {
    this.#file = file
    this.#rows = rows
  }

  /** @throws AetherError where the file cannot be read, or holds something else. */
  static read(file: string): EarlierRun {
    let text: string
    try {
      text = readFileSync(file, 'utf8')
    } catch (cause) {
      throw new AetherError('ERR_AETHER_BENCH', `--compare: ${file} cannot be read: ${whyOf(cause)}`, { cause })
    }
    const rows = parsed(text)
    if (rows === undefined)
      throw new AetherError(
        'ERR_AETHER_BENCH',
        `--compare: ${file} does not hold what 'npx aether-dsm bench … --json' prints (an array of rows, each with its "suite")`,
      )
    return new EarlierRun(file, rows)
  }

  /** @throws AetherError where the run has no rows of any of these suites. */
  expect(suites: readonly string[]): void {
    if (this.#rows.some(({ suite }) => suites.includes(suite))) return
    const found = [...new Set(this.#rows.map(({ suite }) => suite))].join(', ')
    const wanted = suites.length === 1 ? suites[0] : 'all'
    throw new AetherError(
      'ERR_AETHER_BENCH',
      `--compare: ${this.#file} holds rows of ${found}, none of ${suites.join(', ')}: give it what 'npx aether-dsm bench ${wanted} --json' printed`,
    )
  }

  /**
   * Ratios of rows to those of the same suite of this run. @throws AetherError where rows of that name are of another
   * shape.
   */
  before<Row extends object>(suite: string, kind: RowKind<Row>): Before<Row> {
    const costs = new Map<string, number>()
    for (const row of this.#rows) {
      if (row.suite !== suite) continue
      const known = row as unknown as Row
      if (kind.identity.some((name) => known[name] === undefined))
        throw new AetherError(
          'ERR_AETHER_BENCH',
          `--compare: ${this.#file} has rows of ${suite} that this version does not know: measure the earlier run again`,
        )
      costs.set(keyOf(kind, known), kind.cost.of(known))
    }
    return (row) => {
      const cost = costs.get(keyOf(kind, row))
      const ratio = cost === undefined ? Number.NaN : kind.cost.of(row) / cost
      return Number.isFinite(ratio) ? Number(ratio.toPrecision(4)) : null
    }
  }
}

interface EarlierRow {
  readonly suite: string
}

/** A peer of another version is the same. */
function keyOf<Row>({ identity }: RowKind<Row>, row: Row): string {
  return JSON.stringify(identity.map((name) => String(row[name]).replace(/ \d+(\.\d+)+$/, '')))
}

function parsed(text: string): readonly EarlierRow[] | undefined {
  try {
    const rows: unknown = JSON.parse(text)
    return Array.isArray(rows) && rows.length > 0 && rows.every(isRow) ? rows : undefined
  } catch {
    return undefined
  }
}

function isRow(row: unknown): row is EarlierRow {
  return typeof row === 'object' && row !== null && typeof (row as EarlierRow).suite === 'string'
}

function whyOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException
  if (code === 'ENOENT') return 'there is no such file'
  return code === 'EISDIR' ? 'it is a directory' : message
}
