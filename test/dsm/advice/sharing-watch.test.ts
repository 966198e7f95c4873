import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { BOUNCES_MIN, BounceCounts, WINDOW_NS } from '../../../src/dsm/advice/bounce-counts.ts'
import { RECORDS_MAX, SharingWatch } from '../../../src/dsm/advice/sharing-watch.ts'

const PAGE = 4096

class Memory {
  nowNs = 0
  copies = 0
  readonly bytes: Uint8Array = new Uint8Array(PAGE)
  readonly watch: SharingWatch = new SharingWatch({
    region: 'r',
    pageBytes: PAGE,
    now: () => this.nowNs,
    bytesOf: () => {
      this.copies += 1
      return this.bytes
    },
  })

  /** A rank gets the page, writes a byte of it and loses it to another. */
  tenure(page: number, byte: number, by: 'writer' | 'reader' | 'nobody' = 'writer'): void {
    this.watch.writable(page)
    this.bytes[byte]! += 1
    this.watch.writeEnded(page, by)
    this.nowNs += 1000
  }
}

describe('the watch of a region', () => {
  test('looks at no byte of a page that does not bounce', () => {
    const memory = new Memory()
    for (let page = 0; page < 10_000; page += 1) memory.tenure(page, 1)
    for (let time = 1; time < BOUNCES_MIN; time += 1) memory.tenure(20_000, 1)
    for (let time = 0; time < 100; time += 1) memory.tenure(20_001, 1, 'nobody')
    // Often, but slowly.
    for (let time = 0; time < 100; time += 1) {
      memory.tenure(20_002, 1)
      memory.nowNs += WINDOW_NS / 4
    }
    assert.deepEqual([memory.copies, memory.watch.records], [0, []])
  })

  test('sees what is written in one that does, and compares less of it with time', () => {
    const memory = new Memory()
    for (let time = 0; time < BOUNCES_MIN + 16; time += 1) memory.tenure(7, 100 + (time % 4))
    const [record] = memory.watch.records
    assert.deepEqual(record?.written.ranges(), [{ begin: 100, end: 104 }])
    assert.deepEqual([record?.samples, record?.changed], [16, 16])
    for (let time = 0; time < 800; time += 1) memory.tenure(7, 100)
    assert.equal(memory.watch.records[0]?.samples, 16 + 100)
  })

  test('a tenure that ends by itself is compared, and is no bounce', () => {
    const memory = new Memory()
    for (let time = 0; time < BOUNCES_MIN; time += 1) memory.tenure(7, 1)
    const before = memory.watch.records[0]?.writesLost
    memory.tenure(7, 9, 'nobody')
    assert.deepEqual(memory.watch.records[0]?.written.ranges(), [{ begin: 9, end: 10 }])
    assert.equal(memory.watch.records[0]?.writesLost, before)
  })

  test('keeps so many records and no more, until pages have long been quiet', () => {
    const memory = new Memory()
    for (let page = 0; page < 3000; page += 1)
      for (let time = 0; time < 2 * BOUNCES_MIN; time += 1) memory.tenure(page, 1)
    assert.deepEqual([memory.watch.records.length, memory.watch.isFull], [RECORDS_MAX, true])
    memory.nowNs += 20e9
    for (let time = 0; time < 2 * BOUNCES_MIN; time += 1) memory.tenure(50_000, 1)
    assert.equal(memory.watch.records.length, RECORDS_MAX)
    assert.ok(memory.watch.records.some(({ page }) => page === 50_000))
  })

  test('makes room for others where pages went quiet while they were here to be written', () => {
    const memory = new Memory()
    for (let page = 0; page < RECORDS_MAX; page += 1) {
      for (let time = 0; time < BOUNCES_MIN; time += 1) memory.tenure(page, 1)
      memory.watch.writable(page)
    }
    memory.nowNs += 20e9
    for (let page = 1000; page < 1010; page += 1)
      for (let time = 0; time < 2 * BOUNCES_MIN; time += 1) memory.tenure(page, 1)
    const found = memory.watch.records.filter(({ page }) => page >= 1000)
    assert.deepEqual([memory.watch.records.length, found.length], [RECORDS_MAX, 10])
    assert.ok(found.every(({ changed }) => changed > 0))
  })

  test('takes a copy from a page that went quiet where there is memory for no more', () => {
    const pageBytes = 4 * 2 ** 20
    const bytes = new Uint8Array(pageBytes)
    let nowNs = 0
    const watch = new SharingWatch({ region: 'r', pageBytes, now: () => nowNs, bytesOf: () => bytes })
    const tenure = (page: number): void => {
      watch.writable(page)
      bytes[5 * page * 4096]! += 1
      watch.writeEnded(page, 'writer')
    }
    for (const page of [0, 1, 2]) for (let time = 0; time < BOUNCES_MIN; time += 1) tenure(page)
    watch.writable(0)
    watch.writable(1)
    tenure(2)
    assert.equal(watch.records[2]?.samples, 0)
    nowNs += 20e9
    tenure(2)
    tenure(2)
    assert.deepEqual([watch.records[2]?.samples, watch.records[2]?.changed], [2, 2])
    // What was given back is not compared: it tells nothing of that page any more.
    watch.writeEnded(0, 'writer')
    watch.writeEnded(1, 'writer')
    assert.deepEqual([0, 1].map((page) => watch.records[page]?.samples).sort(), [0, 1])
    watch.close()
  })

  test('readers and those who write for readers are counted apart', () => {
    const memory = new Memory()
    for (let time = 0; time < 2 * BOUNCES_MIN; time += 1) memory.watch.readEnded(3, 'writer')
    for (let time = 0; time < 2 * BOUNCES_MIN; time += 1) memory.tenure(4, 1, 'reader')
    const [reads, writes] = memory.watch.records
    assert.deepEqual([reads?.page, reads?.readsLost, reads?.writesStopped], [3, BOUNCES_MIN + 1, 0])
    assert.deepEqual([writes?.page, writes?.readsLost, writes?.writesStopped], [4, 0, BOUNCES_MIN + 1])
  })
})

describe('the watch of a region whose writes are fenced', () => {
  /** Until the page is known to bounce; then every tenure is copied at first. */
  function bouncing(): Memory {
    const memory = new Memory()
    for (let time = 0; time < BOUNCES_MIN; time += 1) memory.tenure(7, 1)
    memory.bytes.fill(0)
    return memory
  }

  test('a page that goes after a fence, with the right to read it only, is compared, and was lost by a writer', () => {
    const memory = bouncing()
    for (let time = 0; time < 4; time += 1) {
      memory.watch.writable(7)
      memory.bytes[9]! += 1
      // The fence took the right to write, of which the watch is not told: the tenure goes on.
      memory.watch.readEnded(7, 'writer')
      // Another rank has it meanwhile.
      memory.bytes[2000]! += 1
    }
    const [record] = memory.watch.records
    assert.deepEqual(record?.written.ranges(), [{ begin: 9, end: 10 }])
    assert.deepEqual([record?.writesLost, record?.readsLost, record?.changed], [5, 0, 4])
  })

  test("a tenure of which no copy was made is a writer's all the same", () => {
    const memory = bouncing()
    for (let time = 0; time < 100; time += 1) {
      memory.watch.writable(7)
      memory.watch.readEnded(7, 'writer')
    }
    memory.watch.readEnded(7, 'writer')
    const [record] = memory.watch.records
    assert.deepEqual([record?.writesLost, record?.readsLost], [101, 1])
    assert.ok((record?.samples ?? 0) < 100)
  })

  test('one that is given up after a fence is compared, and is no bounce', () => {
    const memory = bouncing()
    memory.watch.writable(7)
    memory.bytes[9]! += 1
    memory.watch.readEnded(7, 'nobody')
    memory.bytes[2000]! += 1
    memory.tenure(7, 10)
    const [record] = memory.watch.records
    assert.deepEqual(record?.written.ranges(), [{ begin: 9, end: 11 }])
    assert.deepEqual([record?.writesLost, record?.readsLost], [2, 0])
  })
})

describe('counts of losses', () => {
  test('of more pages than are counted, those that come most are found, and no other', () => {
    const counts = new BounceCounts()
    const found = new Set<number>()
    for (let time = 0; time < 30_000; time += 1)
      for (const page of [5, 5 + 4096, 100_000 + time]) if (counts.lost(page, time)) found.add(page)
    assert.deepEqual(found, new Set([5, 5 + 4096]))
  })

  test('a few pages that are lost equally often are all found, wherever they are', () => {
    const findsAll = (pages: readonly number[]): void => {
      const counts = new BounceCounts()
      for (let time = 1; time <= BOUNCES_MIN; time += 1)
        for (const page of pages) assert.equal(counts.lost(page, time), time === BOUNCES_MIN, `page ${page}`)
    }
    findsAll([5, 5 + 4096])
    fc.assert(fc.property(fc.uniqueArray(fc.nat(2 ** 24), { minLength: 1, maxLength: 4 }), findsAll))
  })

  test('the same place of three long arrays bounces throughout, and most of its pages are found', () => {
    const counts = new BounceCounts()
    const pages = Array.from({ length: 3 * 256 }, (_, index) => (index % 256) + 4096 * Math.floor(index / 256))
    const found = new Set<number>()
    for (let time = 0; time < 100; time += 1) for (const page of pages) if (counts.lost(page, time)) found.add(page)
    assert.ok(found.size > 0.95 * pages.length, `${found.size} of ${pages.length}`)
  })
})
