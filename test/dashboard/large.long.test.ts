import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DashboardServer, type OperationFrame } from '../../src/dashboard/index.ts'
import { PageMap, PageReader } from '../../src/dashboard/page-map.ts'
import { BLOCKS_MAX, Telling } from '../../src/dashboard/telling.ts'
import { directory, PAGE_ENTRY_BYTES, PAGES_PER_BLOCK } from '../../src/dsm/index.ts'
import { Chromium, findChromium } from '../support/chromium.ts'
import { SyntheticSpace } from './support/synthetic-space.ts'

const PAGES = 1_000_000
const BLOCKS = Math.ceil(PAGES / PAGES_PER_BLOCK)
const chromium = findChromium()
const skip = chromium === undefined && 'there is no Chromium on PATH; on Debian: apt-get install chromium'

function bytesOf(told: unknown): number {
  return JSON.stringify(told).length
}

describe('64 nodes and a million pages', () => {
  test('what is told of a look is bounded, however many pages change', () => {
    const space = new SyntheticSpace({ members: 64, pages: PAGES, blocksALook: BLOCKS, lookMs: 200 })
    const telling = new Telling()
    const tell = () => telling.next(space.look(), [], 0, ['grid'], space)
    const whole = tell().find(({ event }) => event === 'pages')
    assert.ok(whole?.event === 'pages' && whole.data.blocks.length === BLOCKS, 'the first time, all')
    const told = new Set<number>()
    for (let look = 0; look < 8; look += 1) {
      const messages = tell()
      const pages = messages.find(({ event }) => event === 'pages')
      assert.ok(pages?.event === 'pages' && pages.data.blocks.length === BLOCKS_MAX)
      for (const [block] of pages.data.blocks) told.add(block)
      // 700 bytes for a block, 60 for a link, 300 for a member or a histogram.
      const most = BLOCKS_MAX * 700 + 64 * 63 * 60 + 64 * 600
      assert.ok(bytesOf(messages) < most, `${bytesOf(messages)} bytes`)
    }
    assert.equal(told.size, BLOCKS, 'and yet each is told in turn')
  })

  test('what is still is not told again', () => {
    const space = new SyntheticSpace({ members: 64, pages: PAGES, blocksALook: 0, lookMs: 0 })
    const telling = new Telling()
    const frame = space.look()
    telling.next(frame, [], 0, ['grid'], space)
    const messages = telling.next(frame, [], 0, ['grid'], space)
    assert.deepEqual(
      messages.map(({ event }) => event),
      ['frame'],
    )
    const [first] = messages
    assert.ok(first?.event === 'frame' && first.data.links.length === 0)
  })

  test('operations are told when there are newer ones, those that differ, and one that is not there any more once, as nothing', () => {
    const space = new SyntheticSpace({ members: 3, pages: 256, blocksALook: 0, lookMs: 200 })
    const telling = new Telling()
    const frame = space.look()
    const told = (operations: readonly OperationFrame[]) =>
      telling
        .next({ ...frame, operations }, [], 0, [], space)
        .flatMap((message) => (message.event === 'operations' ? message.data.operations : []))
    const [first, second] = frame.operations as [OperationFrame, OperationFrame]
    const both = [first, second]
    assert.equal(told(both).length, 2)
    assert.deepEqual(told(both), [])
    assert.deepEqual(told([...both]), [])
    assert.deepEqual(told([first, { ...second, rate: 1.234 }]), [{ ...second, rate: 1.23 }])
    assert.deepEqual(told([first]), [{ ...second, rate: 0, bytes: 0, p50Ns: null, p99Ns: null }])
    assert.deepEqual(told([first]), [])
  })

  test('a block that 64 ranks changed is put together once, of those that know it', () => {
    const map = new PageMap(PAGES, directory)
    const entries = new DataView(new ArrayBuffer(PAGES_PER_BLOCK * PAGE_ENTRY_BYTES))
    entries.setUint8(0, 1 + Object.keys(directory.cache.states).indexOf('S'))
    for (let rank = 0; rank < 64; rank += 1) map.take(rank, 7, entries)
    assert.equal(map.stamp, 1)
    assert.deepEqual(map.takeChanged(new PageReader(map), 10), [7])
    assert.equal(map.states[7 * PAGES_PER_BLOCK]! & 15, 3)
    for (let rank = 1; rank < 64; rank += 1) map.forget(rank)
    assert.equal(map.stamp, 2)
    assert.equal(map.states[7 * PAGES_PER_BLOCK], 2 + 16 * 1, 'rank 0 is the only reader')
  })

  test('are drawn by what changed and what is in sight', { skip }, async () => {
    const space = new SyntheticSpace({ members: 64, pages: PAGES, blocksALook: 40 })
    const server = await DashboardServer.start({ source: space })
    await using browser = await Chromium.start(chromium!, { width: 1280, height: 800 })
    const data = (tab: string, name: string) => `Number(document.querySelector('#${tab} canvas').dataset.${name} ?? 0)`
    try {
      await browser.goTo(server.url)
      await browser.until("document.querySelectorAll('#cluster .card tbody tr').length >= 64", '64 nodes')
      await browser.until(`${data('cluster', 'lines')} > 0`, 'flows')
      assert.ok((await browser.evaluate<number>(data('cluster', 'lines'))) <= 300)
      assert.ok((await browser.evaluate<number>(data('cluster', 'dots'))) <= 820)
      await browser.press('3')
      await browser.until("/written [1-9]/.test(document.querySelector('#pages .legend').innerText)", 'pages')
      const painted = data('pages', 'painted')
      await browser.until(`${painted} > 0 && ${painted} <= 40 * 256 * 3`, 'only what changed is painted')
      await browser.press('ArrowRight')
      await browser.press('+')
      await browser.press('+')
      await browser.until(`${data('pages', 'cells')} > 0`, 'near enough for labels')
      const cells = await browser.evaluate<number>(data('pages', 'cells'))
      assert.ok(cells < 1200, `${cells} cells are labelled`)
      assert.deepEqual(browser.errors, [])
    } finally {
      await server.close()
    }
  })
})
