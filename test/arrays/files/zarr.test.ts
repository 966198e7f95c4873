import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ArrayError } from '../../../src/arrays/errors.ts'
import { loadZarr } from '../../../src/arrays/files/loading.ts'
import { saveZarr } from '../../../src/arrays/files/saving.ts'
import { createZarr, openZarr, type ZarrStore } from '../../../src/arrays/files/zarr.ts'
import { openArrays } from '../../../src/arrays/open-arrays.ts'
import { complex64, DTYPES, float64, int16, int32, isComplex } from '../../../src/arrays/types/dtype.ts'
import { arrayOf, blockOf } from '../support/arrays.ts'
import { assertBlock, block, scattered, values } from '../support/blocks.ts'

const folder = await mkdtemp(join(tmpdir(), 'aether-zarr-'))
after(() => rm(folder, { recursive: true }))
const xp = await openArrays()
const path = (name: string): string => join(folder, name)

const name: string = 'zarrita'
const skip = await import(name).then(
  () => false,
  () => 'zarrita is not installed',
)
const refused = (call: Promise<unknown>, code: string, words: RegExp) =>
  assert.rejects(
    call,
    (error) => error instanceof ArrayError && error.code === `ERR_AETHER_ARRAY_${code}` && words.test(error.message),
  )

test('several that write the same elements at a time leave them as they are', { skip }, async () => {
  const rows = Array.from({ length: 7 }, (_, row) => Array.from({ length: 5 }, (_, column) => 5 * row + column))
  const one = block(int16, rows)
  for (let turn = 0; turn < 30; turn += 1) {
    const shared = path('shared')
    // The last chunk of each row and column is covered in part: it is read before it is written.
    await Promise.all(Array.from({ length: 6 }, () => saveZarr(shared, arrayOf(one), { chunks: [2, 3] })))
    assertBlock(blockOf(await loadZarr(xp, shared)), one, {}, `turn ${turn}`)
    await rm(shared, { recursive: true })
  }
})

test('a block is read again: every type that Zarr has, in chunks that do not fit its shape', { skip }, async () => {
  for (const dtype of Object.values(DTYPES).filter((one) => !isComplex(one))) {
    const one = block(dtype, [
      [1, 0, 1, 1],
      [0, 1, 0, 1],
      [1, 1, 1, 0],
    ])
    await saveZarr(path(dtype.name), arrayOf(scattered(one)), { chunks: [2, 3] })
    assertBlock(blockOf(await loadZarr(xp, path(dtype.name))), one, {}, `${dtype}`)
    const region = await loadZarr(xp, path(dtype.name), {
      region: [
        [1, 3],
        [2, 4],
      ],
    })
    assertBlock(
      blockOf(region),
      block(dtype, [
        [0, 1],
        [1, 0],
      ]),
      {},
      `a region of ${dtype}`,
    )
    const unwritten = await createZarr(path(`${dtype}-zeros`), dtype, [2])
    assertBlock(await unwritten.read(), block(dtype, [0, 0]), {}, `zeros of ${dtype}`)
  }
  await saveZarr(path('scalar'), arrayOf(block(float64, 2.5)))
  assertBlock(blockOf(await loadZarr(xp, path('scalar'))), block(float64, 2.5))
})

test('parts are written by those who have them, and what nobody wrote is 0', { skip }, async () => {
  const first = await createZarr(path('parts'), int32, [6, 2], { chunks: [2, 2], dimensionNames: ['row', 'column'] })
  const second = await openZarr(path('parts'))
  assert.deepEqual([second.dtype, second.shape, second.chunks], [int32, [6, 2], [2, 2]])
  await Promise.all([
    first.write(
      [0, 0],
      block(int32, [
        [1, 2],
        [3, 4],
      ]),
    ),
    second.write(
      [4, 0],
      block(int32, [
        [5, 6],
        [7, 8],
      ]),
    ),
  ])
  assertBlock(
    await first.read(),
    block(int32, [
      [1, 2],
      [3, 4],
      [0, 0],
      [0, 0],
      [5, 6],
      [7, 8],
    ]),
  )
  assert.deepEqual((await first.read([[2, 2]])).shape, [0, 2])
  const metadata = JSON.parse(await readFile(join(path('parts'), 'zarr.json'), 'utf8'))
  assert.deepEqual([metadata.zarr_format, metadata.shape, metadata.dimension_names], [3, [6, 2], ['row', 'column']])
})

test('any store of bytes by keys will do', { skip }, async () => {
  const bytes = new Map<string, Uint8Array>()
  const store: ZarrStore = {
    get: async (key) => bytes.get(key),
    set: async (key, value) => void bytes.set(key, value),
  }
  await saveZarr(store, arrayOf(block(int16, [1, 2, 3])), { chunks: [2] })
  assert.deepEqual([...bytes.keys()].sort(), ['/c/0', '/c/1', '/zarr.json'])
  assert.deepEqual(values(blockOf(await loadZarr(xp, store))), [1, 2, 3])
})

test('what does not fit is refused', { skip }, async () => {
  await refused(saveZarr(path('x'), arrayOf(block(complex64, [1]))), 'TYPE', /zarrita has no complex64/)
  await refused(
    saveZarr(path('x'), arrayOf(block(int16, [1])), { chunks: [1, 1] }),
    'SHAPE',
    /\(1, 1\) do not fit shape \(1,\)/,
  )
  await refused(saveZarr(path('x'), arrayOf(block(int16, [1])), { chunks: [0] }), 'SHAPE', /\(0,\)/)
  const array = await createZarr(path('y'), int16, [3])
  await refused(array.write([0], block(int32, [1])), 'TYPE', /int32 into .* holds int16/)
  await refused(array.write([2], block(int16, [1, 2])), 'INDEX', /2 to 4 is out of bounds for axis 0 with size 3/)
  await refused(array.write([0, 0], block(int16, [1])), 'SHAPE', /\(1,\) at \(0, 0\) into shape \(3,\)/)
  await refused(array.read([[2, 1]]), 'INDEX', /2 to 1/)
  const text = await readFile(join(path('y'), 'zarr.json'), 'utf8')
  await writeFile(join(path('y'), 'zarr.json'), text.replace('"int16"', '"float16"'))
  await assert.rejects(openZarr(path('y')), /float16/) // zarrita refuses it where JavaScript has no such numbers
  await writeFile(join(path('y'), 'zarr.json'), text.replace(/"shape":\s*\[\s*3\s*\]/, '"shape": [-3]'))
  await refused(openZarr(path('y')), 'SHAPE', /its shape is \(-3,\)/)
  await writeFile(join(path('y'), 'zarr.json'), text.replace(/"separator":\s*"\/"/, '"separator": "/..%2F..%2F"'))
  await refused(loadZarr(xp, path('y')), 'VALUE', /chunk \/c\/\.\.\/\.\.\/0, which would lie outside/)
  await writeFile(join(path('y'), 'zarr.json'), '{')
  await refused(openZarr(path('y')), 'VALUE', /y cannot be used as a Zarr array/)
  await refused(openZarr(path('none')), 'VALUE', /none cannot be used as a Zarr array: .*not found/i)
})
