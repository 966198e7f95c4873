/**
 * A member of the space that is named by its argument, which works with structures of it until it is killed: for
 * pictures of the tab of structures.
 */
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

const { open } = await import('../../dist/src/public/index.js')
const { json, openStructures } = await import('../../dist/src/public/structures.js')

const space = await open(process.argv[2])
const shared = await openStructures(space, { size: '8MiB' })
const sessions = await shared.map('sessions', { codec: json, maxEntries: 2000 })
const jobs = await shared.queue('jobs', { codec: json })
const orders = await shared.log('orders', { codec: json })
const hits = await shared.counter('hits')
const till = await shared.mutex('till')
const database = await shared.semaphore('database', { permits: 4 })
const ledger = await shared.readWriteLock('ledger')
const api = await shared.rateLimiter('api', { limit: 600, intervalMs: 60_000 })
const nightly = await shared.leader('nightly')
void nightly.campaign()

async function repeat(pauseMs, work) {
  for (let step = 0; ; step += 1) {
    await work(step)
    await sleep(pauseMs * (0.5 + Math.random()))
  }
}

async function letGo(afterMs, hold) {
  await sleep(afterMs)
  hold.release()
}

await Promise.all([
  repeat(2, (step) => {
    hits.addSync()
    const user = `user-${Math.floor(Math.random() * 3000)}`
    if (sessions.getSync(user) === undefined) sessions.setSync(user, { basket: step % 7, seen: step })
  }),
  repeat(12, (step) => jobs.pushSync({ send: `receipt ${step}` })),
  repeat(14, () => jobs.tryPopSync()),
  repeat(30, (step) => {
    orders.appendSync({ order: step })
    api.takeSync()
  }),
  ...[1, 2].map(() => repeat(40, async () => letGo(30, await till.lock()))),
  repeat(60, async () => letGo(40, await database.acquire())),
  repeat(100, async (step) => letGo(60, step % 5 === 0 ? await ledger.write() : await ledger.read())),
])
