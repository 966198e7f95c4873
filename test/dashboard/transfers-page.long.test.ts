import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DashboardServer, FollowedSpace } from '../../src/dashboard/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { Chromium, findChromium } from '../support/chromium.ts'
import { Ranks } from '../support/rank-process.ts'
import { SyntheticSpace } from './support/synthetic-space.ts'

useRuntimeDirectory()
const talker = new URL('fixtures/talker.js', import.meta.url)
const path = findChromium()
const skip = path === undefined && 'there is no Chromium on PATH; on Debian: apt-get install chromium'

const ROWS = "[...document.querySelectorAll('#transfers tbody tr')].map((row) => row.innerText)"
/** What is told to whoever does not see the drawing. */
const SAID = "document.querySelector('#transfers [role=status]').textContent"
const TITLES = "[...document.querySelectorAll('#transfers .charts h2')].map((each) => each.innerText).join(' | ')"
const row = (pattern: string) => `${ROWS}.some((text) => /${pattern}/.test(text))`
const isFocused = (selector: string) => `document.activeElement.matches('${selector}')`

describe('transfers in a real browser', { skip }, () => {
  test('of members that talk by endpoints and calls are shown by link and operation', async () => {
    await using talkers = new Ranks(talker, 2, { AETHER_PROFILE: '1' })
    await talkers.on(0, 'join', 'talking')
    await talkers.on(1, 'join', 'talking')
    const { port, rpcPort } = await talkers.on<{ port: number; rpcPort: number }>(0, 'listen')
    await talkers.on(1, 'connect', port, rpcPort)
    const lent = await talkers.on(0, 'lend')
    const server = await DashboardServer.start({ source: new FollowedSpace('talking') })
    await using browser = await Chromium.start(path!, { width: 1366, height: 768 })
    let isOver = false
    const work = (async () => {
      while (!isOver) {
        await talkers.on(1, 'work', 10, lent)
        await talkers.on(1, 'buy', 10)
      }
    })()
    try {
      await browser.goTo(server.url)
      await browser.until("document.querySelectorAll('#cluster tbody tr').length > 1", 'the nodes')
      await browser.press('2')
      for (const operation of [
        'write\\s+verbs',
        'read\\s+verbs',
        'fetch-add',
        'compare-swap',
        'message\\s+messages',
        'buy\\s+calls',
        'buy\\s+answers',
      ])
        await browser.until(row(operation), operation)
      for (const operation of ['fetch-add', 'compare-swap', 'read'])
        await browser.until(row(`${operation}\\s.*[µn]s`), `times of ${operation}`)
      isOver = true
      await work
      assert.deepEqual(browser.errors, [])
    } finally {
      isOver = true
      await work
      await server.close()
    }
  })

  test('links and their operations are chosen with arrows and Enter, and left with Escape; the focus is seen, and what is chosen is said', async () => {
    const server = await DashboardServer.start({
      source: new SyntheticSpace({ members: 4, pages: 256, blocksALook: 1 }),
    })
    await using browser = await Chromium.start(path!, { width: 1366, height: 768 })
    try {
      await browser.goTo(server.url)
      await browser.until("document.querySelectorAll('#cluster tbody tr').length > 1", 'the nodes')
      await browser.press('2')
      await browser.until(`${row('0 → 1\\s+page')} && ${row('3 → 2')}`, 'operations of all links')
      assert.equal(await browser.evaluate(SAID), '')
      await browser.press('ArrowRight')
      await browser.until(`/^\\d → \\d: .*, 2 operations$/.test(${SAID})`, 'a link is chosen')
      assert.ok(await browser.evaluate(isFocused('#transfers canvas:focus-visible')))
      for (const arrow of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft'])
        await browser.press(arrow)
      const link = /^(\d) → (\d)/.exec(await browser.evaluate<string>(SAID))!
      assert.ok(link[1] === '0' || link[2] === '0', link[0])
      assert.match(await browser.evaluate<string>(TITLES), new RegExp(`Bandwidth ${link[0]}`))
      assert.deepEqual(
        new Set(await browser.evaluate<string[]>(`${ROWS}.map((text) => text.slice(0, 5))`)),
        new Set([link[0]]),
      )
      await browser.press('Enter')
      await browser.until(`/: page, .* per second/.test(${SAID})`, 'its first operation is chosen')
      assert.ok(await browser.evaluate(isFocused('#transfers tr[aria-current=true]:focus-visible')))
      await browser.press('ArrowDown')
      await browser.until(`/: wait to read, .*p50 20.0 µs, p99 90.0 µs/.test(${SAID})`, 'the next one')
      assert.match(await browser.evaluate<string>(TITLES), /wait to read.*p50\s*p99/s)
      await browser.press('ArrowDown')
      assert.match(await browser.evaluate<string>(SAID), /wait to read/)
      await browser.press('ArrowUp')
      assert.match(await browser.evaluate<string>(SAID), /: page,/)
      await browser.press('Escape')
      assert.match(await browser.evaluate<string>(SAID), new RegExp(`^${link[0]}: .*, 2 operations$`))
      assert.ok(await browser.evaluate(isFocused('#transfers canvas:focus-visible')))
      await browser.press('Escape')
      assert.equal(await browser.evaluate(SAID), 'all links')
      assert.match(await browser.evaluate<string>("document.querySelector('#transfers canvas').ariaLabel"), /all links/)
      // A row that has the focus is chosen by Enter, with its operation.
      await browser.evaluate("document.querySelectorAll('#transfers tbody tr')[1].focus()")
      await browser.press('Enter')
      await browser.until(`/wait to read/.test(${SAID})`, 'the operation of that row')
      // Enter on a button is the button's.
      const theme = 'document.documentElement.dataset.theme'
      const before = await browser.evaluate<string>(theme)
      await browser.evaluate("document.querySelector('header > button').focus()")
      await browser.press('Enter')
      assert.notEqual(await browser.evaluate<string>(theme), before)
      assert.deepEqual(browser.errors, [])
    } finally {
      await server.close()
    }
  })
})
