import { readFileSync } from 'node:fs'
import { AetherError } from '../../native/index.ts'
import { type BenchRow, timeOf } from './row.ts'

/**
 * What an earlier run wrote with `--json`: `aether bench SUITE`, or `aether bench all`, of which only the rows of this suite are given.
 * @throws AetherError where it cannot be read, or holds something else.
 */
export function readRun(file: string, suite: string): readonly BenchRow[] {
  const own = readRows(file).filter((row) => row.suite === undefined || row.suite === suite)
  if (own.every(({ op, provider }) => typeof op === 'string' && typeof provider === 'string')) return own as BenchRow[]
  throw notRows(file)
}

type AnyRow = Partial<BenchRow> & { readonly suite?: unknown }

function readRows(file: string): readonly AnyRow[] {
  let rows: unknown
  try {
    rows = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new AetherError('ERR_AETHER_BENCH', `${file} cannot be read: ${(cause as Error).message}`, { cause })
  }
  if (Array.isArray(rows) && rows.every((row) => typeof row === 'object' && row !== null)) return rows as AnyRow[]
  throw notRows(file)
}

function notRows(file: string): AetherError {
  return new AetherError('ERR_AETHER_BENCH', `${file} holds no rows of 'aether bench latency … --json'`)
}

/** How many times as long as in the earlier run; null where that has no such row. A peer of another version is the same. */
export function beforeRatio(row: BenchRow, before: readonly BenchRow[]): number | null {
  const same = before.find(
    ({ op, provider, bytes }) =>
      op === row.op && bytes === row.bytes && withoutVersion(provider) === withoutVersion(row.provider),
  )
  return same === undefined ? null : Number((timeOf(row) / timeOf(same)).toPrecision(4))
}

function withoutVersion(provider: string): string {
  return provider.replace(/ [\d.]+$/, '')
}
