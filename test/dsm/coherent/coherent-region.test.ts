import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { probeUserfault } from '../../../src/dsm/mmu/probe.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)
const probe = probeUserfault()
const noViews = 'refused' in probe ? probe.refused.message : false

/** Memory is given back soon after a region was closed; a busy machine may take its time. */
const GIVING_BACK_MS = 60_000

const MESI = { coherence: 'mesi' } as const
const kinds = ['int8', 'uint8', 'uint8Clamped', 'int16', 'uint16', 'int32', 'uint32', 'float32', 'float64'] as const

describe('a mesi region of four ranks', () => {
  let ranks: Ranks
  let last = 0
  /** A region that every rank has open. */
  async function region(options: object): Promise<string> {
    const name = `region-${++last}`
    await ranks.all('open', name, { ...MESI, ...options })
    return name
  }

  before(async () => {
    ranks = new Ranks(fixture, 4)
    await ranks.all('join')
  })
  after(() => ranks[Symbol.asyncDispose]())

  test('views of every kind show what other ranks wrote', { skip: noViews }, async () => {
    const name = await region({ size: '64KiB' })
    for (const [index, kind] of kinds.entries()) {
      const writer = index % 4
      await ranks.on(writer, 'setElement', name, kind, 1000 + index, index + 1)
      assert.deepEqual(
        await ranks.all('getElement', name, kind, 1000 + index),
        [1, 1, 1, 1].map(() => index + 1),
        kind,
      )
    }
    for (const [index, kind] of (['bigInt64', 'bigUint64'] as const).entries()) {
      await ranks.on(index, 'setElement', name, kind, 3000 + index, 7n)
      assert.deepEqual(await ranks.all('getElement', name, kind, 3000 + index), [7n, 7n, 7n, 7n], kind)
    }
  })

  test('what each rank writes is seen by all, by every pair of ways', async () => {
    const name = await region({ size: '64KiB' })
    const ways = noViews ? ['async', 'sync'] : ['async', 'sync', 'view']
    let value = 0
    for (const writing of ways)
      for (const reading of ways) {
        value += 1
        await ranks.on(value % 4, 'writeBytes', name, 4090, new Uint8Array(12).fill(value), writing)
        for (const seen of await ranks.all<Uint8Array>('readBytes', name, 4090, 12, reading))
          assert.deepEqual([...seen], new Array(12).fill(value), `${writing}, ${reading}`)
      }
  })

  test('four million atomic additions through views of one page are exact', { skip: noViews }, async () => {
    const name = await region({ size: 4096 })
    await ranks.all('addByView', name, 5, 1_000_000)
    assert.deepEqual(await ranks.all('load', name, 5), [4e6, 4e6, 4e6, 4e6])
  })

  test('fetchAdd, fetchAddSync and views add exactly to the same word', async () => {
    const name = await region({ size: 8192 })
    await ranks.all('addMixed', name, 4096, 1000, noViews ? ['async', 'sync'] : ['async', 'sync', 'view'])
    assert.equal(await ranks.on(2, 'fetchAdd', name, 4096, 0n), 4000n)
  })

  test('compareSwap and swap give what was there before', async () => {
    const name = await region({ size: 4096 })
    for (const sync of ['', 'Sync']) {
      assert.equal(await ranks.on(0, `swap${sync}`, name, 64, 5n), 0n)
      assert.equal(await ranks.on(1, `compareSwap${sync}`, name, 64, 4n, 9n), 5n)
      assert.equal(await ranks.on(2, `compareSwap${sync}`, name, 64, 5n, -1n), 5n)
      assert.equal(await ranks.on(3, `swap${sync}`, name, 64, 0n), 2n ** 64n - 1n)
    }
  })

  test('reads and writes across pages, unaligned and whole', async () => {
    const name = await region({ size: '1MiB' })
    for (const kind of ['async', 'sync']) {
      const bytes = Uint8Array.from({ length: 2 ** 20 }, (_, index) => (index * 31 + kind.length) & 255)
      await ranks.on(1, 'writeBytes', name, 0, bytes, kind)
      assert.ok(
        (await ranks.all<Uint8Array>('readBytes', name, 0, 2 ** 20, kind)).every(
          (seen) => Buffer.compare(seen, bytes) === 0,
        ),
      )
      const part = Uint8Array.from({ length: 12_345 }, (_, index) => index & 255)
      await ranks.on(3, 'writeBytes', name, 4095, part, kind)
      for (const seen of await ranks.all<Uint8Array>('readBytes', name, 4095, 12_345, kind))
        assert.equal(Buffer.compare(seen, part), 0)
    }
    assert.deepEqual(await ranks.on(0, 'readBytes', name, 2 ** 20, 0), new Uint8Array(0))
  })

  test('a region can be copied from and into its own views', { skip: noViews }, async () => {
    const name = await region({ size: '64KiB' })
    for (const kind of ['async', 'sync']) {
      const bytes = Uint8Array.from({ length: 10_000 }, (_, index) => (index + kind.length) & 255)
      await ranks.on(0, 'writeBytes', name, 100, bytes)
      await ranks.all('moveWithin', name, 100, 40_000, 10_000, kind)
      for (const seen of await ranks.all<Uint8Array>('readBytes', name, 40_000, 10_000))
        assert.equal(Buffer.compare(seen, bytes), 0)
    }
  })

  for (const pageSize of ['4KiB', '64KiB', '1MiB']) {
    const MODEL_BYTES = pageSize === '1MiB' ? 4 * 2 ** 20 : 2 ** 18
    for (const placement of ['block', 'cyclic']) {
      test(`random calls agree with a model: pages of ${pageSize}, placement ${placement}`, async () => {
        const name = await region({ size: MODEL_BYTES, pageSize, placement })
        const ways = noViews ? ['async', 'sync'] : ['async', 'sync', 'view']
        const rounds = 40
        // Ranges of one rank only, first apart from each other by pages, then side by side on every page.
        for (const grain of [MODEL_BYTES / 4, 1000]) {
          const models = await ranks.all<Uint8Array>('compareWithModel', name, 17 + grain, rounds, grain, ways)
          const seen = await ranks.on<Uint8Array>(last % 4, 'readBytes', name, 0, MODEL_BYTES)
          for (const [rank, model] of models.entries())
            for (let unit = 0; unit * grain < model.length; unit += 1) {
              const ours = seen.subarray((unit * 4 + rank) * grain, (unit * 4 + rank + 1) * grain)
              assert.equal(
                Buffer.compare(ours, model.subarray(unit * grain, (unit + 1) * grain)),
                0,
                `rank ${rank} unit ${unit}`,
              )
            }
          await ranks.on(0, 'writeBytes', name, 0, new Uint8Array(MODEL_BYTES))
        }
      })
    }
  }

  test('overlapping writes within a page are never torn for explicit calls', async () => {
    const name = await region({ size: '16KiB' })
    await ranks.all('wholeUnits', name, 5, 300, ['async', 'sync'])
  })

  test('prefetch brings pages; page() tells state, owner and sharers as the home knows them', async () => {
    const name = await region({ size: '64KiB', placement: 'cyclic' })
    await ranks.on(1, 'fetchAdd', name, 2 * 4096, 1n)
    // Who asked has its page before the home has heard so.
    const atRest = async (rank: number, state: string): Promise<Record<string, unknown>> => {
      for (;;) {
        const seen = await ranks.on<Record<string, unknown>>(rank, 'page', name, 2)
        if (seen['state'] === state) return seen
      }
    }
    const written = await atRest(3, 'X')
    assert.deepEqual([written['owner'], written['sharers'], written['lengthBytes']], [1, [], 4096])
    await ranks.on(0, 'prefetch', name, 2 * 4096, 8192)
    const shared = await atRest(2, 'S')
    assert.deepEqual([shared['owner'], shared['sharers']], [null, [0, 1]])
  })

  test('prefetch for writing makes its rank the owner, and nobody loses what was written', async () => {
    const name = await region({ size: '64KiB', placement: 'cyclic' })
    await ranks.on(1, 'fetchAdd', name, 2 * 4096, 7n)
    await ranks.on(3, 'prefetch', name, 0, 65536, { access: 'write' })
    const page = (): Promise<Record<string, unknown>> => ranks.on(2, 'page', name, 2)
    let owned = await page()
    while (owned['state'] !== 'X') owned = await page()
    assert.deepEqual([owned['owner'], owned['sharers']], [3, []])
    assert.equal(await ranks.on(0, 'fetchAdd', name, 2 * 4096, 0n), 7n)
  })

  test('a size that is no multiple of the page ends where it was said', async () => {
    const name = await region({ size: 5000 })
    await ranks.on(1, 'writeBytes', name, 4990, new Uint8Array(10).fill(3))
    assert.deepEqual([...(await ranks.on<Uint8Array>(2, 'readBytes', name, 4990, 10))], new Array(10).fill(3))
    await assert.rejects(ranks.on(0, 'readBytes', name, 4990, 11), { code: 'ERR_AETHER_OUT_OF_BOUNDS' })
    assert.equal((await ranks.on<Record<string, unknown>>(0, 'page', name, 1))['lengthBytes'], 904)
  })

  test('wrong calls are typed errors and change nothing', async () => {
    const name = await region({ size: 8192 })
    const [bounds, argument] = ['ERR_AETHER_OUT_OF_BOUNDS', 'ERR_AETHER_INVALID_ARGUMENT'] as const
    const calls = [
      [['fetchAdd', 8192, 1n], bounds],
      [['fetchAdd', 4, 1n], argument],
      [['fetchAddSync', -8, 1n], bounds],
      [['swapSync', 8190, 1n], argument],
      [['compareSwap', Number.NaN, 0n, 1n], argument],
      [['read', 8000, new Uint8Array(193)], bounds],
      [['write', -1, new Uint8Array(1)], bounds],
      [['writeSync', 0.5, new Uint8Array(1)], bounds],
      [['read', 0, 'no memory'], argument],
      [['page', 2], bounds],
      [['page', -1], bounds],
      [['page', 0.5], argument],
      [['prefetch', 0, 8193], bounds],
      [['prefetch', 0, 8192, { access: 'neither' }], argument],
      [['view', 'Int32Array', { byteOffset: 2 }], argument],
      [['view', 'Int32Array', { length: 2049 }], bounds],
      [['view', 'nothing'], argument],
    ] as const
    const said = await ranks.on<string[]>(
      1,
      'errorsOf',
      name,
      calls.map(([call]) => call),
    )
    assert.deepEqual(
      said,
      calls.map(([, code]) => code),
    )
    assert.ok((await ranks.on<Uint8Array>(0, 'readBytes', name, 0, 8192)).every((byte) => byte === 0))
  })

  test('a region is opened late by its home: who needs its pages waits', async () => {
    const open = { ...MESI, size: '32KiB' }
    await ranks.on(1, 'open', 'late', open)
    // Page 0 is at rank 0, which has not opened it.
    const waiting = ranks.on<bigint>(1, 'fetchAdd', 'late', 0, 4n)
    assert.equal(await ranks.on(1, 'fetchAdd', 'late', 2 * 4096, 1n), 0n)
    await ranks.on(0, 'open', 'late', open)
    assert.equal(await waiting, 0n)
    assert.equal(await ranks.on(0, 'fetchAdd', 'late', 0, 0n), 4n)
  })

  test('without a size a region must be there; other parameters are refused with both', async () => {
    await assert.rejects(ranks.on(2, 'open', 'nowhere', MESI), { code: 'ERR_AETHER_REGION_NOT_FOUND' })
    await ranks.on(0, 'open', 'fixed', { ...MESI, size: '1MiB', pageSize: '64KiB', placement: 'cyclic' })
    assert.deepEqual(await ranks.on(3, 'open', 'fixed', MESI), { size: 2 ** 20, coherence: 'mesi', pageSize: 65536 })
    await assert.rejects(ranks.on(2, 'open', 'fixed', { ...MESI, size: '2MiB' }), {
      code: 'ERR_AETHER_REGION_MISMATCH',
      message: /1 MiB.*64 KiB.*cyclic.*2 MiB.*4 KiB.*block/s,
    })
    await assert.rejects(ranks.on(0, 'open', 'fixed', { ...MESI, size: '2MiB' }), {
      code: 'ERR_AETHER_REGION_MISMATCH',
    })
  })

  test('a region that one rank closed serves the others, and is opened again as it is', async () => {
    const name = await region({ size: '32KiB' })
    await ranks.on(1, 'fillPages', name, 0, 8, 9)
    await ranks.on(1, 'close', name)
    await ranks.on(1, 'close', name)
    await assert.rejects(ranks.on(1, 'fetchAdd', name, 0, 1n), { code: 'ERR_AETHER_CLOSED' })
    await assert.rejects(ranks.on(1, 'page', name, 0), { code: 'ERR_AETHER_CLOSED' })
    assert.equal((await ranks.on<Uint8Array>(2, 'readBytes', name, 0, 1))[0], 9)
    await ranks.on(3, 'writeBytes', name, 0, Uint8Array.of(10))
    await ranks.on(1, 'open', name, { ...MESI, size: '32KiB' })
    assert.equal((await ranks.on<Uint8Array>(1, 'readBytes', name, 0, 1, noViews ? 'sync' : 'view'))[0], 10)
    assert.equal((await ranks.on<Uint8Array>(1, 'readBytes', name, 4096, 1, noViews ? 'sync' : 'view'))[0], 9)
  })

  test('a region that every rank closed is a new one when it is opened again', async () => {
    const name = await region({ size: '32KiB' })
    await ranks.on(1, 'fillPages', name, 0, 8, 9)
    await ranks.all('close', name)
    await ranks.all('open', name, { ...MESI, size: '16KiB', placement: 'cyclic' })
    assert.deepEqual([...(await ranks.on<Uint8Array>(1, 'readBytes', name, 0, 4))], [0, 0, 0, 0])
    await ranks.on(2, 'writeBytes', name, 0, Uint8Array.of(4))
    for (const seen of await ranks.all<Uint8Array>('readBytes', name, 0, 1)) assert.equal(seen[0], 4)
  })

  test('closing while pages are on their way harms nobody, and all memory is given back', {
    timeout: GIVING_BACK_MS,
  }, async () => {
    const before = await ranks.all<number>('framesObjects')
    for (let round = 0; round < 10; round += 1) {
      const name = await region({ size: '1MiB' })
      void ranks.all('prefetch', name, 0, 2 ** 20).catch(() => {})
      await ranks.all('close', name)
    }
    await ranks.all('barrier')
    while (String(await ranks.all<number>('framesObjects')) !== String(before)) await sleep(1)
  })

  test('a page of a rank that never opened its region: the memory of those that did is given back, too', {
    timeout: GIVING_BACK_MS,
  }, async () => {
    const before = await ranks.all<number>('framesObjects')
    for (const placement of ['block', 'first-touch']) {
      const name = `half-open ${placement}`
      for (const rank of [1, 2]) await ranks.on(rank, 'open', name, { ...MESI, size: '32KiB', placement })
      void Promise.all([1, 2].map((rank) => ranks.on(rank, 'prefetch', name, 0, 32768))).catch(() => {})
      for (const rank of [1, 2]) await ranks.on(rank, 'close', name)
    }
    while (String(await ranks.all<number>('framesObjects')) !== String(before)) await sleep(1)
  })

  test('every rank has memory of its own, and bytes move', async () => {
    const name = await region({ size: '64KiB' })
    await ranks.on(0, 'fillPages', name, 0, 16, 1)
    await ranks.all('readBytes', name, 0, 65536)
    assert.equal(new Set(await ranks.all('framesInode', name)).size, 4)
    for (const rank of [1, 2, 3]) {
      const counted = await ranks.on<Record<string, number>>(0, 'profile', rank)
      assert.ok((counted['bytesReceived'] ?? 0) >= 12 * 4096, JSON.stringify(counted))
    }
  })

  test('hardware and auto regions are one memory for all ranks', async () => {
    for (const coherence of ['hardware', 'auto']) {
      const opened = await ranks.all<{ coherence: string }>('open', coherence, { coherence, size: '64KiB' })
      assert.ok(opened.every((one) => one.coherence === 'hardware'))
      await ranks.all('addByView', coherence, 3, 10_000)
      assert.deepEqual(await ranks.all('load', coherence, 3), [4e4, 4e4, 4e4, 4e4])
    }
    await assert.rejects(ranks.on(0, 'open', 'nonsense', { coherence: 'nonsense', size: 4096 }), {
      code: 'ERR_AETHER_INVALID_ARGUMENT',
    })
  })

  test("a program's own Worker shares the view by postMessage", { skip: noViews }, async () => {
    const name = await region({ size: '8KiB' })
    await ranks.all('workerAdds', name, 1030, 20_000)
    assert.equal(await ranks.on(0, 'load', name, 1030), 8 * 20_000)
  })

  test('sort() on a view survives another rank that writes', { skip: noViews }, async () => {
    const name = await region({ size: '64KiB', pageSize: '64KiB' })
    await Promise.all([
      ranks.on(0, 'sortView', name, 20),
      ranks.on(1, 'scramble', name, 200),
      ranks.on(2, 'sortView', name, 20),
    ])
    await ranks.all('barrier')
  })

  test('a system call into a view works, or says EFAULT where faults of the kernel are not allowed', {
    skip: noViews,
  }, async () => {
    const name = await region({ size: '64KiB' })
    const read = await ranks.on(2, 'readFileInto', name, 4000, 10_000).catch((error: { code?: string }) => error.code)
    if (read === 'EFAULT') return
    assert.equal(read, 10_000)
    assert.ok((await ranks.on<Uint8Array>(0, 'readBytes', name, 4000, 10_000)).every((byte) => byte === 7))
  })

  test('a view of a closed region shows memory of nobody, and a Worker that uses it harms nothing', {
    skip: noViews,
  }, async () => {
    const name = await region({ size: '64KiB' })
    await ranks.all('workerTouches', name, 7)
    await ranks.all('close', name)
    await ranks.all('barrier')
  })

  test('the group is left by all, with regions open', async () => {
    await ranks.all('closeGroup')
    await ranks.all('closeGroup')
    await assert.rejects(ranks.on(0, 'open', 'region-1', MESI), { code: 'ERR_AETHER_CLOSED' })
    await assert.rejects(ranks.on(0, 'barrier'), { code: 'ERR_AETHER_CLOSED' })
    await assert.rejects(ranks.on(1, 'readBytes', 'region-1', 0, 8), { code: 'ERR_AETHER_CLOSED' })
  })
})
