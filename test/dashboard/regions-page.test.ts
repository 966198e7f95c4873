import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DashboardServer, type DashboardSource } from '../../src/dashboard/index.ts'
import { Chromium, findChromium } from '../support/chromium.ts'
import { SyntheticSpace } from './support/synthetic-space.ts'

const path = findChromium()
const skip = path === undefined && 'there is no Chromium on PATH; on Debian: apt-get install chromium'

const LEGEND = "document.querySelector('#pages .legend').innerText"
const PANEL = "document.querySelector('#pages dl').innerText"
const HEADING = "document.querySelector('#pages').innerText"
const CHOICES = "[...document.querySelectorAll('#pages select option')].map(({ value }) => value).join()"

/** A space whose only region may end. */
function spaceWithRegion() {
  const space = new SyntheticSpace({ members: 3, pages: 1000, blocksALook: 4 })
  const seen = { hasRegion: true }
  const source: DashboardSource = {
    look() {
      const frame = space.look()
      return seen.hasRegion ? frame : { ...frame, regions: [] }
    },
    pages: (region) => (seen.hasRegion ? space.pages(region) : undefined),
    page: (region, page) => (seen.hasRegion ? space.page(region, page) : undefined),
    close: () => space.close(),
  }
  return { space, seen, source }
}

describe('regions that come and go, in a real browser', { skip }, () => {
  test('the pages that are shown are those of the region that is named, and of none where there is none', async () => {
    const { space, seen, source } = spaceWithRegion()
    const server = await DashboardServer.start({ source })
    await using browser = await Chromium.start(path!)
    try {
      await browser.goTo(`${server.url}#pages`)
      await browser.press('3')
      await browser.until(`${CHOICES} === 'grid' && /written [1-9]/.test(${LEGEND})`, 'the first region')
      await browser.press('ArrowRight')
      await browser.until(`/written|shared/.test(${PANEL})`, 'a page of it')
      // What is said of the keys is what they do.
      assert.match(
        await browser.evaluate<string>("document.querySelector('#pages canvas').ariaLabel"),
        /Arrow keys select a page, plus and minus zoom$/,
      )

      space.regionName = 'field'
      await browser.until(`${CHOICES} === 'field'`, 'the next region')
      await browser.until(`${HEADING}.includes('No page is selected')`, 'the page of the first is no longer shown')
      await browser.until(`/written [1-9]/.test(${LEGEND})`, 'the pages of the next')
      await browser.press('ArrowRight')
      await browser.until(`/written|shared/.test(${PANEL})`, 'a page of the next')

      seen.hasRegion = false
      await browser.until(`${CHOICES} === ''`, 'no region')
      await browser.until(`/untouched 0/.test(${LEGEND}) && /written 0/.test(${LEGEND})`, 'no pages')
      seen.hasRegion = true
      await browser.until(`${CHOICES} === 'field' && /written [1-9]/.test(${LEGEND})`, 'it is back')
      assert.deepEqual(browser.errors, [])
    } finally {
      await server.close()
    }
  })
})
