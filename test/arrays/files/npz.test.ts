import assert from 'node:assert/strict'
import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { crc32, deflateRawSync } from 'node:zlib'
import { ArrayError } from '../../../src/arrays/errors.ts'
import { loadNpz } from '../../../src/arrays/files/loading.ts'
import { encodeNpy } from '../../../src/arrays/files/npy.ts'
import { saveNpz } from '../../../src/arrays/files/saving.ts'
import {
  centralHeader,
  DEFLATED,
  directoryEnd,
  localHeader,
  STORED,
  type ZipEntry,
} from '../../../src/arrays/files/zip-records.ts'
import { openArrays } from '../../../src/arrays/open-arrays.ts'
import { complex64, float64, int64 } from '../../../src/arrays/types/dtype.ts'
import { arrayOf, blockOf } from '../support/arrays.ts'
import { assertBlock, block } from '../support/blocks.ts'
import { startNumpy, withoutNumpy } from '../support/numpy.ts'

const numpy = (withoutNumpy === false ? await startNumpy() : undefined)!
after(() => numpy?.[Symbol.asyncDispose]())

const folder = await mkdtemp(join(tmpdir(), 'aether-npz-'))
after(() => rm(folder, { recursive: true }))
const path = (name: string): string => join(folder, name)
const text = (name: string): string => JSON.stringify(path(name))

const blocks = {
  weights: block(
    float64,
    Array.from({ length: 1000 }, (_, index) => index % 7),
  ),
  größe: block(int64, [[1, -2]]),
  z: block(complex64, { re: 1, im: 2 }),
}
const arrays = Object.fromEntries(Object.entries(blocks).map(([name, one]) => [name, arrayOf(one)]))
const xp = await openArrays()

test('arrays are found again by their names, stored or compressed', async () => {
  for (const compressed of [false, true]) {
    await saveNpz(path('a.npz'), arrays, { compressed })
    const again = await loadNpz(xp, path('a.npz'))
    assert.deepEqual(Object.keys(again), Object.keys(blocks))
    for (const [name, one] of Object.entries(blocks)) assertBlock(blockOf(again[name]!), one, {}, name)
    assert.equal((await stat(path('a.npz'))).size < 2000, compressed)
  }
  await saveNpz(path('empty.npz'), {})
  assert.deepEqual(Object.keys(await loadNpz(xp, path('empty.npz'))), [])
})

test('NumPy reads what is written, and the other way round', { skip: withoutNumpy }, async () => {
  for (const [compressed, save] of [
    [false, 'savez'],
    [true, 'savez_compressed'],
  ] as const) {
    await saveNpz(path('ours.npz'), arrays, { compressed })
    const read = await numpy.call(`f = np.load(${text('ours.npz')})\n[f[name] for name in ['weights', 'größe', 'z']]`)
    for (const [index, one] of Object.values(blocks).entries()) assertBlock(read[index]!, one)
    await numpy.call(`np.${save}(${text('theirs.npz')}, x=a, y=b)\nnp.int8(0)`, [blocks.weights, blocks.z])
    const { x, y } = await loadNpz(xp, path('theirs.npz'))
    assertBlock(blockOf(x!), blocks.weights)
    assertBlock(blockOf(y!), blocks.z)
    assert.deepEqual(Object.keys(await loadNpz(xp, path('theirs.npz'), { names: ['y'] })), ['y'])
  }
})

test('an archive may go beyond 4 GiB', async () => {
  // A hole stands before the only entry. The first bytes are those by which NumPy knows an archive.
  const bytes = encodeNpy(blocks['größe'])
  const start = 2 ** 32 + 100
  const entry = {
    name: 'far.npy',
    method: STORED,
    checksum: crc32(bytes),
    packedBytes: bytes.length,
    bytes: bytes.length,
    start,
  }
  const central = centralHeader(entry)
  const parts = [localHeader(entry), bytes, central]
  const directoryStart = start + parts[0]!.length + bytes.length
  {
    await using handle = await open(path('far.npz'), 'w')
    const all = Buffer.concat([...parts, directoryEnd(1, central.length, directoryStart)])
    await handle.write('PK\x03\x04', 0)
    await handle.write(all, 0, all.length, start)
  }
  assertBlock(blockOf((await loadNpz(xp, path('far.npz')))['far']!), blocks['größe'])
  if (withoutNumpy !== false) return
  assertBlock((await numpy.call(`np.load(${text('far.npz')})['far']`))[0]!, blocks['größe'])
})

test('a file of which any byte was changed, or that ends anywhere, is read or refused', async () => {
  await saveNpz(path('small.npz'), { z: arrays['z']! }, { compressed: true })
  const bytes = await readFile(path('small.npz'))
  const tried = async (changed: Uint8Array): Promise<void> => {
    await writeFile(path('changed.npz'), changed)
    await loadNpz(xp, path('changed.npz')).catch((error: unknown) =>
      assert.ok(error instanceof ArrayError, String(error)),
    )
  }
  for (const at of bytes.keys()) {
    await tried(bytes.subarray(0, at))
    for (const byte of [0, 0xff]) await tried(Buffer.from(bytes).fill(byte, at, at + 1))
  }
})

test('a small file does not become a large one in memory', async () => {
  const refused = (words: RegExp) => assert.rejects(loadNpz(xp, path('bomb.npz')), { message: words })
  const packed = deflateRawSync(new Uint8Array(2 ** 20))
  const write = async (entries: readonly ZipEntry[], headers: readonly number[]): Promise<void> => {
    const parts = headers.flatMap((entry) => [localHeader(entries[entry]!), packed])
    const central = entries.map(centralHeader)
    const lengths = [parts, central].map((each) => each.reduce((sum, { length }) => sum + length, 0))
    await writeFile(path('bomb.npz'), [...parts, ...central, directoryEnd(entries.length, lengths[1]!, lengths[0]!)])
  }
  const entry = { name: 'a.npy', method: DEFLATED, checksum: 0, packedBytes: packed.length, bytes: 2 ** 20, start: 0 }
  await write([{ ...entry, bytes: 2 ** 40 }], [0])
  await refused(/a\.npy cannot have 1099511627776 bytes/)
  await write([entry, { ...entry, name: 'b.npy' }], [0])
  await refused(/a\.npy reaches into what comes behind it/)
  await write([{ ...entry, bytes: 2 ** 19 }], [0])
  await refused(/a\.npy cannot be decompressed/)
})

test('what is not there, or is damaged, is refused', async () => {
  const refused = (call: Promise<unknown>, words: RegExp) =>
    assert.rejects(
      call,
      (error) => error instanceof ArrayError && error.code === 'ERR_AETHER_ARRAY_VALUE' && words.test(error.message),
    )
  await saveNpz(path('b.npz'), arrays)
  await refused(loadNpz(xp, path('b.npz'), { names: ['x'] }), /has no x\.npy; it has weights\.npy, größe\.npy, z\.npy/)
  const bytes = await readFile(path('b.npz'))
  await writeFile(path('c.npz'), bytes.fill(9, 500, 501))
  await refused(loadNpz(xp, path('c.npz')), /c\.npz is damaged: weights\.npy has another checksum/)
  await writeFile(path('c.npz'), bytes.subarray(0, -30))
  await refused(loadNpz(xp, path('c.npz')), /c\.npz is not a zip archive/)
  await writeFile(path('c.npz'), bytes.subarray(1000))
  await refused(loadNpz(xp, path('c.npz')), /c\.npz is damaged/)
})
