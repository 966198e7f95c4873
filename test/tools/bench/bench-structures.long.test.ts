/** `aether bench structures`: its rows and its table; nothing of how fast anything is. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { describe, it } from 'node:test'
import { aether } from '../../cli/command-line.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }
const small = ['--value-sizes', '4096', '--writes', '50', '--cell-ms', '1']

describe('aether bench structures beside every store', options, () => {
  it('prints a table of each store that is here, and what to read out of it', () => {
    const { status, stdout, stderr } = aether('bench', 'structures', '--processes', '1', ...small, '--writes', '0')
    assert.equal(status, 0, stderr)
    assert.match(stdout, /^structures on \d+ processors, /)
    assert.match(stdout, /\n {2}get +uniform +4.00 KiB +1 +aether +[\d.]+ (ns|µs)/)
    assert.match(stdout, /\n {2}a get of 4.00 KiB \(uniform\) takes .*; for comparison: Map [\d.]+x/)
    assert.match(stdout, /\n {2}a counter's add takes [\d.]+x what Atomics.add takes/)
    for (const store of ['Redis', 'lmdb']) {
      const isHere = new RegExp(`\\n {2}get +uniform +4.00 KiB +1 +${store} `).test(stdout)
      assert.ok(isHere || stderr.includes(`without ${store}: `), `${store} is there, or why it is not`)
    }
  })
})
