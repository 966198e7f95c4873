/** `aether bench index` beside others, and with nodes that are killed; nothing of how fast anything is. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { describe, it } from 'node:test'
import type { IndexRow } from '../../../tools/bench/index-service/index-row.ts'
import { aether } from '../../cli/command-line.ts'
import { checkedRows } from './checked-rows.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }

function rowsOf(...words: string[]): { readonly rows: readonly IndexRow[]; readonly stderr: string } {
  const small = ['--sizes', '8', '--clients', '1', '--time-ms', '5', '--keys', '2000']
  const { status, stdout, stderr } = aether('bench', 'index', '--json', ...small, ...words)
  assert.equal(status, 0, stderr)
  return { rows: checkedRows<IndexRow>(stdout), stderr }
}

describe('aether bench index, all of it', options, () => {
  it('has rows of stores that are installed, and says which are not', () => {
    const { rows, stderr } = rowsOf('--sections', 'single,ycsb,replicated,restart,memory', '--restart-mib', '1')
    const redis = ['get', 'set', 'increment', 'hash get', 'range 100', 'set-1', 'set-64', 'restart-1', 'memory']
    for (const [peer, ops] of [
      ['Redis', [...redis, 'ycsb-a', 'ycsb-e']],
      ['lmdb', ['get', 'set']],
    ] as const) {
      const found = new Set(rows.flatMap(({ op, provider }) => (provider.startsWith(peer) ? [op] : [])))
      if (stderr.includes(`without ${peer}: `)) assert.equal(found.size, 0)
      else for (const op of ops) assert.ok(found.has(op), `${op} of ${peer}`)
    }
    for (const op of ['set-1', 'set-64', 'restart-1', 'restart-3'])
      assert.ok(rows.some((row) => row.op === op && row.provider === 'aether' && row.p50Ns! > 0))
  })

  it('kills leaders, and tells how long each stage took until the next one', () => {
    const { rows } = rowsOf('--sections', 'recovery', '--kills', '2')
    assert.deepEqual(new Set(rows.map(({ op }) => op)), new Set(['recovery-3']))
    const longest = new Map(rows.map(({ provider, maxNs }) => [provider, maxNs!]))
    const stages = ['candidate', 'promised', 'caught up', 'decided'].map((stage) => longest.get(`until ${stage}`)!)
    assert.deepEqual(
      stages,
      stages.toSorted((one, other) => one - other),
    )
    for (const what of ['last answer to first', 'SIGKILL to first answer', 'SIGKILL to its end'])
      assert.ok(longest.get(what)! > 0, what)
  })
})
