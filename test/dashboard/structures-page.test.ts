import assert from 'node:assert/strict'
import process from 'node:process'
import { describe, test } from 'node:test'
import { DashboardServer, FollowedSpace } from '../../src/dashboard/index.ts'
import { open } from '../../src/dsm/index.ts'
import { openStructures } from '../../src/structures/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { ask } from '../support/ask.ts'
import { Chromium, findChromium } from '../support/chromium.ts'
import { SyntheticSpace } from './support/synthetic-space.ts'

useRuntimeDirectory()
const path = findChromium()
const skip = path === undefined && 'there is no Chromium on PATH; on Debian: apt-get install chromium'
const TAB = "document.querySelector('#structures').innerText"
const PAGES = "document.querySelector('#pages').innerText"
const rows = "[...document.querySelectorAll('#structures table[aria-label=Structures] tbody tr')]"

describe('the tab of structures, in a real browser', { skip }, () => {
  test('lists the structures of a space, shows the chosen one, and says why there are none', async () => {
    await using space = await open('shop')
    const server = await DashboardServer.start({ source: new FollowedSpace() })
    await using browser = await Chromium.start(path!)
    try {
      await browser.goTo(server.url)
      await browser.until("document.body.innerText.includes('shop')", 'the space')
      await browser.press('3')
      await browser.until(`/has no regions/.test(${PAGES}) && /group\\.openRegion/.test(${PAGES})`, 'why no pages')
      await browser.press('4')
      await browser.until(`/No member of this space has opened structures/.test(${TAB})`, 'why there are none')
      await using shared = await openStructures(space)
      await browser.until(`/none has been made yet/.test(${TAB})`, 'why there are none yet')

      const map = await shared.map<number>('sessions')
      map.setSync('ada', 1)
      const mutex = await shared.mutex('till')
      using _hold = mutex.lockSync()
      const waits = new AbortController()
      const waiting = mutex.lock({ signal: waits.signal }).catch(() => {})
      await browser.until(`${rows}.length === 2`, 'two rows')
      const row = (name: string): string => `${rows}.find((each) => each.innerText.startsWith('${name}'))?.innerText`
      await browser.until(
        `/mutex[^]*\\t1\\t.*held by process ${process.pid}/.test(${row('till')})`,
        'who holds, one waits',
      )
      await browser.until(`/map\\t1\\t/.test(${row('sessions')})`, 'one entry')
      const jobs = await shared.jobs<number>('mails', { keepCompletedMs: 600_000 })
      for (const number of [1, 2, 3]) jobs.addSync(number)
      await (await jobs.take()).complete()
      const held = await jobs.take()
      await browser.until(`/1 waiting, 1 active, 1 completed/.test(${row('mails')})`, 'jobs by state')
      await held.complete()
      const work = setInterval(() => map.setSync('ada', 2), 5)
      await browser.until(`/map\\t1\\t[^\\t]*\\t\\s*[1-9]/.test(${row('sessions')})`, 'calls a second')
      clearInterval(work)
      await browser.evaluate(`${rows}.find((each) => each.innerText.startsWith('sessions')).click()`)
      await browser.until(`/'ada'/.test(${TAB}) && /codec\\s+structured/.test(${TAB})`, 'the keys of the chosen one')
      assert.match(await browser.evaluate<string>(TAB), new RegExp(`member 0\\s+${process.pid}`))
      await browser.press('Escape')
      await browser.until(`!/'ada'/.test(${TAB})`, 'the list alone')
      // An idle map is asked for nothing, and what changes is seen without a choice.
      map.setSync('grace', 1)
      await browser.until(`/map\\t2\\t/.test(${row('sessions')})`, 'two entries')
      waits.abort()
      await waiting
      assert.deepEqual(browser.errors, [])
    } finally {
      await server.close()
    }
  })

  test('takes no name for HTML', async () => {
    const source = new SyntheticSpace({ members: 2, pages: 256, blocksALook: 0 })
    source.structureName = '<img src=x onerror="window.broken = true">'
    source.machineName = source.structureName
    const server = await DashboardServer.start({ source })
    await using browser = await Chromium.start(path!)
    try {
      await browser.goTo(`${server.url}#structures`)
      await browser.press('4')
      await browser.until(`${rows}.length === 5 && /<img/.test(${TAB})`, 'the names as text')
      await browser.press('5')
      const machines = "document.querySelector('#machines').innerText"
      await browser.until(`/<img.*rank 0.*leads/s.test(${machines})`, 'the names of machines, too')
      assert.match(
        await browser.evaluate<string>(machines),
        /second\s+rank 1\s+leads\s+2\s[\s\S]*200 µs · 400 µs · 600 µs · 900 µs/,
      )
      await browser.press('9')
      const indexes = "document.querySelector('#indexes').innerText"
      await browser.until(`/<img.*rank 0.*4.*1(\\.\\d+)? GiB/s.test(${indexes})`, 'the names of indexes, too')
      assert.match(await browser.evaluate<string>(indexes), /0\s+0–4095\s+rank 0\s+1 opening/)
      const strips = await browser.evaluate(
        "[...document.querySelectorAll('#indexes .strip')].map((strip) => [...strip.children].map((part) => part.className).join())",
      )
      assert.deepEqual(strips, ['leads,leads,leads,leads', 'opening,not here,not here,not here'])
      await browser.press('0')
      const arrays = "document.querySelector('#arrays').innerText"
      await browser.until(`/<img.*16 × 32.*float64.*cyclic × replicated/s.test(${arrays})`, 'the names of arrays, too')
      assert.match(await browser.evaluate<string>(arrays), /all 2 have every element[\s\S]*rank 1\s+\d/)
      const cells = await browser.evaluate<string[]>(
        "[...document.querySelectorAll('#arrays .cells span')].slice(0, 3).map((row) => row.children[5].title)",
      )
      assert.deepEqual(cells, ['rank 0', 'rank 1', 'rank 0'])
      assert.deepEqual(browser.errors, [])
      assert.equal(await browser.evaluate("'broken' in window"), false)
    } finally {
      await server.close()
    }
  })
})

test('keys and values go only to those who have brought a token', async () => {
  await using space = await open('shop')
  await using shared = await openStructures(space)
  ;(await shared.map<number>('sessions')).setSync('a secret', 1)
  const answers: string[] = []
  for (const token of ['a-token-of-a-test', null]) {
    const source = new FollowedSpace('shop')
    const server = await DashboardServer.start({ source, token })
    try {
      source.look()
      const headers = { Authorization: `Bearer ${token}` }
      const port = Number(new URL(server.url).port)
      const { status, text } = await ask(port, '/structure?region=structures&name=sessions', { headers })
      assert.equal(status, 200)
      assert.match(text, /"name":"sessions"/)
      answers.push(text)
      assert.equal((await ask(port, '/structure?region=structures&name=none', { headers })).status, 404)
    } finally {
      await server.close()
    }
  }
  assert.match(answers[0]!, /a secret/)
  assert.doesNotMatch(answers[1]!, /a secret/)
})
