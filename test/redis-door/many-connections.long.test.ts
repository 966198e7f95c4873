/** As many connections as a door takes by default: they work, what idle ones cost, and what is left of them. */
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { until, useRuntimeDirectory } from '../cluster/support.ts'
import { RawClient } from './support/raw-client.ts'
import { type ServedNode, startNodes } from './support/served-nodes.ts'

useRuntimeDirectory()

const fixture = fileURLToPath(new URL('./fixtures/connections-process.js', import.meta.url))
const EACH = 2500
/** What the machine may do about memory that was just used, after the last connection. */
const QUIET_MS = 1000
const MIB = 2 ** 20

const descriptorsMax = Number(/Max open files +(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))![1])
/** The server has some descriptors of its own. */
const count = Math.min(10_000, Math.floor((descriptorsMax - 500) / EACH) * EACH)

const descriptors = ({ processId }: ServedNode): number => readdirSync(`/proc/${processId}/fd`).length
const rssBytes = ({ processId }: ServedNode): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${processId}/status`, 'utf8'))![1]) * 1024

async function openConnections(port: number, howMany: number): Promise<ChildProcess> {
  const child = fork(fixture, [String(port), String(howMany)])
  after(() => child.kill('SIGKILL'))
  assert.deepEqual((await once(child, 'message'))[0], 'opened')
  return child
}

async function ask(child: ChildProcess, what: 'ping' | 'set'): Promise<number> {
  child.send(what)
  return Number((await once(child, 'message'))[0])
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

test(`${count} connections at once: all are served, and those that are killed leave nothing`, async (t) => {
  if (count < 10_000) t.diagnostic(`no more, since a process may have ${descriptorsMax} descriptors`)
  const [node] = await startNodes(1)
  using client = await RawClient.connect(node!.port)
  await client.ask('PING')
  const before = descriptors(node!)
  // One is this test's own, so that it can look.
  const sizes = Array.from({ length: count / EACH }, (_, at) => (at === 0 ? EACH - 1 : EACH))
  const children = await Promise.all(sizes.map((size) => openConnections(node!.port, size)))
  assert.match(String(await client.ask('INFO', 'clients')), new RegExp(`connected_clients:${count}\r`))
  for (const what of ['ping', 'set'] as const) {
    const start = performance.now()
    assert.deepEqual(await Promise.all(children.map((child) => ask(child, what))), sizes)
    t.diagnostic(`${what} on all: ${Math.round(performance.now() - start)} ms`)
  }
  assert.equal(await client.ask('DBSIZE'), count - 1)
  if (count === 10_000) {
    using refused = await RawClient.connect(node!.port)
    assert.match(await refused.untilEnd(), /^-ERR max number of clients reached/)
  }
  await Promise.all(children.map(kill))
  await until(() => descriptors(node!) <= before, 'the server has its descriptors back')
  assert.match(String(await client.ask('INFO', 'clients')), /connected_clients:1\r/)
})

for (const idle of [1000, count - 1])
  test(`what ${idle} idle connections cost`, async (t) => {
    const [node] = await startNodes(1)
    // The first connections bring code that all use.
    await kill(await openConnections(node!.port, 10))
    await sleep(QUIET_MS)
    const before = rssBytes(node!)
    const child = await openConnections(node!.port, idle)
    assert.equal(await ask(child, 'ping'), idle)
    await sleep(QUIET_MS)
    const cost = rssBytes(node!) - before
    t.diagnostic(`${idle} idle connections: ${(cost / MIB).toFixed(1)} MiB, ${Math.round(cost / idle)} bytes each`)
    if (idle === 1000) assert.ok(cost <= 40 * MIB, `1000 idle connections cost ${(cost / MIB).toFixed(1)} MiB`)
  })
