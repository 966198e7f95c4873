import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { splitBlocks } from '../../../tools/demo/block-split.ts'
import type { EdgeSet } from '../../../tools/demo/edge-set.ts'
import { generateKronecker } from '../../../tools/demo/kronecker.ts'
import { clusterHubs } from '../../../tools/demo/vertex-order.ts'
import { compress, edgeSets } from './random-graph.ts'

function namedEdges({ from, to, describe }: EdgeSet): string[] {
  return Array.from(from, (source, edge) => `${describe(source).name} -> ${describe(to[edge]!).name}`)
}

test('it is the same graph under other numbers, edge for edge', () => {
  fc.assert(
    fc.property(edgeSets, (edges) => {
      const clustered = clusterHubs(edges)
      assert.equal(clustered.vertexCount, edges.vertexCount)
      assert.deepEqual(namedEdges(clustered), namedEdges(edges))
      const names = new Set(Array.from({ length: edges.vertexCount }, (_, vertex) => clustered.describe(vertex).name))
      assert.equal(names.size, edges.vertexCount)
    }),
  )
})

test('vertices that no edge leaves come last', () => {
  fc.assert(
    fc.property(edgeSets, (edges) => {
      const { outDegrees } = compress(clusterHubs(edges))
      const firstWithout = outDegrees.indexOf(0)
      if (firstWithout >= 0) assert(outDegrees.subarray(firstWithout).every((degree) => degree === 0))
    }),
  )
})

test('contributions that are read often share cache lines, and every part has its share of them', () => {
  const kronecker = generateKronecker({ scale: 14, seed: 3 })
  const { outDegrees, offsets } = compress(clusterHubs(kronecker))
  // Reads of the most read tenth of the cache lines, of all reads.
  const share = ({ outDegrees }: { outDegrees: Uint32Array }) => {
    const lines = Array.from({ length: outDegrees.length / 8 }, (_, line) =>
      outDegrees.subarray(8 * line, 8 * line + 8).reduce((sum, degree) => sum + degree, 0),
    ).sort((a, b) => b - a)
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
    return sum(lines.slice(0, lines.length / 10)) / sum(lines)
  }
  assert(share({ outDegrees }) > 0.7, `${share({ outDegrees })}`)
  assert(share(compress(kronecker)) < 0.5, `${share(compress(kronecker))}`)
  for (const members of [2, 4]) {
    const bounds = splitBlocks(offsets, members, 4096)
    for (let member = 0; member < members; member += 1) {
      const edges = offsets[Math.min(bounds[member + 1]! * 512, 2 ** 14)]! - offsets[bounds[member]! * 512]!
      assert(edges < (1.3 * offsets[2 ** 14]!) / members, `member ${member} of ${members} has ${edges} edges`)
    }
  }
})
