/** Real ranks with known layouts: who writes where in the pages that bounce, in every protocol. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Advice, adviceText, type PageAdvice, protocols } from '../../../src/dsm/index.ts'
import { probeUserfault } from '../../../src/dsm/mmu/probe.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { drawn } from '../../support/drawn.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)
const probe = probeUserfault()
const noViews = 'refused' in probe ? probe.refused.message : false
const ROUNDS_MAX = 100
const PAGE = 4096

/** Until every one of `pages` is understood. How fast ranks take turns is the machine's affair. */
async function adviceAfter(
  ranks: Ranks,
  name: string,
  pages: readonly number[],
  round: () => Promise<unknown>,
  isEnough: (page: PageAdvice) => boolean = ({ kind }) => kind !== 'unclear',
): Promise<Advice> {
  for (let rounds = 0; ; rounds += 1) {
    await round()
    const advice = await ranks.on<Advice>(0, 'advice', name)
    const found = pages.map((index) => advice.pages.find((page) => page.index === index))
    if (found.every((page) => page !== undefined && isEnough(page))) return advice
    assert.ok(rounds < ROUNDS_MAX, `pages ${pages} were not understood: ${JSON.stringify(advice)}`)
  }
}

/** What is seen of a page hangs on where a protocol has its requests. */
for (const coherence of drawn([...protocols.keys()], 1)) {
  describe(`a ${coherence} region with advise`, () => {
    let four: Ranks
    let two: Ranks
    let last = 0
    async function region(ranks: Ranks, options: object = {}): Promise<string> {
      const name = `region-${++last}`
      await ranks.all('open', name, { coherence, size: '1MiB', advise: true, ...options })
      return name
    }

    before(async () => {
      four = new Ranks(fixture, 4)
      two = new Ranks(fixture, 2)
      await Promise.all([four.all('join'), two.all('join')])
    })
    after(() => Promise.all([four[Symbol.asyncDispose](), two[Symbol.asyncDispose]()]))

    for (const way of ['call', 'view'] as const)
      test(`two of four ranks side by side in a page, by ${way}`, { skip: way === 'view' && noViews }, async () => {
        const name = await region(four)
        const at = 11 * PAGE
        const { pages, silent, unwatched, more } = await adviceAfter(four, name, [11], () =>
          Promise.all([
            four.on(0, 'fill', name, way, at + 64, 64, 5000),
            four.on(1, 'barrier'),
            four.on(2, 'barrier'),
            four.on(3, 'fill', name, way, at + 128, 64, 5000),
          ]),
        )
        assert.deepEqual([silent, unwatched, more], [[], [], false])
        assert.equal(pages.length, 1)
        const { kind, writers, readers, overlaps, finding, remedy, sharesLine } = pages[0]!
        assert.equal(kind, 'false-sharing')
        assert.deepEqual(
          writers.map(({ rank, ranges }) => [rank, ranges]),
          [
            [0, [{ begin: 64, end: 128 }]],
            [3, [{ begin: 128, end: 192 }]],
          ],
        )
        assert.deepEqual([readers, overlaps, sharesLine], [[], [], false])
        assert.equal(finding, 'ranks 0 and 3 alternate in page 11, bytes 64-127 and 128-191')
        assert.match(remedy, /^pad to 4 KiB, or place by rank/)
      })

    test('four ranks in one line of the cache', async () => {
      const name = await region(four)
      const { pages } = await adviceAfter(
        four,
        name,
        [0],
        () => Promise.all([0, 1, 2, 3].map((rank) => four.on(rank, 'fill', name, 'call', 16 * rank, 16, 5000))),
        ({ kind, writers }) => kind !== 'unclear' && writers.length === 4,
      )
      assert.equal(pages[0]?.kind, 'false-sharing')
      assert.equal(pages[0]?.sharesLine, true)
      assert.deepEqual(
        pages[0]?.writers.map(({ ranges }) => ranges),
        [0, 1, 2, 3].map((rank) => [{ begin: 16 * rank, end: 16 * rank + 16 }]),
      )
      assert.match(pages[0]?.remedy ?? '', /within one 64-byte line/)
    })

    test('what both write is not called false sharing, and a page that nobody shares is not named', async () => {
      const name = await region(two)
      const { pages } = await adviceAfter(two, name, [3], () =>
        Promise.all([
          two.on(0, 'fill', name, 'call', 3 * PAGE + 100, 100, 5000),
          two.on(1, 'fill', name, 'call', 3 * PAGE + 150, 100, 5000),
        ]),
      )
      // Both wrote pages of their own all the time, and changed over once.
      for (const own of [5, 6]) {
        await Promise.all([0, 1].map((rank) => two.on(rank, 'fill', name, 'call', (own + rank) * PAGE, 8, 2000)))
      }
      assert.deepEqual(
        pages.map(({ index, kind, overlaps }) => [index, kind, overlaps]),
        [[3, 'true-sharing', [{ begin: 150, end: 200 }]]],
      )
      const later = await two.on<Advice>(1, 'advice', name)
      assert.deepEqual(
        later.pages.map(({ index, kind }) => [index, kind]),
        [[3, 'true-sharing']],
      )
    })

    test("with replicas and fences, what others wrote meanwhile is not taken for a rank's own", async () => {
      const name = await region(two, { replicas: 1 })
      const { pages } = await adviceAfter(
        two,
        name,
        [9],
        () => Promise.all([0, 1].map((rank) => two.on(rank, 'fillAndFence', name, 9 * PAGE + 64 + 64 * rank, 64, 300))),
        ({ kind, writers }) => kind !== 'unclear' && writers.every(({ samples }) => samples > 16),
      )
      const { kind, writers, overlaps, readers } = pages[0]!
      assert.deepEqual([kind, overlaps, readers], ['false-sharing', [], []])
      assert.deepEqual(
        writers.map(({ rank, ranges }) => [rank, ranges]),
        [
          [0, [{ begin: 64, end: 128 }]],
          [1, [{ begin: 128, end: 192 }]],
        ],
      )
    })

    test('one writes, the other reads', async () => {
      const name = await region(two)
      const { pages } = await adviceAfter(two, name, [200], () =>
        Promise.all([
          two.on(1, 'fill', name, 'call', 200 * PAGE + 8, 8, 5000),
          two.on(0, 'look', name, 200 * PAGE + 4000, 5000),
        ]),
      )
      const { kind, writers, readers, finding } = pages[0]!
      assert.deepEqual([pages.length, kind, readers], [1, 'reader-writer', [0]])
      assert.deepEqual(
        writers.map(({ rank, ranges }) => [rank, ranges]),
        [[1, [{ begin: 8, end: 16 }]]],
      )
      assert.equal(finding, 'rank 1 writes page 200, bytes 8-15; rank 0 reads it')
    })
  })
}

describe('the adviser', () => {
  test('nothing is copied or counted without advise', async () => {
    await using ranks = new Ranks(fixture, 2)
    await ranks.all('join')
    await ranks.all('open', 'off', { coherence: 'mesi', size: '64KiB' })
    await ranks.all('open', 'on', { coherence: 'mesi', size: '64KiB', advise: true })
    const fill = (name: string) =>
      Promise.all([0, 1].map((rank) => ranks.on(rank, 'fill', name, 'call', 64 * rank, 64, 5000)))
    await adviceAfter(ranks, 'on', [0], () => fill('on'))
    for (let round = 0; round < 3; round += 1) await fill('off')
    assert.deepEqual(await ranks.all('counters', 'off'), [undefined, undefined])
    for (const counted of await ranks.all<{ twins: number; bounces: number }>('counters', 'on'))
      assert.ok(counted.twins > 0 && counted.bounces > 0, JSON.stringify(counted))
    const advice = await ranks.on<Advice>(0, 'advice', 'off')
    assert.deepEqual(advice, { region: 'off', pages: [], unwatched: [0, 1], silent: [], more: false })
    assert.match(adviceText(advice), /nothing is known about ranks 0 and 1: .*AETHER_ADVISE=1/)
  })

  test('AETHER_ADVISE=1 turns it on for regions that do not say', async () => {
    await using ranks = new Ranks(fixture, 2, { AETHER_ADVISE: '1' })
    await ranks.all('join')
    await ranks.all('open', 'told', { coherence: 'mesi', size: '64KiB' })
    await ranks.all('open', 'refused', { coherence: 'mesi', size: '64KiB', advise: false })
    assert.deepEqual((await ranks.on<Advice>(0, 'advice', 'told')).unwatched, [])
    assert.deepEqual((await ranks.on<Advice>(0, 'advice', 'refused')).unwatched, [0, 1])
  })

  test('pages of 64 KiB are told apart by 16 bytes, and smaller ones would help', async () => {
    await using ranks = new Ranks(fixture, 2)
    await ranks.all('join')
    await ranks.all('open', 'long', { coherence: 'directory', size: '1MiB', pageSize: '64KiB', advise: true })
    const { pages } = await adviceAfter(ranks, 'long', [1], () =>
      Promise.all([0, 1].map((rank) => ranks.on(rank, 'fill', 'long', 'call', 65_536 + 8192 * rank, 24, 3000))),
    )
    const { kind, writers, grainBytes, smallerPagesHelp } = pages[0]!
    assert.deepEqual([kind, grainBytes, smallerPagesHelp], ['false-sharing', 16, true])
    assert.deepEqual(
      writers.map(({ ranges }) => ranges),
      [[{ begin: 0, end: 32 }], [{ begin: 8192, end: 8224 }]],
    )
  })

  test('thousands of pages that bounce take no more memory than some', async () => {
    await using ranks = new Ranks(fixture, 2)
    await ranks.all('join')
    await ranks.all('open', 'many', { coherence: 'directory', size: '16MiB', advise: true })
    let advice: Advice | undefined
    for (let round = 0; advice?.more !== true; round += 1) {
      assert.ok(round < ROUNDS_MAX, JSON.stringify(advice))
      await ranks.all('sweep', 'many', 4000, 1)
      await ranks.all('sweep', 'many', 200, 20)
      advice = await ranks.on<Advice>(0, 'advice', 'many')
    }
    assert.ok(advice.pages.length <= 128, `${advice.pages.length} pages`)
    assert.match(adviceText(advice), /and more than the adviser can remember/)
    assert.match(adviceText(advice, 3), /\n {2}and \d+ more pages/)
  })

  test('a rank that dies, or is stopped, holds nobody up', async () => {
    await using ranks = new Ranks(fixture, 3)
    await ranks.all('join')
    await ranks.all('open', 'left', { coherence: 'mesi', size: '64KiB', advise: true })
    await ranks.processes[2]?.stop()
    assert.deepEqual((await ranks.on<Advice>(0, 'advice', 'left')).silent, [2])
    const asked = ranks.on<Advice>(1, 'advice', 'left')
    await ranks.kill(2)
    assert.deepEqual((await asked).silent, [2])
    assert.deepEqual((await ranks.on<Advice>(1, 'advice', 'left')).silent, [2])
  })

  test('pages that a rank gives up by itself do not bounce', async () => {
    await using ranks = new Ranks(fixture, 2)
    await ranks.all('join')
    await ranks.all('open', 'given', { coherence: 'mesi', size: '64KiB', placement: 'cyclic', advise: true })
    for (let time = 0; time < 30; time += 1) {
      await Promise.all([0, 1].map((rank) => ranks.on(rank, 'fill', 'given', 'call', PAGE * (1 - rank), 8, 1)))
      await Promise.all([0, 1].map((rank) => ranks.on(rank, 'giveUp', 'given', PAGE * (1 - rank), PAGE)))
    }
    assert.deepEqual((await ranks.on<Advice>(0, 'advice', 'given')).pages, [])
  })

  test('writes that leave a byte unchanged are not seen, and that is said', async () => {
    await using ranks = new Ranks(fixture, 2)
    await ranks.all('join')
    await ranks.all('open', 'blind', { coherence: 'mesi', size: '64KiB', advise: true })
    const { pages } = await adviceAfter(
      ranks,
      'blind',
      [0],
      () => ranks.all('writeAndTakeBack', 'blind', 40, 1000),
      ({ unseen }) => unseen.length === 2,
    )
    const { kind, writers, finding, remedy } = pages[0]!
    assert.deepEqual([kind, writers], ['unclear', []])
    assert.match(finding, /no byte had changed when it left ranks 0 and 1/)
    assert.match(remedy, /^writes that leave a byte unchanged are not seen/)
  })

  test('a hardware region has no pages that move', async () => {
    await using ranks = new Ranks(fixture, 1)
    await ranks.all('join')
    await ranks.all('open', 'plain', { size: '64KiB', advise: true })
    await assert.rejects(ranks.on(0, 'advice', 'plain'), { code: 'ERR_AETHER_UNSUPPORTED' })
  })
})
