/**
 * What the dashboard costs where it is largest: 64 members that all send to each other, a region of a million pages of
 * which 200 blocks (51,200 pages) change at each of five looks a second, made up in this process and served by the real
 * server to the real page in Chromium.
 *
 *     node scripts/measure-dashboard.mjs [--seconds 8] [--members 64] [--pages 1000000] [--blocks 200]
 *
 * For each tab: script in a picture of the screen (p50, p95, most), script for a message, pictures a second, bytes a
 * second to the page, and the processor of the server without what making things up takes. Pictures a second say more
 * about the machine than about the page where a browser draws by software.
 */
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const { DashboardServer } = await import('../dist/src/dashboard/index.js')
const { Chromium, findChromium } = await import('../dist/test/support/chromium.js')
const { SyntheticSpace } = await import('../dist/test/dashboard/support/synthetic-space.js')

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    members: { type: 'string', default: '64' },
    pages: { type: 'string', default: '1000000' },
    blocks: { type: 'string', default: '200' },
  },
})
const seconds = Number(values.seconds)
const path = findChromium()
if (path === undefined) {
  console.error('there is no Chromium on PATH; on Debian: apt-get install chromium')
  process.exit(2)
}

/** Runs in the page before anything else does: takes the time of what the page does for a picture and for a message. */
const meter = `
  globalThis.metered = { pictures: [], messages: [], bytes: 0 }
  const request = requestAnimationFrame.bind(globalThis)
  globalThis.requestAnimationFrame = (draw) => request((now) => {
    const begin = performance.now()
    draw(now)
    metered.pictures.push(performance.now() - begin)
  })
  const add = EventSource.prototype.addEventListener
  EventSource.prototype.addEventListener = function (name, take) {
    add.call(this, name, (event) => {
      const begin = performance.now()
      take(event)
      if (event.data === undefined) return
      metered.messages.push(performance.now() - begin)
      metered.bytes += event.data.length
    })
  }
`

const space = new SyntheticSpace({
  members: Number(values.members),
  pages: Number(values.pages),
  blocksALook: Number(values.blocks),
})
let madeUp = 0
const look = space.look.bind(space)
space.look = () => {
  const begin = cpuMs()
  const frame = look()
  madeUp += cpuMs() - begin
  return frame
}
const server = await DashboardServer.start({ source: space })
const browser = await Chromium.start(path, { width: 1280, height: 800 })
try {
  await browser.addInitScript(meter)
  await browser.goTo(server.url)
  await browser.until("document.querySelectorAll('#cluster tbody tr').length > 1", 'the nodes')
  console.log(
    `${values.members} members, ${values.pages} pages, ${values.blocks} blocks a look; ${seconds} s each; ms of script`,
  )
  const columns = ['tab', 'picture p50', 'p95', 'most', 'a second', 'message p50', 'p95', 'KiB/s', 'server cpu']
  console.log(columns.map((name) => name.padStart(12)).join(''))
  for (const [index, tab] of ['cluster', 'transfers', 'pages', 'protocol', 'latencies', 'log'].entries()) {
    await browser.press(String(index + 1))
    await sleep(1000)
    await browser.evaluate('metered.pictures = [], metered.messages = [], metered.bytes = 0')
    const [cpu, made] = [cpuMs(), madeUp]
    await sleep(1000 * seconds)
    const used = cpuMs() - cpu - (madeUp - made)
    const { pictures, messages, bytes } = await browser.evaluate('metered')
    const share = Math.max(0, used) / (10 * seconds)
    const row = [
      tab,
      ...[0.5, 0.95, 1].map((part) => percentile(pictures, part).toFixed(2)),
      (pictures.length / seconds).toFixed(0),
      ...[0.5, 0.95].map((part) => percentile(messages, part).toFixed(2)),
      (bytes / 1024 / seconds).toFixed(0),
      `${share.toFixed(1)} %`,
    ]
    console.log(row.map((text) => text.padStart(12)).join(''))
  }
  if (browser.errors.length > 0) throw new Error(browser.errors.join('\n'))
} finally {
  await browser[Symbol.asyncDispose]()
  await server.close()
}

function cpuMs() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function percentile(times, part) {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
}
