/** `aether bench collectives`: its rows and its table; nothing of how fast anything is. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { describe, it } from 'node:test'
import { aether } from '../../cli/command-line.ts'
import { checkedRows } from './checked-rows.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }

interface Row {
  readonly op: string
  readonly algorithm: string
  readonly chosen: string
  readonly bytes: number
  readonly messages: number
  readonly sentBytes: number
}

describe('aether bench collectives', options, () => {
  it('prints the promised rows as JSON and nothing else: every algorithm, counted', () => {
    const cells = ['--processes', '3', '--value-sizes', '2400', '--cell-ms', '1']
    const { status, stdout, stderr } = aether('bench', 'collectives', '--json', ...cells)
    assert.equal(status, 0, stderr)
    const rows = checkedRows<Row>(stdout)
    const sums = rows.filter(({ op }) => op === 'allReduce')
    assert.deepEqual(
      sums.map(({ algorithm, chosen }) => `${algorithm} ${chosen}`.trim()),
      ['recursive-doubling default', 'ring', 'rabenseifner', 'rank-order deterministic', 'rank-order-blocks'],
    )
    // Around a ring of three each part is sent twice, once to be combined and once to be told, by all but one.
    assert.deepEqual([sums[1]?.messages, sums[1]?.sentBytes], [12, 4 * 2400])
    assert.equal(rows.filter(({ op }) => op === 'barrier').length, 1)
    assert.equal(new Set(rows.map(({ op }) => op)).size, 11)
  })

  it('prints a table and how to read it', () => {
    const cells = ['--processes', '2', '--value-sizes', '64', '--cell-ms', '1']
    const { status, stdout, stderr } = aether('bench', 'collectives', '--collectives', 'barrier,scan', ...cells)
    assert.equal(status, 0, stderr)
    assert.match(stdout, /^collectives on \d+ processors, /)
    assert.match(stdout, /barrier +dissemination +both +2 +0 B/)
    assert.match(stdout, /counted in the schedules/)
  })

  it('says what is wrong with an option', () => {
    const { status, stderr } = aether('bench', 'collectives', '--collectives', 'sum')
    assert.equal(status, 2)
    assert.match(stderr, /--collectives/)
  })
})
