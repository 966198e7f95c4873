import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { DashboardServer, RecordedSession, SessionRecorder } from '../../src/dashboard/index.ts'
import { readPartHeader } from '../../src/dashboard/session/session-format.ts'
import { ask } from '../support/ask.ts'
import { Chromium, findChromium } from '../support/chromium.ts'
import { SyntheticSpace } from './support/synthetic-space.ts'

const folder = mkdtempSync(join(tmpdir(), 'aether-replay-page-'))
after(() => rmSync(folder, { recursive: true }))
const chromium = findChromium()
const skip = chromium === undefined && 'there is no Chromium on PATH; on Debian: apt-get install chromium'

/** What would run, if anything of it were taken for HTML. */
const HOSTILE = '<img src=x onerror="window.broken=1"><script>window.broken=2</script>'

/** Twenty seconds, five looks each. */
function recording(name: string): string {
  const path = join(folder, name)
  const space = new SyntheticSpace({ members: 4, pages: 3000, blocksALook: 2, lookMs: 200 })
  space.regionName = HOSTILE
  space.logText = HOSTILE
  const recorder = new SessionRecorder({ path, limitBytes: 2 ** 30, source: space, aether: '1', clock: space.clock })
  for (let look = 0; look < 100; look += 1) recorder.look(space.look())
  recorder.close()
  return path
}

/** The same, but a byte of a part is another. */
function damagedRecording(name: string, damaged: number): string {
  const path = recording(name)
  const bytes = readFileSync(path)
  let at = 0
  // Before the first part is what the recording is.
  for (let part = -1; part < damaged; part += 1) at += readPartHeader(bytes.subarray(at))!.bytes
  bytes[at + 60]! ^= 0xff
  writeFileSync(path, bytes)
  return path
}

const range = "document.querySelector('footer input')"
const note = "document.querySelector('footer .note').innerText"

/** A recording in a browser, as soon as it says that it is one. */
async function replay(path: string) {
  const server = await DashboardServer.start({ source: RecordedSession.open(path) })
  const browser = await Chromium.start(chromium!, { width: 1280, height: 800 })
  const end = async (): Promise<void> => {
    await browser[Symbol.asyncDispose]()
    await server.close()
  }
  try {
    await browser.goTo(server.url)
    await browser.until(`${range} !== null`, 'it is a recording')
  } catch (error) {
    await end()
    throw error
  }
  const seek = (ms: number) => browser.evaluate(`${range}.value = ${ms}; ${range}.dispatchEvent(new Event('input'))`)
  return { browser, seek, [Symbol.asyncDispose]: end }
}

test('the server of a recording gives its parts and pages to who has the token, and nothing that runs', async () => {
  const server = await DashboardServer.start({ source: RecordedSession.open(recording('served')) })
  const url = new URL(server.url)
  const port = Number(url.port)
  const headers = { Authorization: `Bearer ${url.searchParams.get('token')}` }
  try {
    const get = (path: string) => ask(port, path, { headers })
    for (const path of ['/session', '/part?number=0', '/page?page=1&at=0'])
      assert.equal((await ask(port, path)).status, 401, path)
    const session = JSON.parse((await get('/session')).text) as { kind: string; name: string; parts: number[] }
    assert.deepEqual([session.kind, session.name, session.parts.length], ['recording', 'served', 20])
    assert.equal((await get('/part?number=19')).status, 200)
    assert.equal((await get('/part?number=20')).status, 404)
    const page = `/page?region=${encodeURIComponent(HOSTILE)}&page=3`
    assert.equal((await get(`${page}&at=4000`)).status, 200)
    for (const bad of ['/part', '/part?number=-1', '/part?number=1e1', '/part?number=..%2f..', page, `${page}&at=x`])
      assert.equal((await get(bad)).status, 400, bad)
    for (const gone of ['/events', '/metrics', '/served', '/../served', '/%2e%2e/served'])
      assert.equal((await get(gone)).status, 404, gone)
  } finally {
    await server.close()
  }
})

describe('a recording, in a real browser', { skip }, () => {
  test('says that it is one, plays, pauses, is sought by scrubber and keys, and takes no name for HTML', async () => {
    const server = await DashboardServer.start({ source: RecordedSession.open(recording('monday.session')) })
    await using browser = await Chromium.start(chromium!, { width: 1280, height: 800 })
    const at = async (): Promise<number> => Number(await browser.evaluate(`${range}.value`))
    const log = "document.querySelector('#log').innerText"
    try {
      await browser.goTo(server.url)
      await browser.until("document.querySelector('footer')?.innerText.includes('Recording')", 'it says what it is')
      assert.match(await browser.evaluate<string>("document.querySelector('footer').innerText"), /monday\.session/)
      await browser.until(`Number(${range}.value) > 400`, 'it plays')
      await browser.until("document.querySelectorAll('#cluster .card tbody tr').length >= 4", 'the nodes of then')

      await browser.press(' ')
      const paused = await at()
      await new Promise((resolve) => setTimeout(resolve, 700))
      assert.equal(await at(), paused, 'paused, it stands still')

      // The scrubber, as a mouse moves it.
      await browser.press('8')
      const sought = `${range}.value = 12345; ${range}.dispatchEvent(new Event('input'))`
      await browser.evaluate(sought)
      await browser.until(`${log}.includes('look 61') && !${log}.includes('look 71')`, 'the log of that moment')
      await browser.press('Home')
      await browser.until(`${log}.includes('look 1') && !${log}.includes('look 11')`, 'back at the beginning')
      await browser.press('End')
      await browser.until(`${log}.includes('look 91')`, 'at the end')
      assert.equal(await browser.evaluate("document.querySelector('footer .note').innerText"), '', 'it ended in order')
      const before = await at()
      await browser.press(',')
      await browser.until(`Number(${range}.value) === ${before - 200}`, 'one look back')
      for (let press = 0; press < 4; press += 1) await browser.press(']')
      assert.equal(await browser.evaluate("document.querySelector('footer select').value"), '16')

      await browser.press('3')
      await browser.until("/written [1-9]/.test(document.querySelector('#pages .legend').innerText)", 'its pages')
      for (let press = 0; press < 4; press += 1) await browser.press('ArrowRight')
      await browser.until(
        "/may write after 40/.test(document.querySelector('#pages').innerText)",
        'the history of page 3 until then',
      )
      assert.match(
        await browser.evaluate<string>("document.querySelector('#pages dl').innerText"),
        /readers\s+unknown/,
        'nothing is told of copies',
      )
      assert.match(
        await browser.evaluate<string>("document.querySelector('#pages .card h2').innerText"),
        /Page|written/,
      )
      for (const tab of ['1', '2', '4', '5', '6']) await browser.press(tab)
      await browser.until(`${log}.includes('<img src=x')`, 'a name is text')
      assert.equal(await browser.evaluate('window.broken ?? 0'), 0)
      assert.equal(await browser.evaluate("document.querySelectorAll('img, main script').length"), 0)
      assert.deepEqual(browser.errors, [])
    } finally {
      await server.close()
    }
  })
  test('says that something is damaged as long as what it shows may be wrong for it', async () => {
    await using page = await replay(damagedRecording('damaged.session', 4))
    const { browser, seek } = page
    await browser.press(' ')
    await seek(8500)
    await browser.until(`${range}.value === '8500' && ${note}.includes('damaged 4.0 s after its start')`, 'told')
    await seek(14_500)
    await browser.until(`${range}.value === '14500' && ${note} === ''`, 'all has been told anew since')
    await seek(3500)
    await browser.until(`${range}.value === '3500' && ${note} === ''`, 'not yet')
    await browser.press(' ')
    await browser.until(`Number(${range}.value) > 6200`, 'it plays')
    assert.match(await browser.evaluate<string>(note), /damaged 4\.0 s after its start/)
  })

  test('says that a part is damaged from where that begins until all is told anew, and not while others are only loaded', async () => {
    await using page = await replay(damagedRecording('before-whole.session', 9))
    const { browser, seek } = page
    const shown = () => browser.evaluate<[number, string]>(`[Number(${range}.value), ${note}]`)
    for (let press = 0; press < 3; press += 1) await browser.press('[')
    await seek(8100)
    await browser.until(`Number(${range}.value) > 8200`, 'the part before it plays')
    const [early, nothing] = await shown()
    assert.ok(early < 9000)
    assert.equal(nothing, '', `at ${early} ms`)
    await seek(9500)
    await browser.until(`Number(${range}.value) > 9600`, 'it plays')
    const [inside, damage] = await shown()
    assert.ok(inside < 10_000)
    assert.match(damage, /damaged 9\.0 s after its start/, `at ${inside} ms`)
    await seek(10_100)
    await browser.until(`Number(${range}.value) >= 10100 && ${note} === ''`, 'all is told anew')
  })
})
