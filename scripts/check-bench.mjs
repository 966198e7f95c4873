/** Checks that a file holds what `aether bench … --json` promises: `node scripts/check-bench.mjs FILE`. Exits 1 and says what is wrong otherwise. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

const numbers = ['bytes', 'p50Ns', 'p99Ns', 'maxNs', 'opsPerSec', 'gbPerSec', 'cpuNsPerOp']

function checkRow(row, index) {
  const where = `row ${index}: ${JSON.stringify(row)}`
  assert.deepEqual(Object.keys(row).sort(), ['op', 'provider', ...numbers].sort(), where)
  assert.equal(typeof row.op, 'string', where)
  assert.equal(typeof row.provider, 'string', where)
  for (const name of numbers) assert.ok(Number.isFinite(row[name]) && row[name] >= 0, `${name} in ${where}`)
  assert.ok(row.p50Ns <= row.p99Ns && row.p99Ns <= row.maxNs, `p50 <= p99 <= max in ${where}`)
}

const rows = JSON.parse(readFileSync(process.argv[2], 'utf8'))
assert.ok(Array.isArray(rows) && rows.length > 0, 'an array of at least one row')
for (const [index, row] of rows.entries()) checkRow(row, index)
console.log(
  `${rows.length} rows as promised: ${[...new Set(rows.map((row) => `${row.provider} ${row.op}`))].join(', ')}`,
)
