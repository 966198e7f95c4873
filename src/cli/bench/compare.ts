import { readFileSync } from 'node:fs'
import { AetherError } from '../../native/index.ts'
import { type BenchRow, timeOf } from './row.ts'

/** What an earlier run wrote with `--json`. @throws AetherError where it cannot be read, or is of something else. */
export function readRun(file: string): readonly BenchRow[] {
  try {
    const rows: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (Array.isArray(rows) && rows.every((row) => typeof row?.op === 'string' && typeof row?.provider === 'string'))
      return rows as BenchRow[]
  } catch (cause) {
    throw new AetherError('ERR_AETHER_BENCH', `${file} cannot be read: ${(cause as Error).message}`, { cause })
  }
  throw new AetherError('ERR_AETHER_BENCH', `${file} holds no rows of 'aether bench latency … --json'`)
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
