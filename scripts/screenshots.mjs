/**
 * Takes the pictures of the dashboard that README.md shows, in light and dark, of ranks that really run, into
 * docs/images/. Needs Chromium on PATH and a built checkout.
 *
 *     node scripts/screenshots.mjs               the pictures of README.md
 *     node scripts/screenshots.mjs --all FOLDER  every tab, into another folder
 */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { Chromium, findChromium } = await import('../dist/test/support/chromium.js')

/** Larger ones have no place in a repository. */
const BYTES_MAX = 200 * 1024
const tabs = ['cluster', 'transfers', 'pages', 'protocol', 'latencies', 'log']
const ofReadme = ['cluster', 'pages']

const isAll = process.argv[2] === '--all'
const folder = isAll ? process.argv[3] : `${root}docs/images`
const path = findChromium()
if (path === undefined || folder === undefined) {
  console.error(
    path === undefined ? 'there is no Chromium on PATH; on Debian: apt-get install chromium' : '--all takes a folder',
  )
  process.exit(2)
}
mkdirSync(folder, { recursive: true })

const ranks = spawn(
  process.execPath,
  [`${root}dist/src/cli/main.js`, 'run', '-n', '4', '--dashboard', `${root}dist/examples/moving-pages.js`, '300'],
  { stdio: ['ignore', 'ignore', 'pipe'] },
)
let browser
try {
  const url = await addressOf(ranks)
  browser = await Chromium.start(path, { width: 1280, height: 800 })
  await browser.goTo(url)
  await browser.until("document.querySelectorAll('#cluster .card:nth-child(1) canvas').length === 1", 'the page')
  await browser.until("/[1-9].*\\/s/.test(document.querySelector('.facts').innerText)", 'traffic', 120_000)
  await sleep(15_000)
  for (const theme of ['light', 'dark']) {
    if ((await browser.evaluate('document.documentElement.dataset.theme')) !== theme) await browser.press('t')
    for (const [index, tab] of tabs.entries()) {
      if (!isAll && !ofReadme.includes(tab)) continue
      await browser.press(String(index + 1))
      if (tab === 'pages') {
        await browser.until(
          "/(shared|written) [1-9]/.test(document.querySelector('#pages .legend').innerText)",
          'pages',
        )
        await browser.press('Escape')
        await browser.press('ArrowRight')
        await browser.press('f')
        await browser.until("document.querySelectorAll('#pages .card tbody tr').length > 8", 'the history of a page')
      }
      await sleep(1500)
      const picture = await browser.screenshot()
      if (picture.length > BYTES_MAX)
        throw new Error(`${tab} in ${theme} has ${picture.length} bytes, more than ${BYTES_MAX}`)
      writeFileSync(`${folder}/dashboard-${tab}-${theme}.png`, picture)
      console.log(`dashboard-${tab}-${theme}.png: ${picture.length} bytes`)
    }
  }
  if (browser.errors.length > 0) throw new Error(browser.errors.join('\n'))
} finally {
  await browser?.[Symbol.asyncDispose]()
  ranks.kill('SIGTERM')
}

function addressOf(child) {
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said += text
      const [, address] = /open (http:\S+)/.exec(said) ?? []
      if (address !== undefined) resolve(address)
    })
    child.once('close', () => reject(new Error(`the ranks ended: ${said}`)))
  })
}
