import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { root } from '../../repository/checkout.ts'

/** The rows that a benchmark printed as JSON. Fails if scripts/check-bench.mjs finds a shape that is not promised. */
export function checkedRows<Row>(printed: string): Row[] {
  const directory = mkdtempSync(join(tmpdir(), 'aether-bench-test-'))
  try {
    const file = join(directory, 'rows.json')
    writeFileSync(file, printed)
    const check = spawnSync(process.execPath, [join(root, 'scripts/check-bench.mjs'), file], { encoding: 'utf8' })
    assert.equal(check.status, 0, check.stderr)
  } finally {
    rmSync(directory, { recursive: true })
  }
  return JSON.parse(printed) as Row[]
}
