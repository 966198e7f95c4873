/** `aether bench dsm`: its times are the machine's, but what each access costs in messages and moved bytes is the protocol's. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { benchDsm } from '../../src/cli/bench/dsm.ts'
import type { DsmRow } from '../../src/cli/bench/dsm-row.ts'
import { whyNoMesi } from '../../src/cli/demo/mesi-support.ts'

const refused = whyNoMesi()

/** Messages and pages of 4 KiB that one access costs, by mesi's table: see src/dsm/coherence/mesi.ts. */
const costs: Readonly<Record<string, readonly [number, number]>> = {
  'load, never touched, home here': [0, 0],
  'load, never touched, home remote': [3, 1],
  'load, written by its home': [3, 1],
  // Request, forward, data, unblock, downgrade; the owner writes the page to the reader and back to the home.
  'load, written by a third rank': [5, 2],
  'store, written by its home': [3, 1],
  'store, written by a third rank': [4, 1],
  'store, here and 1 other sharer': [4, 0],
  'store, here and 2 other sharers': [6, 0],
  'readSync, written by its home': [3, 1],
  'writeSync, written by its home': [3, 1],
}

describe('aether bench dsm', { skip: refused ?? false }, () => {
  it('counts what each access costs', async () => {
    const rows = await benchDsm({ ranks: [3], pageBytes: [4096], iterations: 10 })
    for (const [op, [messages, pages]] of Object.entries(costs)) {
      const row = rows.find((each) => each.op === op)
      assert.deepEqual([op, row?.messages, row?.bytes], [op, messages, 4096 * pages])
    }
    for (const row of rows) assertOrdered(row)
  })
})

function assertOrdered({ op, samples, p50Ns, p99Ns, maxNs }: DsmRow): void {
  assert.ok(samples > 0 && p50Ns > 0 && p50Ns <= p99Ns && p99Ns <= maxNs, op)
}
