import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { aether } from '../../cli/command-line.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { Chromium, findChromium } from '../../support/chromium.ts'
import { Command, PATIENCE_MS } from './started-command.ts'

const directory = useRuntimeDirectory()
const main = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))
const movingPages = fileURLToPath(new URL('../../../examples/moving-pages.js', import.meta.url))
const chromium = findChromium()
const skip = chromium === undefined && 'there is no Chromium on PATH; on Debian: apt-get install chromium'
const HISTORY = "document.querySelector('#pages .card:last-child tbody').innerText"

describe('the page beside real programs', { skip }, () => {
  test('aether run --dashboard: a page is followed through write, invalidation and reading again, with microseconds', async () => {
    await using run = new Command('run', '-n', '3', '--dashboard', movingPages, '300')
    await using browser = await Chromium.start(chromium!, { width: 1280, height: 800 })
    await browser.goTo(await run.address())
    await browser.until(
      "document.querySelectorAll('#cluster .card tbody tr .swatch').length === 3",
      'nodes',
      PATIENCE_MS,
    )
    await browser.press('3')
    const legend = "document.querySelector('#pages .legend').innerText"
    await browser.until(`/written [1-9]/.test(${legend})`, 'pages are written', PATIENCE_MS)
    // Page 0 is the one that all ranks write, again and again.
    await browser.press('ArrowRight')
    await browser.until(`/wants to write/.test(${HISTORY})`, 'a write', PATIENCE_MS)
    await browser.until(`/Forward|Invalidate/.test(${HISTORY})`, 'another copy is taken away', PATIENCE_MS)
    await browser.until(
      `/may write after [\\d.]+ µs/.test(${HISTORY})`,
      'the new copy, and how long it took',
      PATIENCE_MS,
    )
    const facts = "document.querySelector('#pages dl').innerText"
    const owner = await browser.evaluate<string>(`/owner\\s+(rank \\d)/.exec(${facts})?.[1] ?? ''`)
    await browser.until(
      `(/owner\\s+(rank \\d)/.exec(${facts})?.[1] ?? ${JSON.stringify(owner)}) !== ${JSON.stringify(owner)}`,
      'it goes on to another',
      PATIENCE_MS,
    )
    const picture = "document.querySelectorAll('#pages canvas')[1].toDataURL()"
    const before = await browser.evaluate<string>(picture)
    await browser.until(`${picture} !== ${JSON.stringify(before)}`, 'its timeline goes on', PATIENCE_MS)
    // Reading again: what a rank wrote, the next one reads, so pages become shared and are invalidated by the next
    // write.
    await browser.until(`/shared [1-9]/.test(${legend})`, 'pages are read again', PATIENCE_MS)
    await browser.press('6')
    const protocol = "document.querySelector('#protocol').innerText"
    await browser.until(
      `/Invalidate/.test(${protocol}) && /GetShared/.test(${protocol})`,
      'both in the protocol',
      PATIENCE_MS,
    )
    assert.deepEqual(browser.errors, [])
  })
})

test('dashboard --record that cannot begin leaves no file in the way of the next try', async () => {
  const file = join(directory, 'next-try.session')
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  try {
    const { port } = holder.address() as AddressInfo
    for (const wrong of [
      ['--port', String(port)],
      ['--token', 'short'],
      ['--no-token', '--host', '0.0.0.0'],
    ]) {
      const result = aether('dashboard', '--record', file, ...wrong)
      assert.notEqual(result.status, 0, wrong.join(' '))
      assert.equal(existsSync(file), false, wrong.join(' '))
    }
  } finally {
    holder.close()
  }
})

test('dashboard --record and --replay refuse what makes no sense, and say what to do', () => {
  const refuses = (what: RegExp, status: number, ...args: readonly string[]): void => {
    const result = aether(...args)
    assert.equal(result.status, status, result.stderr)
    assert.match(result.stderr, what)
    assert.doesNotMatch(result.stderr, /\n {4}at /)
  }
  refuses(/cannot be read/, 1, 'dashboard', '--replay', join(directory, 'nowhere'))
  refuses(/--record FILE/, 1, 'dashboard', '--replay', main)
  refuses(/already exists/, 1, 'dashboard', '--record', main)
  refuses(/already exists/, 1, 'run', '-n', '1', '--dashboard', '--record', main, movingPages, '0')
  refuses(/leave --record out/, 2, 'dashboard', '--replay', 'a', '--record', 'b')
  refuses(/leave 'shop' out/, 2, 'dashboard', 'shop', '--replay', 'a')
  refuses(/--record-limit needs --record FILE/, 2, 'dashboard', '--record-limit', '1MiB')
  refuses(/such as 64MiB, not 'much'/, 2, 'dashboard', '--record', 'a', '--record-limit', 'much')
  refuses(/4KiB or more/, 2, 'dashboard', '--record', 'a', '--record-limit', '1KiB')
  refuses(/--record and --record-limit need --dashboard/, 2, 'run', '-n', '1', '--record', 'a', movingPages)
})
