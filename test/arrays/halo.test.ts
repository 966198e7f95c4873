import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Edge } from '../../src/arrays/distribution/halo.ts'
import { ArrayError } from '../../src/arrays/errors.ts'
import type { Division } from '../../src/arrays/partitions/partition.ts'
import { MeshArrays } from './support/mesh-arrays.ts'

const [height, width] = [9, 11]
const edges: readonly Edge[] = ['wrap', 'nearest', 0, 2.5]
const divisions: readonly Division[] = ['block', ['replicated', 'block'], ['block', 'block'], 'replicated']
const elements = Float64Array.from({ length: height * width }, (_, at) => (at * 37) % 101)

/** An element of the plane, or what stands beyond its ends. */
function elementAt(row: number, column: number, edge: Edge): number {
  const placeOf = (index: number, extent: number): number | undefined => {
    if (index >= 0 && index < extent) return index
    if (edge === 'wrap') return ((index % extent) + extent) % extent
    return edge === 'nearest' ? Math.min(extent - 1, Math.max(0, index)) : undefined
  }
  const [y, x] = [placeOf(row, height), placeOf(column, width)]
  return y === undefined || x === undefined ? (edge as number) : elements[y * width + x]!
}

for (const size of [1, 2, 3, 4, 7])
  test(`on ${size} ranks a stencil reads neighbours, and only the halo moves`, async () => {
    for (const isMapped of [true, false]) {
      await using mesh = await MeshArrays.open(size, isMapped)
      for (const partition of divisions)
        for (const edge of edges) {
          const text = `${JSON.stringify(partition)}, ${edge}`
          const wanted = Array.from(elements, (_, at) => {
            const [row, column] = [Math.floor(at / width), at % width]
            return (
              elementAt(row - 1, column, edge) +
              elementAt(row + 1, column - 2, edge) * 3 -
              elementAt(row, column + 2, edge)
            )
          })
          await mesh.all(async (xp, rank) => {
            const x = await xp
              .asarray(xp.reshape(xp.asarray(elements), [height, width]), { copy: true, partition })
              .compute()
            const before = xp.moved.bytes
            const halo = await xp.exchangeHalo(x, [1, 2], { edge }).compute()
            const moved = xp.moved.bytes - before
            const { shape } = x.localParts()[0]!
            const [with_] = halo.localParts()
            const isEmpty = shape.includes(0)
            if (!isEmpty) assert.deepEqual(with_!.shape, [shape[0]! + 2, shape[1]! + 4], text)
            const own = shape[0]! * shape[1]!
            assert.ok(
              moved <= 8 * (isEmpty ? 0 : (shape[0]! + 2) * (shape[1]! + 4) - own),
              `${moved} at ${rank}: ${text}`,
            )
            const y = xp.stencil(
              x,
              [1, 2],
              (part) => part.slice(':-2, 2:-2').add(part.slice('2:, :-4').multiply(3)).subtract(part.slice('1:-1, 4:')),
              { edge },
            )
            const all = await xp.redistribute(y, 'replicated').compute()
            assert.deepEqual([...all.toTypedArray()], wanted, text)
          })
        }
    }
  })

test('a halo that cannot be, and a stencil that makes another shape, are refused', async () => {
  await using mesh = await MeshArrays.open(2, true)
  await mesh.all(async (xp) => {
    const code = (kind: string) => (error: unknown) =>
      error instanceof ArrayError && error.code === `ERR_AETHER_ARRAY_${kind}`
    const x = await xp.zeros([6], { partition: 'block' }).compute()
    assert.throws(() => xp.exchangeHalo(xp.zeros([6], { partition: 'cyclic' }), 1), code('PARTITION'))
    assert.throws(() => xp.exchangeHalo(x, -1), code('VALUE'))
    assert.throws(() => xp.exchangeHalo(x, [1, 1]), code('VALUE'))
    for (const width of [7, 2 ** 31, 2 ** 53]) assert.throws(() => xp.exchangeHalo(x, width), code('VALUE'))
    // Two parts of 3 elements, each with 6 on both sides.
    assert.deepEqual((await xp.exchangeHalo(x, 6).compute()).shape, [2 * (3 + 12)])
    await assert.rejects(xp.stencil(x, 1, (part) => part).compute(), code('SHAPE'))
    await assert.rejects(xp.stencil(x, 0, (part) => part.greater(0)).compute(), code('TYPE'))
    const mask = await xp.stencil(x, 0, (part) => part.greater(0), { dtype: xp.bool }).compute()
    assert.equal(mask.dtype, xp.bool)
  })
})
