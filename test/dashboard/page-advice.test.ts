import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runningSpaces } from '../../src/cluster/index.ts'
import { DashboardServer, FollowedSpace, ObservedSpace } from '../../src/dashboard/index.ts'
import type { Advice } from '../../src/dsm/index.ts'
import { readAdvice, writeAdvice } from '../../src/dsm/observation/shown-advice.ts'
import { until, useRuntimeDirectory } from '../cluster/support.ts'
import { Chromium, findChromium } from '../support/chromium.ts'
import { Ranks } from '../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('../dsm/advice/fixtures/rank.js', import.meta.url)
const path = findChromium()
const noBrowser = path === undefined && 'there is no Chromium on PATH; on Debian: apt-get install chromium'
const ROUNDS_MAX = 100

/** Two ranks side by side in page 1 of a region, until it is known. */
async function bounce(ranks: Ranks): Promise<void> {
  await ranks.all('join')
  await ranks.all('open', 'grid', { coherence: 'mesi', size: '64KiB', advise: true })
  for (let round = 0; ; round += 1) {
    await Promise.all([0, 1].map((rank) => ranks.on(rank, 'fill', 'grid', 'call', 4096 + 1024 * rank, 64, 3000)))
    const { pages } = await ranks.on<Advice>(0, 'advice', 'grid')
    if (pages[0]?.kind === 'false-sharing') return
    assert.ok(round < ROUNDS_MAX, JSON.stringify(pages))
  }
}

test('who watches is told why a page bounces, also of what was before', async () => {
  await using ranks = new Ranks(fixture, 2)
  await bounce(ranks)
  using space = ObservedSpace.attach(runningSpaces()[0] ?? '')
  const isTold = (): boolean => {
    space.look()
    return space.page('grid', 1)?.advice?.kind === 'false-sharing'
  }
  await until(isTold, 'the page is told of with advice')
  const { advice } = space.page('grid', 1) ?? {}
  assert.deepEqual(
    advice?.writers.map(({ rank, ranges }) => [rank, ranges]),
    [
      [0, [[0, 64]]],
      [1, [[1024, 1088]]],
    ],
  )
  assert.equal(advice?.finding, 'ranks 0 and 1 alternate in page 1, bytes 0-63 and 1024-1087')
  assert.equal(space.page('grid', 0)?.advice, undefined)
})

test('the panel of a page draws its bytes by rank', { skip: noBrowser }, async () => {
  await using ranks = new Ranks(fixture, 2)
  await bounce(ranks)
  const server = await DashboardServer.start({ source: new FollowedSpace() })
  await using browser = await Chromium.start(path!)
  try {
    await browser.goTo(server.url)
    await browser.until("document.querySelector('#cluster').innerText.includes('grid')", 'the region')
    await browser.press('3')
    await browser.until(
      "/untouched [1-9]/.test(document.querySelector('#pages .legend').innerText)",
      'the pages of the region',
    )
    assert.equal(await browser.evaluate("document.querySelector('#advice').hidden"), true)
    // Page 0 first, then page 1.
    await browser.press('ArrowRight')
    await browser.press('ArrowRight')
    const panel = "document.querySelector('#advice')"
    await browser.until(`!${panel}.hidden && /ranks 0 and 1 alternate/.test(${panel}.innerText)`, 'the advice')
    const parts = await browser.evaluate<[string, string, string][]>(
      `[...${panel}.querySelectorAll('[role=img] span')].map((part) => [part.title, part.style.left, part.style.background])`,
    )
    assert.deepEqual(
      parts.map(([title, left]) => [title, left]),
      [
        ['bytes 0-63', '0%'],
        ['bytes 1024-1087', '25%'],
      ],
    )
    assert.notEqual(parts[0]?.[2], parts[1]?.[2])
    await browser.press('ArrowLeft')
    await browser.until(`${panel}.hidden`, 'page 0 has none')
    assert.deepEqual(browser.errors, [])
  } finally {
    await server.close()
  }
})

test('advice in shared memory: whole, or not at all', () => {
  const map = new ArrayBuffer(0x11000)
  const bytes = new Uint8Array(map)
  const read = (): readonly unknown[] | undefined =>
    readAdvice((length, offset) => bytes.slice(0x1000 + offset, 0x1000 + offset + length))
  assert.deepEqual(read(), [])
  writeAdvice(map, [[1, 'a']])
  writeAdvice(map, [[2, 'b']])
  assert.deepEqual(read(), [[2, 'b']])
  const head = new Int32Array(map, 0x1000, 2)
  head[0]! += 1
  assert.equal(read(), undefined, 'it is being written')
  head[0]! += 1
  head[1] = 1e9
  assert.equal(read(), undefined, 'no such length')
  head[1] = 3
  assert.equal(read(), undefined, 'no JSON')
  const long = Array.from({ length: 200 }, (_, page) => [page, 'x'.repeat(700)])
  writeAdvice(map, long)
  const kept = read() ?? []
  assert.ok(kept.length > 64 && kept.length < 200, String(kept.length))
})
