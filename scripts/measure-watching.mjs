/**
 * What being watched by `aether dashboard` costs members: two ranks that go round the same pages and take each from the
 * other, with no dashboard, one and two, each with a page that listens, in turns.
 *
 *     npm run build && node scripts/measure-watching.mjs [--rounds 5] [--plays 7] [--ms 200] [--awake]
 *
 * Each round has every way once, beginning with another, with the median of several plays with pauses between them, and
 * gives a ratio to its own run without a dashboard. `none, again` is the same as `none`: how far its ratio is from 1 is
 * what the others are worth. Printed are medians over the rounds. `--awake` keeps the processors from sleeping by a
 * loop on each in the class SCHED_IDLE, which gives way to everything else.
 */
import { fork, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { cpus, loadavg, release, tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { keepAwake } from './overhead/process.mjs'

/** Until members have thrown away what they showed: five seconds after the last look. */
const FORGET_MS = 6500
const self = fileURLToPath(import.meta.url)

/** Members and dashboards that run. */
const children = new Set()

function started(child) {
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

/** Each rank begins half of them before the other, so whatever it comes to the other had. */
const PAGES = 256
const PAGE_BYTES = 4096

/** A rank: works when it is told to, for so long, and tells how many pages it took. */
async function beMember() {
  const { join } = await import('../dist/src/public/index.js')
  const group = await join()
  const region = await group.openRegion('bounced', { size: PAGES * PAGE_BYTES, coherence: 'directory' })
  const word = new Uint8Array(8)
  let page = (group.rank * PAGES) / 2
  process.on('message', async (ms) => {
    const end = performance.now() + ms
    const cpu = process.cpuUsage()
    let count = 0
    for (; performance.now() < end; count += 1) {
      await region.write(page * PAGE_BYTES, word)
      page = (page + 1) % PAGES
    }
    const { user, system } = process.cpuUsage(cpu)
    process.send({ count, cpuUs: user + system })
  })
  process.on('disconnect', () => process.exit(0))
  process.send('ready')
}

async function measure() {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '5' },
      plays: { type: 'string', default: '7' },
      ms: { type: 'string', default: '200' },
      awake: { type: 'boolean', default: false },
    },
  })
  const [rounds, plays, ms] = [Number(values.rounds), Number(values.plays), Number(values.ms)]
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1))
  const directory = mkdtempSync(joinPath(tmpdir(), 'aether-watching-'))
  const environment = { ...process.env, AETHER_RUNTIME_DIRECTORY: directory }
  const burners = values.awake ? keepAwake() : undefined
  const giveBack = () => {
    burners?.close()
    for (const child of children) child.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  }
  // Also of a run that is interrupted.
  process.once('exit', giveBack)
  const members = [0, 1].map((rank) => {
    const env = { ...environment, AETHER_RANK: String(rank), AETHER_SIZE: '2', AETHER_RENDEZVOUS: 'local:watched' }
    return started(fork(self, { env }))
  })
  try {
    await Promise.all(members.map(nextMessage))
    await play(members, ms)
    const ways = [
      { name: 'none', dashboards: 0 },
      { name: 'none, again', dashboards: 0 },
      { name: 'one', dashboards: 1 },
      { name: 'two', dashboards: 2 },
    ]
    const played = []
    for (let round = 0; round < rounds; round += 1) {
      const figures = {}
      for (let turn = 0; turn < ways.length; turn += 1) {
        const { name, dashboards } = ways[(round + turn) % ways.length]
        figures[name] = await watched(members, { plays, ms }, dashboards, environment)
      }
      played.push(figures)
    }
    print(ways, played, { rounds, plays, ms })
  } finally {
    giveBack()
  }
}

/** One run while so many dashboards look. */
async function watched(members, { plays, ms }, dashboards, environment) {
  const watching = await Promise.all(Array.from({ length: dashboards }, () => startDashboard(environment)))
  try {
    if (dashboards > 0) await Promise.all(watching.map(({ told }) => told))
    const played = []
    while (played.length < plays) {
      played.push(await play(members, ms))
      await sleep(2 * ms)
    }
    const of = (figure) => median(played.map((each) => each[figure]))
    return { perSecond: of('perSecond'), cpuUs: of('cpuUs') }
  } finally {
    for (const { child } of watching) child.kill('SIGTERM')
    if (dashboards > 0) await sleep(FORGET_MS)
  }
}

/** Both at once. */
async function play(members, ms) {
  const answers = members.map(nextMessage)
  for (const member of members) member.send(ms)
  const done = await Promise.all(answers)
  const count = done.reduce((sum, each) => sum + each.count, 0)
  return { perSecond: (1000 * count) / ms, cpuUs: done.reduce((sum, each) => sum + each.cpuUs, 0) / count }
}

/** A dashboard with a page that listens. `told`: it has told of several looks, so members show themselves. */
async function startDashboard(environment) {
  const main = fileURLToPath(new URL('../dist/src/cli/main.js', import.meta.url))
  const child = started(spawn(process.execPath, [main, 'dashboard', '--no-token'], { env: environment }))
  let said = ''
  const url = await new Promise((resolve, reject) => {
    const hear = (text) => {
      said += text
      const [found] = /http:\/\/\S+/.exec(said) ?? []
      if (found !== undefined) resolve(found)
    }
    child.stdout.setEncoding('utf8').on('data', hear)
    child.stderr.setEncoding('utf8').on('data', hear)
    child.once('close', () => reject(new Error(`the dashboard ended: ${said}`)))
  })
  const told = new Promise((resolve, reject) => {
    let looks = 0
    get(new URL('/events?region=bounced', url), (answer) => {
      answer.setEncoding('utf8').on('data', (text) => {
        looks += text.split('event: frame').length - 1
        if (looks >= 5) resolve()
      })
      answer.on('error', () => {})
    }).on('error', reject)
  })
  return { child, told }
}

function nextMessage(child) {
  return new Promise((resolve, reject) => {
    const fail = (status) => reject(new Error(`a member ended with ${status}`))
    child.once('exit', fail)
    child.once('message', (message) => {
      child.off('exit', fail)
      resolve(message)
    })
  })
}

function print(ways, played, { rounds, plays, ms }) {
  const model = cpus()[0]?.model ?? 'of unknown kind'
  console.log(
    `${cpus().length} processors, ${model}, Linux ${release()}, Node ${process.version}; medians of ${rounds} rounds of ${plays} plays of ${ms} ms; load ${loadavg()[0].toFixed(1)}`,
  )
  console.log('\n| dashboards | pages a second | ratio | each round | processor of the members for a page | ratio |')
  console.log('|---|---|---|---|---|---|')
  for (const { name } of ways) {
    const of = (figure) => median(played.map((round) => round[name][figure]))
    const ratios = (figure) => played.map((round) => round[name][figure] / round.none[figure])
    const each = ratios('perSecond').map((ratio) => ratio.toFixed(2))
    const rate = Math.round(of('perSecond')).toLocaleString('en')
    console.log(
      `| ${name} | ${rate} | ${median(ratios('perSecond')).toFixed(2)} | ${each.join(', ')} | ${of('cpuUs').toFixed(1)} µs | ${median(ratios('cpuUs')).toFixed(2)} |`,
    )
  }
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1]
}

if (process.send === undefined) await measure()
else await beMember()
