import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DashboardServer, type DashboardSource, FollowedSpace } from '../../src/dashboard/index.ts'
import { until, useRuntimeDirectory } from '../cluster/support.ts'
import { Chromium, findChromium } from '../support/chromium.ts'
import { Ranks } from '../support/rank-process.ts'
import { SyntheticSpace } from './support/synthetic-space.ts'

useRuntimeDirectory()
const fixture = new URL('../dsm/coherent/fixtures/rank.js', import.meta.url)
const PAGE = 4096
const path = findChromium()
const skip = path === undefined && 'there is no Chromium on PATH; on Debian: apt-get install chromium'

/** Text of the panel of the chosen page. */
const PANEL = "document.querySelector('#pages dl').innerText"
/** The drawing of the shown tab, as a long text. */
const PICTURE = "document.querySelector('section.shown canvas').toDataURL()"

describe('the page, in a real browser', { skip }, () => {
  test('shows the nodes, moves what flows, and follows a page through write, invalidation and reading again', async () => {
    await using ranks = new Ranks(fixture, 3)
    const server = await DashboardServer.start({ source: new FollowedSpace() })
    await using browser = await Chromium.start(path!)
    try {
      await browser.goTo(server.url)
      await browser.until("document.body.innerText.includes('waiting for a space')", 'it waits for a space')
      assert.equal(await browser.evaluate('location.search'), '', 'the token is not in the address any more')

      await ranks.all('join')
      await ranks.all('open', 'grid', { coherence: 'directory', size: 64 * PAGE, pageSize: PAGE, placement: 'block' })
      await browser.until(
        "document.querySelectorAll('#cluster .card:first-child tbody tr').length === 3",
        'three nodes',
      )
      await browser.until("document.querySelector('#cluster').innerText.includes('grid')", 'the region')

      let isOver = false
      const traffic = (async () => {
        for (let round = 0; !isOver; round += 1)
          await ranks.on(round % 3, 'writeBytes', 'grid', 32 * PAGE, new Uint8Array(8))
      })()
      await browser.until("!document.querySelector('.facts').innerText.includes('0 B/s')", 'traffic')
      const before = await browser.evaluate<string>(PICTURE)
      await browser.until(`${PICTURE} !== ${JSON.stringify(before)}`, 'the flow moves')
      isOver = true
      await traffic

      await browser.press('3')
      await browser.until(
        "/untouched [1-9]/.test(document.querySelector('#pages .legend').innerText)",
        'the pages of the region',
      )
      await browser.press('ArrowRight')
      await ranks.on(1, 'writeBytes', 'grid', 0, new Uint8Array(8).fill(1))
      await browser.until(`/written/.test(${PANEL}) && /owner\\s+rank 1/.test(${PANEL})`, 'rank 1 has written')
      await ranks.on(2, 'readBytes', 'grid', 0, 8)
      await browser.until(`/shared/.test(${PANEL}) && /rank 1, rank 2/.test(${PANEL})`, 'rank 2 reads, too')
      await ranks.on(0, 'writeBytes', 'grid', 0, new Uint8Array(8).fill(2))
      await browser.until(`/written/.test(${PANEL}) && /owner\\s+rank 0/.test(${PANEL})`, 'rank 0 has written')
      await browser.until(
        "document.querySelector('#pages').innerText.includes('Invalidate')",
        'the history tells of the invalidation',
      )
      await ranks.on(2, 'readBytes', 'grid', 0, 8)
      await browser.until(`/shared/.test(${PANEL}) && /rank 0, rank 2/.test(${PANEL})`, 'rank 2 reads again')

      await browser.press('6')
      await browser.until(
        "/GetShared/.test(document.querySelector('#protocol').innerText)",
        'the table of the protocol',
      )
      assert.doesNotMatch(await browser.evaluate<string>("document.querySelector('#protocol').innerText"), /\?/)
      await browser.press('7')
      await browser.until("/dsm\\.fault/.test(document.querySelector('#histograms').innerText)", 'latencies')
      await browser.press('8')
      await ranks.kill(1)
      await browser.until("/rank 1 died/.test(document.querySelector('#log').innerText)", 'the death in the log')
      const theme = 'document.documentElement.dataset.theme'
      const dark = await browser.evaluate<string>(theme)
      await browser.press('t')
      assert.notEqual(await browser.evaluate<string>(theme), dark)
      assert.deepEqual(browser.errors, [])
    } finally {
      await server.close()
    }
  })
  test('counts the memory of a process once, draws nothing while nobody sees it, and goes on when it is seen', async () => {
    const space = new SyntheticSpace({ members: 4, pages: 256, blocksALook: 1 })
    const source: DashboardSource = {
      look() {
        const frame = space.look()
        const members = frame.members.map((each, index) => ({ ...each, processId: index < 3 ? 7 : 8 }))
        return { ...frame, members: members.map((each) => ({ ...each, residentBytes: 64 * 2 ** 20 })) }
      },
      pages: (region) => space.pages(region),
      page: (region, page) => space.page(region, page),
      close: () => space.close(),
    }
    const server = await DashboardServer.start({ source })
    await using browser = await Chromium.start(path!)
    const log = "document.querySelector('#log').innerText"
    const see = (isHidden: boolean) =>
      browser.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
      )
    try {
      await browser.goTo(server.url)
      await browser.until(
        "document.querySelector('.facts').innerText.includes('128 MiB')",
        'the memory of two processes',
      )
      await browser.press('8')
      await browser.until(`${log}.includes('at look')`, 'the log')
      await see(true)
      const before = await browser.evaluate<string>(log)
      const { looks } = space
      await until(() => space.looks > looks + 25, 'two more lines of the log')
      assert.equal(await browser.evaluate<string>(log), before)
      await see(false)
      assert.notEqual(await browser.evaluate<string>(log), before, 'all that has come meanwhile is there at once')
      assert.deepEqual(browser.errors, [])
    } finally {
      await server.close()
    }
  })
})
