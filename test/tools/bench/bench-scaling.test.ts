/**
 * `aether bench scaling`: what misses and barriers cost is counted, so the document's table has to be what is counted
 * now.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { formatCount } from '../../../src/cli/output/units.ts'
import { protocols } from '../../../src/dsm/index.ts'
import { countScaling, type ScalingRow } from '../../../tools/bench/scaling/scaling.ts'
import { scalingLines } from '../../../tools/bench/scaling/scaling-table.ts'
import { defaultScalingRanks } from '../../../tools/commands/bench-scaling.ts'
import { root } from '../../repository/checkout.ts'

const documentPath = join(root, 'docs/scaling.md')
const [begin, end] = ['<!-- table -->\n', '<!-- end of table -->']
const checkedMax = 64
const count = (ranks: readonly number[]): ScalingRow[] =>
  countScaling({ protocols: [...protocols.values()], ranks, pageBytes: 4096 })

function tableOf(ranks: readonly number[]): string[] {
  const lines = scalingLines(count(ranks), ranks).map(({ protocol, miss, cells }) => [protocol, miss, ...cells])
  const titles = ['protocol', 'miss', ...ranks.map((size) => `${formatCount(size)} nodes`)]
  const rule = titles.map((_, index) => (index < 2 ? '---' : '---:'))
  return [titles, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`)
}

function updateDocument(): void {
  const text = readFileSync(documentPath, 'utf8')
  const [before, after] = [text.split(begin)[0]!, text.split(end)[1]!]
  writeFileSync(documentPath, `${before}${begin}${tableOf(defaultScalingRanks).join('\n')}\n${end}${after}`)
}

describe('aether bench scaling', () => {
  it('counts what docs/scaling.md says', () => {
    if (process.env['AETHER_UPDATE_SCALING'] === '1') updateDocument()
    const ranks = defaultScalingRanks.filter((size) => size <= checkedMax)
    const written = readFileSync(documentPath, 'utf8').split(begin)[1]!.split(end)[0]!.trim().split('\n')
    const cells = written.map((line) => line.split('|').slice(0, ranks.length + 3))
    assert.deepEqual(
      cells.map((line) => `${line.join('|')}|`),
      tableOf(ranks),
      'the table is not what is counted now: AETHER_UPDATE_SCALING=1 node scripts/test.mjs cli/bench-scaling, and commit the difference',
    )
  })

  it('finds the same cost per miss in a cluster of any size, for protocols with a directory', () => {
    const rows = count([8, 128]).filter(({ protocol }) => !['token', 'barrier'].includes(protocol))
    const single = rows.filter(({ miss }) => !miss.startsWith('upgrade, every') && !miss.startsWith('mixed'))
    const costs = new Map<string, Set<string>>()
    for (const { protocol, miss, messages, bytes, hops } of single) {
      const known = costs.get(`${protocol}: ${miss}`) ?? new Set()
      costs.set(`${protocol}: ${miss}`, known.add(JSON.stringify([messages, bytes, hops])))
    }
    assert.ok(costs.size >= 5)
    for (const [miss, different] of costs) assert.equal(different.size, 1, `${miss}: ${[...different].join(' ')}`)
  })

  it('finds that an upgrade tells every reader at once', () => {
    for (const protocol of [...protocols.keys()].filter((name) => name !== 'token')) {
      const rows = count([8, 64]).filter((row) => row.protocol === protocol && row.miss === 'upgrade, every rank reads')
      const [small, large] = rows as [ScalingRow, ScalingRow]
      assert.equal(small.hops, large.hops, protocol)
      assert.ok(large.messages > 7 * small.messages, protocol)
    }
  })

  it('finds barriers whose rounds grow with the logarithm of the ranks, and two messages a rank', () => {
    const rows = countScaling({ protocols: [], ranks: [2, 9, 10, 73, 74, 585, 586, 4096], pageBytes: 4096 })
    assert.deepEqual(
      rows.map(({ hops }) => hops),
      [2, 2, 4, 4, 6, 6, 8, 8],
    )
    for (const { ranks, messages } of rows) assert.equal(messages, 2 * (ranks - 1))
  })

  it('counts alike every time', () => {
    assert.deepEqual(count([4]), count([4]))
  })
})
