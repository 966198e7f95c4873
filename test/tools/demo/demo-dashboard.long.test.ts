import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Chromium, findChromium } from '../../support/chromium.ts'
import { Command, PATIENCE_MS } from './started-command.ts'

const directory = useRuntimeDirectory()
const chromium = findChromium()
const skip = chromium === undefined && 'there is no Chromium on PATH; on Debian: apt-get install chromium'
const TRAFFIC = "/[1-9][\\d.,]* ([KM]i)?B\\/s/.test(document.querySelector('.facts').innerText)"
const DOTS = "Number(document.querySelector('#cluster canvas').dataset.dots)"
const DEMO = ['--kron', '18', '--nodes', '3', '--coherence', 'directory', '--page-size', '4KiB']

test('aether demo: its nodes appear and flows move; recorded, they do so again when it is over', { skip }, async () => {
  const file = join(directory, 'demo.session')
  await using dashboard = new Command('dashboard', '--record', file)
  const url = await dashboard.address()
  {
    await using browser = await Chromium.start(chromium!, { width: 1280, height: 800 })
    await browser.goTo(url)
    const nodes = "document.querySelectorAll('#cluster .card tbody tr .swatch').length >= 3"
    await browser.until("document.body.innerText.includes('waiting for a space')", 'the page', PATIENCE_MS)
    // It may be over before a busy machine has drawn it: then once more.
    const seen = { nodes: false, flows: false }
    for (let run = 0; run < 4 && !(seen.nodes && seen.flows); run += 1) {
      await using demo = new Command('demo', ...DEMO)
      while (demo.child.exitCode === null) {
        seen.nodes ||= await browser.evaluate<boolean>(nodes)
        seen.flows ||= await browser.evaluate<boolean>(`${TRAFFIC} && ${DOTS} > 0`)
        await new Promise((resolve) => setTimeout(resolve, 30))
      }
      assert.equal(await demo.end(), 0, demo.said)
    }
    assert.deepEqual(seen, { nodes: true, flows: true })
    await browser.until("document.body.innerText.includes('waiting for a space')", 'it is over', PATIENCE_MS)
    assert.deepEqual(browser.errors, [])
  }
  assert.equal(await dashboard.end('SIGTERM'), 0, dashboard.said)
  assert.ok(statSync(file).size > 1000)

  await using replay = new Command('dashboard', '--replay', file)
  await using browser = await Chromium.start(chromium!, { width: 1280, height: 800 })
  await browser.goTo(await replay.address())
  for (let press = 0; press < 4; press += 1) await browser.press(']')
  await browser.until("document.querySelector('footer')?.innerText.includes('Recording')", 'a recording')
  await browser.until(TRAFFIC, 'the flows of then', PATIENCE_MS)
  await browser.press('8')
  await browser.press('End')
  await browser.until(
    "/rank 2 (joined|is here|left)/.test(document.querySelector('#log').innerText)",
    'the nodes of then',
  )
  assert.deepEqual(browser.errors, [])
})
