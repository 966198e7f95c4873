import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DashboardServer } from '../../src/dashboard/index.ts'
import { Chromium, findChromium } from '../support/chromium.ts'
import { SyntheticSpace } from './support/synthetic-space.ts'

const path = findChromium()
const skip = path === undefined && 'there is no Chromium on PATH; on Debian: apt-get install chromium'

/**
 * What is cut off: elements beyond the right edge of the page, unless they are in something that scrolls sideways, and
 * boxes that hide a part of what is in them.
 */
const CLIPPED = `(() => {
  const shown = [...document.querySelectorAll('body *')].filter((each) => each.checkVisibility() && !each.closest('.said'))
  const scrolls = (each) => each !== null && (/auto|scroll/.test(getComputedStyle(each).overflowX) || scrolls(each.parentElement))
  const beyond = shown.filter((each) => each.getBoundingClientRect().right > innerWidth + 1 && !scrolls(each.parentElement))
  const hiding = shown.filter((each) => {
    const { overflowX, overflowY } = getComputedStyle(each)
    return (overflowX === 'hidden' && each.scrollWidth > each.clientWidth + 1) ||
      (overflowY === 'hidden' && each.scrollHeight > each.clientHeight + 1)
  })
  return [...beyond, ...hiding].map((each) => each.tagName + '.' + each.className + ' ' + each.textContent.slice(0, 40))
})()`

/** Whether the end of the page can be reached: it is seen, or the page scrolls. */
const REACHED = `(() => {
  const main = document.querySelector('main')
  const last = [...document.querySelectorAll('section.shown .card')].filter((each) => each.checkVisibility()).at(-1)
  last.scrollIntoView({ block: 'end' })
  const { bottom, height } = last.getBoundingClientRect()
  return height > 40 && bottom <= innerHeight + main.clientHeight
})()`

describe('the page in a narrow window, in a real browser', { skip }, () => {
  for (const [width, height] of [
    [420, 800],
    [800, 600],
    [1440, 900],
  ] as const)
    test(`at ${width} pixels nothing is cut off in any tab`, async () => {
      const space = new SyntheticSpace({ members: 4, pages: 2000, blocksALook: 2, structures: 8 })
      const server = await DashboardServer.start({ source: space })
      await using browser = await Chromium.start(path!, { width, height })
      try {
        await browser.goTo(server.url)
        await browser.until("document.querySelectorAll('#cluster tbody tr').length >= 4", 'the nodes')
        const tabs = await browser.evaluate<number>("document.querySelectorAll('nav button').length")
        assert.ok(tabs >= 6)
        for (let tab = 1; tab <= tabs; tab += 1) {
          await browser.press(String(tab))
          await browser.until("document.querySelector('section.shown').innerText.length > 20", `tab ${tab} is filled`)
          const id = await browser.evaluate<string>("document.querySelector('section.shown').id")
          assert.deepEqual(await browser.evaluate<string[]>(CLIPPED), [], `tab ${id}`)
          assert.ok(await browser.evaluate<boolean>(REACHED), `the end of tab ${id} cannot be reached`)
          const canvases = await browser.evaluate<number[]>(
            "[...document.querySelectorAll('section.shown .stage')].map((each) => Math.min(each.clientWidth, each.clientHeight))",
          )
          for (const size of canvases) assert.ok(size >= 90, `a drawing of tab ${id} has only ${size} pixels`)
        }
        assert.deepEqual(browser.errors, [])
      } finally {
        await server.close()
      }
    })
})
