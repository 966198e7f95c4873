import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { PageAdvice } from '../../../src/dsm/advice/advice.ts'
import { adviceText } from '../../../src/dsm/advice/advice-text.ts'
import { adviseOn } from '../../../src/dsm/advice/advise.ts'
import { ByteMap, markChanges } from '../../../src/dsm/advice/byte-map.ts'
import { decodeRecord, encodeRecord, type PageRecord } from '../../../src/dsm/advice/page-record.ts'

const PAGE = 4096
const region = { name: 'r', size: 1000 * PAGE - 100, pageSize: PAGE }

const bytes = fc.uniqueArray(fc.nat(PAGE - 1), { minLength: 1, maxLength: 80 })

function mapOf(pageBytes: number, written: readonly number[]): ByteMap {
  const map = new ByteMap(pageBytes)
  for (const byte of written) map.mark(byte)
  return map
}

function wrote(written: readonly number[], changes: Partial<PageRecord> = {}): PageRecord {
  const figures = { page: 812, writesLost: 100, writesStopped: 0, readsLost: 0, samples: 20, changed: 20 }
  return { ...figures, written: mapOf(PAGE, written), ...changes }
}

const read = (): PageRecord => wrote([], { writesLost: 0, readsLost: 50, samples: 0, changed: 0 })

function run(begin: number, end: number): number[] {
  return Array.from({ length: end - begin }, (_, index) => begin + index)
}

function judged(...records: readonly PageRecord[]): PageAdvice {
  const [advice] = adviseOn(region, new Map(records.map((record, rank) => [rank, [record]])))
  assert.ok(advice !== undefined)
  return advice
}

describe('advice', () => {
  test('is false sharing exactly where no byte is written by two', () => {
    fc.assert(
      fc.property(fc.array(bytes, { minLength: 2, maxLength: 6 }), (written) => {
        const { kind, overlaps, writers } = judged(...written.map((of) => wrote(of)))
        const twice = new Set(written.flat().filter((byte) => written.filter((of) => of.includes(byte)).length > 1))
        assert.equal(kind, twice.size === 0 ? 'false-sharing' : 'true-sharing')
        assert.deepEqual(
          overlaps.flatMap(({ begin, end }) => run(begin, end)),
          [...twice].sort((a, b) => a - b),
        )
        assert.deepEqual(
          writers.map(({ rank }) => rank),
          written.map((_, rank) => rank),
        )
      }),
    )
  })

  test('ranges hold what a rank wrote, and nothing that another wrote instead', () => {
    fc.assert(
      fc.property(bytes, bytes, (one, other) => {
        const { writers } = judged(wrote(one), wrote(other))
        for (const [rank, [own, foreign]] of [
          [one, other],
          [other, one],
        ].entries()) {
          const told = new Set(writers[rank]?.ranges.flatMap(({ begin, end }) => run(begin, end)))
          assert.ok(own?.every((byte) => told.has(byte)))
          assert.ok(foreign?.every((byte) => own?.includes(byte) || !told.has(byte)))
        }
      }),
    )
  })

  test('does not depend on the order in which ranks answer', () => {
    fc.assert(
      fc.property(fc.array(bytes, { minLength: 2, maxLength: 5 }), (written) => {
        const said = written.map((of, rank) => [rank, [wrote(of)]] as const)
        assert.deepEqual(adviseOn(region, new Map(said)), adviseOn(region, new Map([...said].reverse())))
      }),
    )
  })

  test('one who writes and others who read', () => {
    const { kind, readers, finding, remedy } = judged(wrote(run(0, 8)), read(), read())
    assert.deepEqual([kind, readers], ['reader-writer', [1, 2]])
    assert.equal(finding, 'rank 0 writes page 812, bytes 0-7; ranks 1 and 2 read it')
    assert.match(remedy, /^write less often/)
  })

  test('is unclear where a writer was not seen to write, seen too little, or alone', () => {
    const blind = wrote([], { samples: 20, changed: 0 })
    assert.deepEqual([judged(wrote([1]), blind).kind, judged(wrote([1]), blind).unseen], ['unclear', [1]])
    assert.equal(judged(wrote([1]), wrote([2], { changed: 1 })).kind, 'unclear')
    assert.equal(judged(wrote([1])).kind, 'unclear')
    assert.equal(judged(read(), read()).kind, 'unclear')
    // That bytes are written by two is certain from the first time on.
    assert.equal(judged(wrote([1]), wrote([1], { changed: 1 })).kind, 'true-sharing')
  })

  test('two who write often are false sharing whoever else wrote seldom, which is said', () => {
    const { kind, seldom, finding } = judged(wrote(run(0, 8)), wrote(run(64, 72)), wrote(run(128, 136), { changed: 2 }))
    assert.deepEqual([kind, seldom], ['false-sharing', [2]])
    assert.equal(
      finding,
      'ranks 0 and 1 alternate in page 812, bytes 0-7 and 64-71; rank 2 seldom changed bytes 128-135',
    )
  })

  test('says where parts lie within one line of the cache', () => {
    assert.equal(judged(wrote(run(0, 8)), wrote(run(8, 16))).sharesLine, true)
    assert.equal(judged(wrote(run(0, 64)), wrote(run(64, 128))).sharesLine, false)
  })

  test('says where smaller pages would do', () => {
    const pageSize = 16 * PAGE
    const of = (written: readonly number[]): PageRecord => wrote([], { written: mapOf(pageSize, written) })
    const helps = (one: readonly number[], other: readonly number[]): boolean | undefined =>
      adviseOn({ ...region, pageSize }, new Map([one, other].map((written, rank) => [rank, [of(written)]])))[0]
        ?.smallerPagesHelp
    assert.equal(helps(run(0, 100), run(PAGE, PAGE + 100)), true)
    assert.equal(helps(run(0, 100), run(200, 300)), false)
  })

  test('of a longer page it says how near to each other ranks write, where that may or may not be the same bytes, and what to do about either', () => {
    const pageSize = 16 * PAGE
    const of = (written: readonly number[]): PageRecord => wrote([], { written: mapOf(pageSize, written) })
    // Side by side in one of the 16 bytes that a bit stands for.
    const said = new Map([run(32, 40), run(40, 48)].map((written, rank) => [rank, [of(written)]]))
    const [page] = adviseOn({ ...region, pageSize }, said)
    assert.deepEqual([page?.kind, page?.grainBytes], ['true-sharing', 16])
    assert.equal(page?.finding, 'ranks 0 and 1 write within the same 16 bytes of page 812, bytes 32-47')
    assert.match(
      page?.remedy ?? '',
      /^if they write the same bytes, let each rank add up .*; if they write side by side, pad to 64 KiB/,
    )
    const small = judged(wrote(run(32, 40)), wrote(run(36, 48)))
    assert.equal(small.finding, 'ranks 0 and 1 write the same bytes of page 812, 36-39')
    assert.match(small.remedy, /^let each rank add up/)
  })

  test('tells of the worst page first, and ends where the region does', () => {
    const other = (page: number, writesLost: number): PageRecord => wrote([1], { page, writesLost })
    const said = new Map([[0, [other(3, 10), other(999, 30), other(4, 20)]]])
    const pages = adviseOn(region, said)
    assert.deepEqual(
      pages.map(({ index }) => index),
      [999, 4, 3],
    )
    assert.equal(pages[0]?.lengthBytes, PAGE - 100)
  })

  test('reads well in a terminal', () => {
    const pages = adviseOn(
      region,
      new Map([
        [0, [wrote(run(64, 128))]],
        [3, [wrote(run(128, 192), { writesLost: 1900 })]],
      ]),
    )
    assert.equal(
      adviceText({ region: 'hits', pages, unwatched: [1], silent: [], more: false }),
      `region 'hits': a page bounces between ranks
  false sharing, taken away 2,000 times: ranks 0 and 3 alternate in page 812, bytes 64-127 and 128-191
    pad to 4 KiB, or place by rank, so that what different ranks write is on different pages
  nothing is known about rank 1: open the region there with advise: true, or set AETHER_ADVISE=1`,
    )
    const none = adviceText({ region: 'hits', pages: [], unwatched: [], silent: [2], more: false })
    assert.equal(none, `region 'hits': no page bounces between ranks\n  no answer from rank 2`)
  })

  test('does not list all of a comb', () => {
    const comb = (of: number): number[] => run(0, PAGE).filter((byte) => Math.floor(byte / 4) % 2 === of)
    const { kind, writers, finding } = judged(wrote(comb(0)), wrote(comb(1)))
    assert.deepEqual([kind, writers[0]?.ranges.length], ['false-sharing', 512])
    assert.ok(finding.length < 200, finding)
  })
})

describe('a record', () => {
  test('comes out as it went in, and fits a message', () => {
    fc.assert(
      fc.property(bytes, fc.nat(), fc.nat(), (written, page, samples) => {
        const record = wrote(written, { page, samples })
        const sent = JSON.stringify(encodeRecord(record))
        assert.ok(sent.length < 1500)
        assert.deepEqual(decodeRecord(JSON.parse(sent), PAGE), record)
      }),
    )
  })

  test('that is none is refused', () => {
    const sound = encodeRecord(wrote([1]))
    const wrong = [null, [], 'x', [...sound, 1], [-1, ...sound.slice(1)], [0.5, ...sound.slice(1)]]
    for (const each of [...wrong, [...sound.slice(0, 6), 'AA=='], [...sound.slice(0, 6), 7]])
      assert.equal(decodeRecord(each, PAGE), undefined)
  })
})

describe('a map of bytes', () => {
  test('marks exactly those that differ', () => {
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 255 }), (changed, by) => {
        const before = Uint8Array.from({ length: PAGE }, (_, index) => index)
        const now = before.slice()
        for (const byte of changed) now[byte]! ^= by
        const map = new ByteMap(PAGE)
        assert.equal(markChanges(map, before, now), true)
        const marked = map.ranges().flatMap(({ begin, end }) => run(begin, end))
        assert.deepEqual(
          marked,
          [...changed].sort((a, b) => a - b),
        )
        assert.equal(markChanges(new ByteMap(PAGE), before, before.slice()), false)
      }),
    )
  })
})
