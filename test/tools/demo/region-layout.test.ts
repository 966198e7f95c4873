import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LayoutInput, planRegion } from '../../../tools/demo/region-layout.ts'

const input: LayoutInput = {
  vertexCount: 5000,
  edgeCount: 12_345,
  bounds: Uint32Array.of(0, 2, 8, 10),
  pageBytes: 8192,
}

test('arrays start on pages, follow one another and end with the region', () => {
  const layout = planRegion(input)
  const starts = [
    layout.graph.offsets,
    layout.graph.sources,
    layout.graph.outDegrees,
    layout.ranks,
    ...layout.contributions,
    ...layout.partials,
  ]
  const lengths = [5001 * 4, 12_345 * 4, 5000 * 4, 40_000, 40_000, 40_000, layout.partialsBytes, layout.partialsBytes]
  for (const [i, start] of starts.entries()) {
    assert.equal(start % input.pageBytes, 0)
    assert(start + lengths[i]! <= (starts[i + 1] ?? layout.lengthBytes))
  }
  assert.equal(layout.lengthBytes % input.pageBytes, 0)
})

test('no two members have partial sums on one page, and no two blocks have the same place', () => {
  const { slots, partialsBytes } = planRegion(input)
  const ownerOfPage = new Map<number, number>()
  for (const [block, slot] of slots.entries()) {
    const owner = input.bounds.findLastIndex((bound) => bound <= block)
    const page = Math.floor((slot * 8) / input.pageBytes)
    assert.equal(ownerOfPage.get(page) ?? owner, owner)
    ownerOfPage.set(page, owner)
    assert((slot + 2) * 8 <= partialsBytes)
  }
  assert.equal(new Set(slots).size, slots.length)
})
