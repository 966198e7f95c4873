/**
 * scripts/compare-perftest.mjs understands perftest's programs: what docs/benchmarks.md compares is taken from what
 * they print.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import process from 'node:process'
import test from 'node:test'
import { promisify } from 'node:util'

interface Pair {
  readonly tool: string
  readonly bytes: number
  readonly unit: string
  readonly perftest: readonly (number | null)[]
  readonly aether: readonly number[]
}

test("perftest's programs and the benchmark give figures for the same operations", async () => {
  const words = ['scripts/compare-perftest.mjs', '--quick', '--rounds', '1', '--time-ms', '20', '--json']
  const { stdout } = await promisify(execFile)(process.execPath, words)
  const pairs = JSON.parse(stdout) as Pair[]
  assert.deepEqual(
    pairs.map(({ tool, bytes, unit }) => [tool, bytes, unit]),
    [
      ['ib_write_lat', 8, 'µs'],
      ['ib_write_bw', 4096, 'MiB/s'],
    ],
  )
  for (const { perftest, aether } of pairs) {
    // Perftest has none where it cannot tell the frequency of its clock; it says so itself.
    for (const figure of perftest) assert.ok(figure === null || figure > 0, stdout)
    for (const figure of aether) assert.ok(figure > 0, stdout)
  }
  assert.ok(
    pairs.some(({ perftest }) => perftest.some((figure) => figure !== null)),
    stdout,
  )
})
