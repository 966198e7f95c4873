import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Division } from '../../../src/arrays/partitions/partition.ts'
import { int16 } from '../../../src/arrays/types/dtype.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Ranks } from '../../support/rank-process.ts'
import { assertBlock, block } from '../support/blocks.ts'
import { startNumpy, withoutNumpy } from '../support/numpy.ts'

const numpy = (withoutNumpy === false ? await startNumpy() : undefined)!
after(() => numpy?.[Symbol.asyncDispose]())

useRuntimeDirectory()
const folder = await mkdtemp(join(tmpdir(), 'aether-files-'))
after(() => rm(folder, { recursive: true }))
const fixture = new URL('../fixtures/file-rank.js', import.meta.url)

const name: string = 'zarrita'
const hasZarr = await import(name).then(
  () => true,
  () => false,
)
const rows = Array.from({ length: 7 }, (_, row) => Array.from({ length: 5 }, (_, column) => 5 * row + column))
const all = rows.flat()
const divisions: readonly Division[] = [
  'block',
  'cyclic',
  ['block', 'cyclic'],
  ['replicated', 'block'],
  ['cyclic', { blockCyclic: 2 }],
  'replicated',
]

const size = 3

test('ranks save and load arrays, each its own part', async (context) => {
  await using ranks = new Ranks(fixture, size)
  await ranks.all('join')
  for (const [turn, from] of divisions.entries()) {
    const to = divisions[(turn + 1) % divisions.length]!
    const path = join(folder, `${size}-${turn}`)
    const said = await ranks.all<{ bytes: number; again: [string, number[]]; rows: [string, number[]] }>(
      'npy',
      `${path}.npy`,
      from,
      to,
    )
    for (const { again, rows: some } of said) {
      assert.deepEqual(again[1], all, `from ${from} to ${to}`)
      assert.deepEqual(some[1], all.slice(10, 25))
    }
    const written = said.reduce((sum, { bytes }) => sum + bytes, 0)
    assert.equal(written, from === 'replicated' ? size * 70 : 70, 'each element is written by the rank that has it')
    if (withoutNumpy === false) {
      assertBlock((await numpy.call(`np.load(${JSON.stringify(`${path}.npy`)})`))[0]!, block(int16, rows))
      await numpy.call(`np.save(${JSON.stringify(`${path}-f.npy`)}, np.asfortranarray(a))\nnp.int8(0)`, [
        block(int16, rows),
      ])
      for (const [, elements] of await ranks.all<[string, number[]]>('load', `${path}-f.npy`, to))
        assert.deepEqual(elements, all)
    }
    for (const [x, y] of await ranks.all<[string, number[]][]>(
      'npz',
      `${path}.npz`,
      Array.isArray(from) ? 'block' : from,
    )) {
      assert.deepEqual(x![1], all)
      assert.deepEqual(y![1], [1, 1])
    }
    if (!hasZarr) continue
    const part = rows.slice(1, 6).flatMap((row) => row.slice(2, 4))
    for (const [again, some] of await ranks.all<[string, number[]][]>('zarr', `${path}.zarr`, from, to)) {
      assert.deepEqual(again![1], all, `Zarr from ${from} to ${to}`)
      assert.deepEqual(some![1], part)
    }
  }
  if (!hasZarr) context.diagnostic('without Zarr, since zarrita is not installed')
  await ranks.all('close')
})
