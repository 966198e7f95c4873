/**
 * Takes the pictures of the dashboard for the documentation, in light and dark, while ranks really run: every tab, and
 * an animation of the transfers between the ranks. Needs Chromium on PATH and a built checkout.
 *
 *     node scripts/screenshots.mjs [FOLDER]     default docs/images
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { decodePicture, encodePicture } from './screenshots/picture.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { Chromium, findChromium } = await import('../dist/test/support/chromium.js')

/** Larger pictures do not belong in a repository. */
const PICTURE_BYTES_MAX = 100 * 1024
const ANIMATION_BYTES_MAX = 300 * 1024
const FRAMES = 18
const FRAME_MS = 80
/** Ranks that have just started compile their code, and wait longest: no more of that in the charts. */
const WARM_MS = 20_000
/** Long enough for the charts to have some history. */
const WATCHED_MS = 30_000
/** By the keys that show them. The tab of structures, 4, is taken last: who makes them would be seen in the others. */
const tabs = { 1: 'cluster', 2: 'transfers', 3: 'pages', 6: 'protocol', 7: 'latencies', 8: 'log' }

const folder = process.argv[2] ?? `${root}docs/images`
const path = findChromium()
if (path === undefined) {
  console.error('there is no Chromium on PATH; on Debian: apt-get install chromium')
  process.exit(2)
}
mkdirSync(folder, { recursive: true })

const ranks = spawn(
  process.execPath,
  [`${root}dist/src/cli/main.js`, 'run', '-n', '4', '--dashboard', `${root}dist/examples/moving-pages.js`, '300'],
  { stdio: ['ignore', 'ignore', 'pipe'] },
)
let browser
const members = []
try {
  const url = await addressOf(ranks)
  await sleep(WARM_MS)
  browser = await Chromium.start(path, { width: 1280, height: 800 })
  await browser.goTo(url)
  await browser.until("document.querySelectorAll('#cluster .card:nth-child(1) canvas').length === 1", 'the page')
  await browser.until("/[1-9].*\\/s/.test(document.querySelector('.facts').innerText)", 'traffic', 120_000)
  const space = await browser.evaluate('/run-\\w+/.exec(document.body.innerText)[0]')
  await visit(space)
  await sleep(WATCHED_MS)
  for (const theme of ['light', 'dark']) {
    if ((await browser.evaluate('document.documentElement.dataset.theme')) !== theme) await browser.press('t')
    for (const [key, tab] of Object.entries(tabs)) {
      await browser.press(key)
      if (tab === 'pages') await choosePage()
      await sleep(1500)
      write(`dashboard-${tab}-${theme}.png`, [decodePicture(await browser.screenshot())], PICTURE_BYTES_MAX)
    }
    await browser.press('1')
    await sleep(1500)
    write(`dashboard-flow-${theme}.png`, await takeFrames('#cluster .card:nth-child(1)'), ANIMATION_BYTES_MAX)
  }
  for (let count = 0; count < 2; count += 1)
    members.push(spawn(process.execPath, [`${root}scripts/screenshots/shop.mjs`, space], { stdio: 'inherit' }))
  await sleep(WATCHED_MS)
  await browser.press('4')
  await browser.evaluate(
    "[...document.querySelectorAll('#structures tr')].find((row) => /^sessions/.test(row.innerText)).click()",
  )
  for (const theme of ['light', 'dark']) {
    if ((await browser.evaluate('document.documentElement.dataset.theme')) !== theme) await browser.press('t')
    await browser.until("/user-/.test(document.querySelector('#structures').innerText)", 'the keys')
    await sleep(1500)
    write(`dashboard-structures-${theme}.png`, [decodePicture(await browser.screenshot())], PICTURE_BYTES_MAX)
  }
  ranks.kill('SIGTERM')
  await once(ranks, 'exit')
  await takeMachines()
  if (browser.errors.length > 0) throw new Error(browser.errors.join('\n'))
} finally {
  await browser?.[Symbol.asyncDispose]()
  for (const member of members) member.kill('SIGKILL')
  ranks.kill('SIGTERM')
}

/** Four other ranks replicate machines. The one that leads first is killed. */
async function takeMachines() {
  const options = ['run', '-n', '4', '--dashboard', '--on-failure', 'continue', `${root}scripts/screenshots/bank.mjs`]
  const bank = spawn(process.execPath, [`${root}dist/src/cli/main.js`, ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    await browser.goTo(await addressOf(bank))
    await browser.until("document.querySelectorAll('nav button').length > 4", 'the page')
    await browser.press('5')
    const leading =
      "[...document.querySelectorAll('#machines tr')].find((row) => /^accounts.*leads/s.test(row.innerText))"
    await browser.until(`${leading} !== undefined`, 'a leader', 120_000)
    await sleep(WATCHED_MS / 2)
    const rank = await browser.evaluate(`/rank (\\d)/.exec(${leading}.innerText)[1]`)
    await browser.press('1')
    const row = `[...document.querySelectorAll('#cluster tr')].find((each) => each.textContent.startsWith('rank ${rank}'))`
    await browser.until(`${row} !== undefined`, 'the rank that leads')
    process.kill(Number(await browser.evaluate(`${row}.lastElementChild.textContent`)), 'SIGKILL')
    await browser.press('5')
    await sleep(WATCHED_MS / 2)
    for (const theme of ['light', 'dark']) {
      if ((await browser.evaluate('document.documentElement.dataset.theme')) !== theme) await browser.press('t')
      await sleep(1500)
      write(`dashboard-machines-${theme}.png`, [decodePicture(await browser.screenshot())], PICTURE_BYTES_MAX)
    }
  } finally {
    bank.kill('SIGTERM')
    if (bank.exitCode === null && bank.signalCode === null) await once(bank, 'exit')
  }
}

/** Two more processes open the space: one leaves, one is killed. The log shows both. */
async function visit(space) {
  const program = `import { open } from '${root}dist/src/public/index.js'
    const space = await open('${space}')
    console.log('open')
    process.stdin.on('data', () => void space.close().then(() => process.exit()))`
  for (const leave of [(child) => child.stdin.write('leave'), (child) => child.kill('SIGKILL')]) {
    const options = { stdio: ['pipe', 'pipe', 'inherit'] }
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], options)
    await once(child.stdout, 'data')
    await sleep(1500)
    leave(child)
    await once(child, 'exit')
  }
}

/** The page that all ranks write, and its history. */
async function choosePage() {
  await browser.until("/(shared|written) [1-9]/.test(document.querySelector('#pages .legend').innerText)", 'pages')
  await browser.press('Escape')
  await browser.press('ArrowRight')
  await browser.press('f')
  await browser.until("document.querySelectorAll('#pages .card tbody tr').length > 8", 'the history of a page')
}

/** Pictures of what moves, each with the time until the next. */
async function takeFrames(selector) {
  const frames = []
  let tookMs = performance.now()
  while (frames.length < FRAMES) {
    const file = await browser.screenshot(selector)
    await sleep(Math.max(0, FRAME_MS - (performance.now() - tookMs)))
    const nowMs = performance.now()
    frames.push({ file, delayMs: nowMs - tookMs })
    tookMs = nowMs
  }
  return frames.map(({ file, delayMs }) => ({ ...decodePicture(file), delayMs }))
}

function write(name, pictures, bytesMax) {
  const file = encodePicture(pictures)
  if (file.length > bytesMax) throw new Error(`${name} has ${file.length} bytes, more than ${bytesMax}`)
  writeFileSync(`${folder}/${name}`, file)
  console.log(`${name}: ${file.length} bytes`)
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
