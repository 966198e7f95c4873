import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { blockVertices, countBlocks, splitBlocks } from '../../../tools/demo/block-split.ts'

/** Offsets of a graph in which each vertex has the given number of incoming edges. */
const offsetsOf = (degrees: number[]): Uint32Array => {
  const offsets = new Uint32Array(degrees.length + 1)
  for (const [vertex, degree] of degrees.entries()) offsets[vertex + 1] = offsets[vertex]! + degree
  return offsets
}

test('every block has one owner, whatever the graph, the members and the page size', () => {
  const graphs = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 5000 })
  const pages = fc.constantFrom(4096, 8192, 65_536, 1 << 21)
  fc.assert(
    fc.property(graphs, fc.integer({ min: 1, max: 9 }), pages, (degrees, members, pageBytes) => {
      const bounds = splitBlocks(offsetsOf(degrees), members, pageBytes)
      assert.equal(bounds.length, members + 1)
      assert.equal(bounds[0], 0)
      assert.equal(bounds[members], countBlocks(degrees.length))
      for (let member = 0; member < members; member += 1) assert(bounds[member]! <= bounds[member + 1]!)
      for (const bound of bounds.subarray(0, members)) {
        assert(bound === bounds[members] || (bound * blockVertices * 8) % pageBytes === 0, 'a page with two writers')
      }
    }),
  )
})

test('members get about the same number of edges', () => {
  const degrees = Array.from({ length: 100 * blockVertices }, (_, vertex) => (vertex < 10 * blockVertices ? 90 : 0))
  const offsets = offsetsOf(degrees)
  const bounds = splitBlocks(offsets, 2, 4096)
  // The first tenth of the blocks has all the edges; a split by number of vertices would give them all to one member.
  const edges = offsets[bounds[1]! * blockVertices]!
  assert(Math.abs(edges / offsets.at(-1)! - 0.5) < 0.3, `${bounds}`)
})
