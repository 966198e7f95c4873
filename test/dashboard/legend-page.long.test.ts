import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DashboardServer, type DashboardSource } from '../../src/dashboard/index.ts'
import { directory, PAGE_ENTRY_BYTES } from '../../src/dsm/index.ts'
import { Chromium, findChromium } from '../support/chromium.ts'
import { SyntheticSpace } from './support/synthetic-space.ts'

const path = findChromium()
const skip = path === undefined && 'there is no Chromium on PATH; on Debian: apt-get install chromium'

/**
 * What the legend says, and what the cells show, by the colours of the legend's own marks: in every animation frame,
 * after the page has drawn it.
 */
const WATCH = `
  window.seen = { frames: 0, pictures: new Set(), differences: [] }
  const look = () => {
    requestAnimationFrame(look)
    const stage = document.querySelector('#pages canvas')
    const entries = [...document.querySelectorAll('#pages .legend > span')]
    if (stage === null || stage.width === 0 || entries.length !== 6 || !document.querySelector('#pages.shown')) return
    const legend = entries.map((each) => Number(/([0-9,]+)$/.exec(each.innerText)[1].replace(',', '')))
    const total = legend.reduce((sum, count) => sum + count, 0)
    if (total !== 256) return
    const rgb = entries.map((each) => getComputedStyle(each.querySelector('.swatch')).backgroundColor.match(/\\d+/g).slice(0, 3).join())
    const columns = Math.ceil(Math.sqrt(256 * 1.35))
    const rows = Math.ceil(256 / columns)
    const scale = Math.min(36, (stage.width - 24) / columns, (stage.height - 52) / rows)
    const [left, top] = [(stage.width - columns * scale) / 2, Math.max(0, (stage.height - 28 - rows * scale) / 2)]
    const data = stage.getContext('2d').getImageData(0, 0, stage.width, stage.height)
    const cells = [0, 0, 0, 0, 0, 0]
    for (let page = 0; page < 256; page += 1) {
      // Away from the label in the middle and from the gaps.
      const x = Math.floor(left + (page % columns + 0.2) * scale)
      const y = Math.floor(top + (Math.floor(page / columns) + 0.2) * scale)
      const at = 4 * (y * stage.width + x)
      const kind = rgb.indexOf([data.data[at], data.data[at + 1], data.data[at + 2]].join())
      if (kind >= 0) cells[kind] += 1
    }
    window.seen.frames += 1
    window.seen.pictures.add(cells.join())
    if (cells.join() !== legend.join()) window.seen.differences.push(cells.join(' ') + ' but ' + legend.join(' '))
  }
  requestAnimationFrame(look)`

/** At each look another number of pages is written by the only rank; it reads the others. */
function changingPages(): DashboardSource {
  const space = new SyntheticSpace({ members: 1, pages: 256, blocksALook: 0 })
  const states = Object.keys(directory.cache.states)
  return {
    look() {
      const frame = space.look()
      const entries = new DataView(new ArrayBuffer(256 * PAGE_ENTRY_BYTES))
      for (let page = 0; page < 256; page += 1)
        entries.setUint8(page * PAGE_ENTRY_BYTES, 1 + states.indexOf(page < (space.looks * 37) % 256 ? 'M' : 'S'))
      space.map.take(0, 0, entries)
      return frame
    },
    pages: (region) => space.pages(region),
    page: (region, page) => space.page(region, page),
    close: () => space.close(),
  }
}

describe('the legend of the pages, in a real browser', { skip }, () => {
  test('says of each class how many cells have its colour, in every frame, while pages change', async () => {
    const server = await DashboardServer.start({ source: changingPages() })
    await using browser = await Chromium.start(path!)
    try {
      await browser.goTo(`${server.url}#pages`)
      await browser.press('3')
      await browser.until("/(written|shared) [1-9]/.test(document.querySelector('#pages .legend').innerText)", 'pages')
      await browser.evaluate(WATCH)
      await browser.until('window.seen.pictures.size >= 3 && window.seen.frames > 60', 'frames with changing pages')
      assert.deepEqual(await browser.evaluate<string[]>('window.seen.differences.slice(0, 3)'), [])
    } finally {
      await server.close()
    }
  })
})
