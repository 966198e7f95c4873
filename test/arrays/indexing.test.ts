import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blockOver, sizeOf } from '../../src/arrays/blocks/block.ts'
import { type Index, type NdArray, openArrays } from '../../src/arrays/index.ts'
import { float64 } from '../../src/arrays/types/dtype.ts'
import { Draw } from './differential/draw.ts'
import { startNumpy, withoutNumpy } from './support/numpy.ts'

const xp = await openArrays()

interface Drawn {
  readonly items: Exclude<Index, string>
  /** The same index as Python writes it. */
  readonly python: string
}

type Item = readonly [Drawn['items'][number], string]

function slice(draw: Draw, extent: number): Item {
  const bound = (): number | null => draw.pick([null, draw.whole(-extent - 2, extent + 2)])
  const step = draw.pick([null, 1, 2, -1, -2])
  const [start, stop] = [bound(), bound()]
  return [[start, stop, step], `${start ?? ''}:${stop ?? ''}:${step ?? ''}`]
}

function integers(draw: Draw, extent: number, shape: readonly number[]): Item {
  const values = Array.from({ length: sizeOf(shape) }, () => BigInt(draw.whole(-extent, extent - 1)))
  const array = xp.reshape(xp.asarray(values, { dtype: xp.int64 }), shape)
  return [array, `np.array([${values}], dtype=np.int64).reshape(${shape.length === 0 ? '()' : `[${shape}]`})`]
}

function mask(draw: Draw, shape: readonly number[]): Item {
  const values = Array.from({ length: sizeOf(shape) }, () => draw.pick([true, false]))
  const text = values.map((value) => (value ? 'True' : 'False'))
  return [xp.reshape(xp.asarray(values), shape), `np.array([${text}]).reshape([${shape}])`]
}

/** An index of the shape; with arrays in it if `picks`. */
function drawIndex(draw: Draw, shape: readonly number[], picks: boolean): Drawn {
  const items: Item[] = []
  const common = draw.pick([[], [2], [3, 1], [0]])
  let skipsRest = false
  for (let axis = 0; axis < shape.length && !skipsRest; axis += 1) {
    const extent = shape[axis]!
    if (draw.whole(0, 4) === 0) items.push([null, 'None'])
    const kind = draw.whole(0, picks ? 5 : 2)
    if (kind === 0 && extent > 0) {
      const index = draw.whole(-extent, extent - 1)
      items.push([index, String(index)])
    } else if (kind <= 2) items.push(slice(draw, extent))
    else if (kind === 5) items.push(mask(draw, [extent]))
    else items.push(extent > 0 ? integers(draw, extent, draw.pick([common, [1]])) : slice(draw, extent))
    skipsRest = draw.whole(0, 5) === 0
  }
  if (skipsRest && draw.whole(0, 1) === 0) items.push(['...', '...'])
  return { items: items.map(([item]) => item), python: items.map(([, text]) => `${text},`).join(' ') || '...' }
}

const shapes = [[5], [4, 3], [2, 3, 4], [3, 0], [1, 2, 3, 2]]

function filled(shape: readonly number[]): NdArray {
  return xp.reshape(xp.arange(sizeOf(shape)), shape)
}

for (const picks of [false, true]) {
  const what = picks ? 'integers, slices, new axes, arrays of integers and masks' : 'integers, slices and new axes'
  test(`${what} take what NumPy takes, and write where it writes`, { skip: withoutNumpy }, async () => {
    await using numpy = await startNumpy()
    const draw = new Draw(picks ? 2 : 1)
    let compared = 0
    for (let round = 0; round < 400; round += 1) {
      const shape = draw.pick(shapes)
      const { items, python } = drawIndex(draw, shape, picks)
      const block = blockOver(
        Float64Array.from({ length: sizeOf(shape) }, (_, index) => index),
        float64,
        shape,
      )
      const taken = await numpy.call(`a[${python}]`, [block]).catch(() => undefined)
      const at = `shape (${shape}), index ${python}`
      if (taken === undefined) {
        // Masks whose true elements do not fit the other arrays.
        assert.throws(() => filled(shape).at(...items), { name: 'ArrayError' }, at)
        continue
      }
      compared += 1
      const ours = filled(shape).at(...items)
      assert.deepEqual(ours.shape, taken[0]?.shape, at)
      assert.deepEqual(ours.toTypedArray(), taken[0]?.data, at)
      const [written] = await numpy.call(`a[${python}] = -1; a`, [block])
      const target = filled(shape)
      const pending = target.add(0)
      target.setAt(items, -1)
      assert.deepEqual(target.toTypedArray(), written?.data, at)
      assert.deepEqual(pending.toTypedArray(), block.data, at)
    }
    assert.ok(compared > 200, `${compared} were compared`)
  })
}

test('an index as text is that of Python', () => {
  const x = filled([2, 3, 4])
  assert.deepEqual(x.slice('1, ..., ::-2').toArray(), x.at(1, '...', [null, null, -2]).toArray())
  assert.deepEqual(x.slice('newaxis, 0, :2').shape, [1, 2, 4])
  assert.deepEqual(x.at('::2', '1:').shape, [1, 2, 4])
  assert.throws(() => x.slice('1, two'), { code: 'ERR_AETHER_ARRAY_INDEX' })
})

test('what does not fit is refused in the words of NumPy', () => {
  const x = filled([2, 3])
  const says = (call: () => unknown, kind: string, message: string): void =>
    assert.throws(call, { code: `ERR_AETHER_ARRAY_${kind}`, message })
  says(() => x.at(2), 'INDEX', 'index 2 is out of bounds for axis 0 with size 2')
  says(() => x.at(0, xp.asarray([3n])), 'INDEX', 'index 3 is out of bounds for axis 1 with size 3')
  says(() => x.at(0, 0, 0), 'INDEX', 'too many indices for array: array is 2-dimensional, but 3 were indexed')
  says(() => x.at('...', '...'), 'INDEX', "an index can only have a single ellipsis ('...')")
  says(() => x.at([null, null, 0]), 'VALUE', 'slice step cannot be zero')
  says(
    () => x.at(xp.asarray([true, false, true])),
    'INDEX',
    'boolean index did not match indexed array along axis 0; size of axis is 2 but size of corresponding boolean axis is 3',
  )
  says(
    () => x.at(xp.asarray([0n, 1n]), xp.asarray([0n, 1n, 2n])),
    'INDEX',
    'shape mismatch: indexing arrays could not be broadcast together with shapes (2,) (3,)',
  )
  says(() => x.setAt('0', xp.zeros([2])), 'SHAPE', 'could not broadcast input array from shape (2,) into shape (3,)')
  says(
    () => xp.broadcastTo(x, [4, 2, 3]).set([0, 0, 0], 1),
    'READ_ONLY',
    'assignment destination is read-only; write to a copy()',
  )
  assert.throws(() => x.setAt('0', xp.asarray([true])), { code: 'ERR_AETHER_ARRAY_TYPE' })
  assert.throws(() => x.at(xp.asarray([0.5])), { code: 'ERR_AETHER_ARRAY_INDEX' })
  assert.deepEqual(x.toArray(), [
    [0, 1, 2],
    [3, 4, 5],
  ])
})

test('elements are read and written one by one', () => {
  const x = xp.zeros([2, 2], { dtype: xp.complex64 })
  x.set([1, -1], { re: 1, im: -2 })
  assert.deepEqual(x.get([1, 1]), { re: 1, im: -2 })
  const flags = xp.asarray([false, false]).set(1, true)
  assert.deepEqual(flags.get(1), true)
  assert.throws(() => x.get(0), { code: 'ERR_AETHER_ARRAY_INDEX' })
  assert.throws(() => x.item(), { code: 'ERR_AETHER_ARRAY_VALUE' })
})
