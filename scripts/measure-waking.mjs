/**
 * Measures how long it takes from a change of a group's structure until a rank that waits for it goes on, and what a
 * rank asks of the network while it waits and nothing comes:
 *
 *     node scripts/measure-waking.mjs
 *     node scripts/rdma-guest.mjs -- env AETHER_DEVICE=rxe0 node scripts/measure-waking.mjs
 *
 * Two ranks on this machine. One pops from a queue that the other pushes the time to, now and then: by `pop`, which is
 * told, and, in turn with it, by `tryPop` again and again, after 0.25 ms and then up to 16 ms, as one would do without
 * being told.
 */
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values: options } = parseArgs({
  options: {
    rank: { type: 'string' },
    rendezvous: { type: 'string', default: `local:waking-${process.pid}` },
    rounds: { type: 'string', default: '100' },
    'idle-ms': { type: 'string', default: '10000' },
    json: { type: 'boolean', default: false },
  },
})
const ROUNDS = Number(options.rounds)
const IDLE_MS = Number(options['idle-ms'])
/** Long enough that the waiter has not looked for a while. */
const PAUSE_MS_MIN = 200
const PAUSE_MS_SPREAD = 50
const WAYS = ['told', 'looking']

if (options.rank === undefined) await start()
else await runRank(Number(options.rank))

async function start() {
  const program = fileURLToPath(import.meta.url)
  const said = await Promise.all(
    [0, 1].map(async (rank) => {
      const args = [program, '--rank', `${rank}`, '--rendezvous', options.rendezvous, '--rounds', `${ROUNDS}`]
      const child = spawn(process.execPath, [...args, '--idle-ms', `${IDLE_MS}`], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let text = ''
      child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk))
      const code = await new Promise((resolve) => child.once('close', resolve))
      if (code !== 0) throw new Error(`rank ${rank} ended with ${code}`)
      return text
    }),
  )
  const measured = JSON.parse(said[1])
  if (options.json) console.log(JSON.stringify(measured))
  else for (const one of measured.ways) console.log(inWords(one))
}

function inWords({ way, delayUs, requestsPerSecond, processorMsPerSecond }) {
  const { p50, p99, max } = delayUs
  const delay = `${p50} µs from the change until the waiter goes on (p99 ${p99}, max ${max})`
  const idle = `${requestsPerSecond} work requests and ${processorMsPerSecond} ms of processor time a second while nothing comes`
  return `${way.padEnd(8)} ${delay}; ${idle}`
}

async function runRank(rank) {
  const { join } = await import('../dist/src/public/index.js')
  const { openStructures } = await import('../dist/src/structures/index.js')
  const { VerbsMemory } = await import('../dist/src/structures/distributed/verbs/verbs-memory.js')
  const requests = countRequests(VerbsMemory)
  const group = await join({ rank, size: 2, rendezvous: options.rendezvous })
  const shared = await openStructures(group, { size: '1MiB', homes: [0] })
  const queues = await Promise.all(WAYS.map((way) => shared.queue(way)))
  await group.barrier()
  if (rank === 0) await change(group, queues)
  else console.log(JSON.stringify(await wait(group, queues, requests)))
  await shared.close()
  await group.close()
}

/** Of this process, from here on. */
function countRequests(VerbsMemory) {
  const { run } = VerbsMemory.prototype
  const counted = { requests: 0 }
  VerbsMemory.prototype.run = function (home, what, batch) {
    counted.requests += batch.length
    return run.call(this, home, what, batch)
  }
  return counted
}

async function change(group, queues) {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const queue of queues) {
      await group.barrier()
      await sleep(PAUSE_MS_MIN + Math.random() * PAUSE_MS_SPREAD)
      await queue.push(nowUs())
    }
  }
  for (const queue of queues) {
    await group.barrier()
    await sleep(2 * IDLE_MS)
    await queue.push(0)
  }
}

async function wait(group, queues, counted) {
  const ways = [(queue) => queue.pop(), popByLooking]
  const delays = WAYS.map(() => [])
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, queue] of queues.entries()) {
      await group.barrier()
      const changedUs = await ways[at](queue)
      delays[at].push(nowUs() - changedUs)
    }
  }
  const idle = []
  for (const [at, queue] of queues.entries()) {
    await group.barrier()
    const waiting = ways[at](queue)
    await sleep(IDLE_MS / 2)
    const before = { requests: counted.requests, ...process.cpuUsage(), us: nowUs() }
    await sleep(IDLE_MS)
    const seconds = (nowUs() - before.us) / 1e6
    const { user, system } = process.cpuUsage(before)
    idle.push({
      requestsPerSecond: round1((counted.requests - before.requests) / seconds),
      processorMsPerSecond: round1((user + system) / 1000 / seconds),
    })
    await waiting
  }
  return { rounds: ROUNDS, ways: WAYS.map((way, at) => ({ way, delayUs: summary(delays[at]), ...idle[at] })) }
}

async function popByLooking(queue) {
  for (let lookMs = 0.25; ; lookMs = Math.min(16, lookMs * 2)) {
    const value = await queue.tryPop()
    if (value !== undefined) return value
    await sleep(lookMs * (0.5 + Math.random()))
  }
}

/** The same clock in all processes of a machine. */
function nowUs() {
  return Number(process.hrtime.bigint() / 1000n)
}

function summary(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) }
}

function round1(value) {
  return Math.round(value * 10) / 10
}
