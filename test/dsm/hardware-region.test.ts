import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { ViewConstructor } from '../../src/dsm/index.ts'
import { open, type Region, type RegionOptions, type Space } from '../../src/public/index.ts'
import { RemoteMember, useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()

/** Two members of one space, each with the same region open. */
async function pair(
  options: RegionOptions,
): Promise<{ readonly a: Region; readonly b: Region; close(): Promise<void> }> {
  const spaces = [await open('pair'), await open('pair')] as const
  const a = await spaces[0].openRegion('r', options)
  const b = await spaces[1].openRegion('r', options)
  return { a, b, close: async () => void (await Promise.all(spaces.map((space: Space) => space.close()))) }
}

test('every kind of typed array shows the same bytes to both members', async () => {
  const { a, b, close } = await pair({ size: 4096 })
  const numbers = [
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float32Array,
    Float64Array,
  ]
  for (const kind of numbers as readonly ViewConstructor<Int32Array>[]) {
    a.view(kind, { byteOffset: 64, length: 4 }).set([1, 2, 3, 4])
    const seen = b.view(kind, { byteOffset: 64, length: 4 })
    assert.ok(seen instanceof kind && seen.buffer instanceof SharedArrayBuffer)
    assert.deepEqual([...seen], [1, 2, 3, 4])
  }
  for (const kind of [BigInt64Array, BigUint64Array] as readonly ViewConstructor<BigInt64Array>[]) {
    a.view(kind, { byteOffset: 64 })[0] = 7n
    assert.equal(b.view(kind, { byteOffset: 64 })[0], 7n)
  }
  await close()
})

test('the sugar gives whole-region views, the same one each time', async () => {
  const { a, b, close } = await pair({ size: 4096 })
  const names = [
    'int8',
    'uint8',
    'uint8Clamped',
    'int16',
    'uint16',
    'int32',
    'uint32',
    'float32',
    'float64',
    'bigInt64',
    'bigUint64',
  ] as const
  for (const name of names) {
    assert.equal(a[name].byteLength, 4096, name)
    assert.equal(a[name], a[name])
  }
  a.float64[511] = Math.PI
  assert.equal(b.float64[511], Math.PI)
  await close()
})

test('a view is where it was asked to be, and by default reaches to the end', async () => {
  const { a, close } = await pair({ size: 100 })
  assert.equal(a.view(Float64Array, { byteOffset: 8 }).length, 11)
  assert.equal(a.view(Float64Array).length, 12)
  assert.equal(a.view(Uint8Array, { byteOffset: 100 }).length, 0)
  assert.equal(a.view(Int32Array, { byteOffset: 96, length: 1 }).byteOffset % 4096, 96)
  await close()
})

test('a view that is misaligned, out of bounds or no typed array is refused', async () => {
  const { a, close } = await pair({ size: 100 })
  assert.throws(() => a.view(Float64Array, { byteOffset: 4 }), {
    code: 'ERR_AETHER_INVALID_ARGUMENT',
    argument: 'options.byteOffset',
  })
  const outside = [
    { byteOffset: 96, length: 2 },
    { byteOffset: 104 },
    { length: 26 },
    { byteOffset: -4 },
    { length: -1 },
    { length: 1.5 },
    { byteOffset: 2 ** 60, length: 1 },
  ]
  for (const options of outside) {
    const view = () => a.view(Int32Array, options)
    assert.throws(
      view,
      (error: NodeJS.ErrnoException) => /OUT_OF_BOUNDS|INVALID_ARGUMENT/.test(error.code ?? ''),
      JSON.stringify(options),
    )
  }
  assert.throws(() => a.view(Int32Array, { byteOffset: 96, length: 2 }), {
    code: 'ERR_AETHER_OUT_OF_BOUNDS',
    offsetBytes: 96,
    lengthBytes: 8,
    sizeBytes: 100,
  })
  for (const kind of [DataView, Array, Buffer, undefined]) {
    assert.throws(() => a.view(kind as unknown as typeof Int8Array), {
      argument: 'kind',
      message: /kind must be a view type, one of Int8Array, /,
    })
  }
  await close()
})

test('read and write copy any range of any kind of memory, both ways of calling', async () => {
  const { a, b, close } = await pair({ size: 10_000 })
  const bytes = Uint8Array.from({ length: 5000 }, (_, index) => index % 251)
  await a.write(4999, bytes)
  assert.deepEqual(await b.read(4999, new Uint8Array(5000)), bytes)
  b.writeSync(1, Float64Array.of(1.5, 2.5))
  assert.deepEqual(a.readSync(1, new Float64Array(2)), Float64Array.of(1.5, 2.5))
  a.writeSync(0, new Uint8Array([9, 8, 7]).buffer)
  assert.deepEqual(new Uint8Array(b.readSync(0, new ArrayBuffer(3))), Uint8Array.of(9, 8, 7))
  const part = new Uint8Array(10)
  b.readSync(0, part.subarray(4, 7))
  assert.deepEqual(part, Uint8Array.of(0, 0, 0, 0, 9, 8, 7, 0, 0, 0))
  a.writeSync(10_000, new Uint8Array(0))
  assert.throws(() => a.writeSync(9999, new Uint8Array(2)), { code: 'ERR_AETHER_OUT_OF_BOUNDS' })
  await assert.rejects(a.read(-1, new Uint8Array(1)), { code: 'ERR_AETHER_OUT_OF_BOUNDS' })
  await assert.rejects(a.read(0, [] as unknown as Uint8Array), {
    code: 'ERR_AETHER_INVALID_ARGUMENT',
    argument: 'target',
  })
  await assert.rejects(a.write(0, new Uint8Array(1), { signal: AbortSignal.abort(new Error('no')) }), /no/)
  await close()
})

test('64-bit atomics wrap modulo 2^64 and give what was there before', async () => {
  const { a, b, close } = await pair({ size: 4096 })
  assert.equal(await a.fetchAdd(8, 5n), 0n)
  assert.equal(b.fetchAddSync(8, -6n), 5n)
  assert.equal(await a.swap(8, 1n), 2n ** 64n - 1n)
  assert.equal(await b.compareSwap(8, 2n, 9n), 1n)
  assert.equal(b.compareSwapSync(8, 1n, -1n), 1n)
  assert.equal(a.compareSwapSync(8, -1n, 3n), 2n ** 64n - 1n)
  assert.equal(b.swapSync(8, 0n), 3n)
  await a.fence()
  a.fenceSync()
  assert.throws(() => a.fetchAddSync(4, 1n), { code: 'ERR_AETHER_INVALID_ARGUMENT', argument: 'offsetBytes' })
  await assert.rejects(a.swap(4096, 1n), { code: 'ERR_AETHER_OUT_OF_BOUNDS' })
  await close()
})

test('a page is described, and one outside is refused', async () => {
  const { a, close } = await pair({ size: 5000 })
  assert.deepEqual([a.page(1).offsetBytes, a.page(1).lengthBytes, a.page(1).state], [4096, 904, 'hardware'])
  for (const index of [2, -1]) assert.throws(() => a.page(index), { code: 'ERR_AETHER_OUT_OF_BOUNDS' })
  assert.throws(() => a.page(0.5), { code: 'ERR_AETHER_INVALID_ARGUMENT', argument: 'index' })
  await a.prefetch(0, 5000)
  await assert.rejects(a.prefetch(0, 5001), { code: 'ERR_AETHER_OUT_OF_BOUNDS' })
  await close()
})

test('a closed region refuses every call; views that were kept are harmless and show nothing of the others', async () => {
  const { a, b, close } = await pair({ size: 4096 })
  const kept = a.int32
  kept[0] = 1
  await Promise.all([a.close(), a.close()])
  kept[0] = 99
  assert.equal(b.int32[0], 1)
  const calls = [
    () => a.int32,
    () => a.view(Int8Array),
    () => a.readSync(0, kept),
    () => a.fetchAddSync(0, 1n),
    () => a.page(0),
    () => a.fenceSync(),
  ]
  for (const call of calls) assert.throws(call, { code: 'ERR_AETHER_CLOSED', message: /region 'r' is closed/ })
  await assert.rejects(a.write(0, kept), { code: 'ERR_AETHER_CLOSED' })
  await assert.rejects(a.delete(), { code: 'ERR_AETHER_CLOSED' })
  await close()
  assert.throws(() => b.int32, { code: 'ERR_AETHER_CLOSED' })
})

test('four processes add a million each, and nothing is lost; nor when one is killed in the middle', async () => {
  await using space = await open('count')
  const region = await space.openRegion('hits', { size: 4096 })
  const remotes = Array.from({ length: 4 }, () => new RemoteMember())
  await Promise.all(remotes.map((remote) => remote.call('open', 'count')))
  await Promise.all(remotes.map((remote) => remote.call('openRegion', 'hits')))
  await Promise.all(remotes.map((remote) => remote.call('add', 'hits', 0, 1_000_000)))
  assert.equal(region.int32[0], 4_000_000)
  const [victim, ...others] = remotes
  const killed = assert.rejects(victim?.call('add', 'hits', 1, 2_000_000_000) ?? Promise.resolve(), /ended/)
  const rest = others.map((remote) => remote.call('add', 'hits', 2, 1_000_000))
  while (Atomics.load(region.int32, 1) === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  await victim?.kill()
  await killed
  await Promise.all(rest)
  assert.equal(region.int32[2], 3_000_000)
  assert.ok(region.int32[1]! > 0)
  await Promise.all(remotes.map((remote) => remote.kill()))
})

test('a Worker that is handed a view shares its memory', async () => {
  const { a, b, close } = await pair({ size: 4096 })
  const worker = new Worker(`require('node:worker_threads').workerData[5] = 77`, { eval: true, workerData: a.int32 })
  await once(worker, 'exit')
  assert.equal(b.int32[5], 77)
  await close()
})

test('a sparse region larger than 4 GiB is seen through windows anywhere in it', async () => {
  await using space = await open('large')
  const size = 10 * 2 ** 30
  const region = await space.openRegion('sparse', { size, reserve: false })
  const other = await (await open('large')).openRegion('sparse')
  const offsets = [0, 2 ** 31 - 8, 2 ** 32 - 8, 2 ** 32, 5 * 2 ** 30 + 8, size - 8]
  for (const [index, byteOffset] of offsets.entries()) {
    region.view(Float64Array, { byteOffset, length: 1 })[0] = index + 1
    assert.equal(other.fetchAddSync(byteOffset, 0n), new BigUint64Array(Float64Array.of(index + 1).buffer)[0])
  }
  // Over the borders of windows: 3 GiB from 3 GiB on, and bytes around 4 GiB and 6 GiB.
  const wide = region.view(Uint8Array, { byteOffset: 3 * 2 ** 30, length: 3 * 2 ** 30 })
  wide[wide.length - 1] = 0xab
  assert.equal(other.readSync(6 * 2 ** 30 - 2, new Uint8Array(4))[1], 0xab)
  region.writeSync(2 ** 32 - 2, Uint8Array.of(1, 2, 3, 4))
  assert.deepEqual(other.readSync(2 ** 32 - 2, new Uint8Array(4)), Uint8Array.of(1, 2, 3, 4))
  assert.throws(() => region.uint8, {
    code: 'ERR_AETHER_INVALID_ARGUMENT',
    argument: 'options.length',
    message: /4 GiB/,
  })
  const resident = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1])
  assert.ok(resident < 1_000_000, `${resident} kB are resident`)
})

test('the library sorts a view while another process writes it, and nobody crashes', async () => {
  await using space = await open('race')
  const region = await space.openRegion('numbers', { size: '1MiB' })
  await using remote = new RemoteMember()
  await remote.call('open', 'race')
  await remote.call('openRegion', 'numbers')
  const writing = remote.call('add', 'numbers', 7, 3_000_000)
  for (let i = 0; i < 20; i += 1) region.float64.subarray(0, 4096).sort()
  await writing
  assert.equal(region.float64.length, 131_072)
})
