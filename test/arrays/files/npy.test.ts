import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type Block, blockOver } from '../../../src/arrays/blocks/block.ts'
import { ArrayError } from '../../../src/arrays/errors.ts'
import { loadNpy } from '../../../src/arrays/files/loading.ts'
import { decodeNpy, encodeNpy, openNpy } from '../../../src/arrays/files/npy.ts'
import { saveNpy } from '../../../src/arrays/files/saving.ts'
import { openArrays } from '../../../src/arrays/open-arrays.ts'
import { DTYPES, float32, float64, int16 } from '../../../src/arrays/types/dtype.ts'
import { arrayOf, blockOf } from '../support/arrays.ts'
import { assertBlock, block, scattered } from '../support/blocks.ts'
import { startNumpy, withoutNumpy } from '../support/numpy.ts'

const numpy = (withoutNumpy === false ? await startNumpy() : undefined)!
after(() => numpy?.[Symbol.asyncDispose]())

const folder = await mkdtemp(join(tmpdir(), 'aether-npy-'))
after(() => rm(folder, { recursive: true }))
const xp = await openArrays()
const save = (name: string, one: Block): Promise<void> => saveNpy(path(name), arrayOf(one))
const load = async (name: string): Promise<Block> => blockOf(await loadNpy(xp, path(name)))
const path = (name: string): string => join(folder, name)
const text = (name: string): string => JSON.stringify(path(name))

const matrix = block(int16, [
  [1, -2, 3],
  [4, 5, -6],
])
const refused = async (call: () => unknown, code: string, words: RegExp): Promise<void> => {
  await assert.rejects(
    async () => await call(),
    (error) => error instanceof ArrayError && error.code === `ERR_AETHER_ARRAY_${code}` && words.test(error.message),
  )
}

test('what is written is read again: every type, shape and order', async () => {
  for (const dtype of Object.values(DTYPES)) {
    const bytes = crypto.getRandomValues(new Uint8Array(24 * dtype.bytes))
    if (dtype.name === 'bool') for (const [index, byte] of bytes.entries()) bytes[index] = byte & 1
    const data = new dtype.Elements(bytes.buffer)
    for (const shape of [[24], [2, 3, 4], [1, 24, 1], [0, 3]]) {
      const one = blockOver(data, dtype, shape)
      for (const each of [one, scattered(one)]) {
        const again = decodeNpy(encodeNpy(each))
        assertBlock(again, one, {}, `${dtype} of [${shape}]`)
        await save('again.npy', each)
        assertBlock(await load('again.npy'), one, {}, `${dtype} of [${shape}] in a file`)
      }
    }
  }
  await save('scalar.npy', block(float32, 2.5))
  assertBlock(await load('scalar.npy'), block(float32, 2.5))
})

test('NumPy reads what is written, and the other way round', { skip: withoutNumpy }, async () => {
  for (const dtype of Object.values(DTYPES)) {
    const ones = block(dtype, [
      [0, 1, 1],
      [1, 0, 1],
    ])
    await save('ours.npy', ones)
    const [read] = await numpy.call(`np.load(${text('ours.npy')})`)
    assertBlock(read!, ones)
    await numpy.call(`np.save(${text('theirs.npy')}, a)\nnp.int8(0)`, [ones])
    assertBlock(await load('theirs.npy'), ones)
    assert.deepEqual(await readFile(path('ours.npy')), await readFile(path('theirs.npy')), `the bytes of ${dtype}`)
  }
})

test('column-major files, the other order of bytes and later versions are read', { skip: withoutNumpy }, async () => {
  const numpySaves = async (expression: string): Promise<Block> => {
    await numpy.call(`np.save(${text('x.npy')}, ${expression})\nnp.int8(0)`, [matrix])
    return load('x.npy')
  }
  assertBlock(await numpySaves('np.asfortranarray(a)'), matrix)
  assertBlock(await numpySaves("a.astype('>i2')"), matrix)
  assertBlock(
    await numpySaves("np.asfortranarray(a.astype('>c16'))"),
    block(DTYPES.complex128, [
      [1, -2, 3],
      [4, 5, -6],
    ]),
  )
  await numpy.call(`np.lib.format.write_array(open(${text('v2.npy')}, 'wb'), a, version=(2, 0))\nnp.int8(0)`, [matrix])
  assertBlock(await load('v2.npy'), matrix)
})

test('rows of a file are read, with progress', async () => {
  const rows = 3_000_000
  const steps: number[] = []
  const onProgress = (done: number, total: number): void => {
    assert.equal(total, rows * 16)
    steps.push(done)
  }
  const x = xp.reshape(xp.arange(2 * rows, null, 1, { dtype: xp.float64 }), [rows, 2])
  await saveNpy(path('large.npy'), x, { onProgress })
  assert.deepEqual(steps.splice(0), [2 ** 24, 2 ** 25, rows * 16])
  const part = await loadNpy(xp, path('large.npy'), { rows: [rows - 2, rows] })
  assertBlock(
    blockOf(part),
    block(float64, [
      [5_999_996, 5_999_997],
      [5_999_998, 5_999_999],
    ]),
  )
  assert.deepEqual((await loadNpy(xp, path('large.npy'), { rows: [7, 7] })).shape, [0, 2])
  await loadNpy(xp, path('large.npy'), { onProgress })
  assert.deepEqual(steps, [2 ** 24, 2 ** 25, rows * 16])
  await save('large.npy', matrix)
  assertBlock(await load('large.npy'), matrix)
})

test('a file of which any byte was changed, or that ends anywhere, is read or refused', () => {
  const bytes = encodeNpy(matrix)
  const tried = (changed: Uint8Array): void => {
    try {
      decodeNpy(changed)
    } catch (error) {
      assert.ok(error instanceof ArrayError, String(error))
    }
  }
  for (const at of bytes.keys()) {
    tried(bytes.subarray(0, at))
    for (const byte of [0, 0x28, 0x39, 0xff]) tried(bytes.with(at, byte))
  }
})

test('what is no such file, or does not fit, is refused', async () => {
  const bytes = encodeNpy(matrix)
  const header = (words: string): Uint8Array => {
    const changed = Buffer.from(bytes)
    const start = changed.indexOf('{')
    changed.fill(' ', start, 127).write(words, start)
    return changed
  }
  await refused(() => decodeNpy(new Uint8Array(64), 'a.npy'), 'VALUE', /a\.npy is not a \.npy file/)
  await refused(() => decodeNpy(bytes.subarray(0, 50)), 'VALUE', /ends within its header/)
  await refused(
    () => decodeNpy(bytes.subarray(0, -1)),
    'VALUE',
    /11 bytes of elements; shape \(2, 3\) of int16 takes 12/,
  )
  await refused(() => decodeNpy(header("{'descr': '<f2', 'fortran_order': False, 'shape': (2,)}")), 'TYPE', /<f2/)
  await refused(
    () => decodeNpy(header("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2,)}")),
    'TYPE',
    /records/,
  )
  await refused(() => decodeNpy(header('{}')), 'VALUE', /a header that cannot be read/)
  await refused(() => decodeNpy(bytes.with(6, 9)), 'VALUE', /version 9/)
  const shaped = (shape: string): Uint8Array => header(`{'descr': '<f8', 'fortran_order': False, 'shape': (${shape})}`)
  await refused(() => decodeNpy(shaped('2 3,')), 'VALUE', /a header that cannot be read/)
  await refused(() => decodeNpy(shaped('9007199254740993,')), 'SHAPE', /which no array can have/)
  await refused(() => decodeNpy(shaped(`0, ${'9'.repeat(20)}`)), 'SHAPE', /which no array can have/)
  await refused(() => decodeNpy(shaped('4294967296, 4294967296')), 'SHAPE', /which no array can have/)
  await refused(
    () => decodeNpy(header("{'descr': 'constructor', 'fortran_order': False, 'shape': ()}")),
    'TYPE',
    /type con/,
  )

  await writeFile(path('short.npy'), bytes)
  await truncate(path('short.npy'), bytes.length - 1)
  await refused(() => openNpy(path('short.npy')), 'VALUE', /short\.npy has 11 bytes/)
  await assert.rejects(openNpy(path('none.npy')), { code: 'ENOENT' })
  await refused(() => loadNpy(xp, path('none.npy')), 'FILE', /none\.npy cannot be used: ENOENT/)
  await refused(() => saveNpy(folder, arrayOf(matrix)), 'FILE', /EISDIR/)
  await writeFile(path('long.npy'), Buffer.from([...bytes.subarray(0, 6), 2, 0, 0xff, 0xff, 0xff, 0xff]))
  await refused(() => openNpy(path('long.npy')), 'VALUE', /its header has 4294967295 bytes/)
  await save('scalar.npy', block(float32, 2.5))
  await refused(() => loadNpy(xp, path('scalar.npy'), { rows: [0, 1] }), 'SHAPE', /has no rows/)

  await save('small.npy', matrix)
  await refused(
    () => loadNpy(xp, path('small.npy'), { rows: [1, 3] }),
    'INDEX',
    /rows 1 to 3 are out of bounds for shape \(2, 3\)/,
  )
  if (withoutNumpy !== false) return
  await numpy.call(`np.save(${text('f.npy')}, np.asfortranarray(a))\nnp.int8(0)`, [matrix])
  await refused(() => loadNpy(xp, path('f.npy'), { rows: [0, 1] }), 'VALUE', /column-major order/)
})
