/** What is told of sends whose peer does not take what it is sent. */
import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import process from 'node:process'
import { type TestContext, test } from 'node:test'
import type { WatchdogMessage } from '../../src/profiling/index.ts'
import { until, useRuntimeDirectory } from '../cluster/support.ts'

// Read when the rooms are loaded.
process.env['AETHER_WATCHDOG_MS'] = '150'
const { connectEndpoint, listenEndpoints } = await import('../../src/messaging/index.ts')
const { RoomWaiters } = await import('../../src/messaging/room-waiters.ts')

useRuntimeDirectory()
const heard: WatchdogMessage[] = []
subscribe('aether:watchdog', (message) => heard.push(message as WatchdogMessage))

async function told(pattern: RegExp): Promise<WatchdogMessage> {
  const find = (): WatchdogMessage | undefined => heard.find(({ text }) => pattern.test(text))
  await until(() => find() !== undefined, String(pattern))
  return find()!
}

/** Two ends, one of which does not read, until the test has ended, well or badly. */
async function stoppedReader(t: TestContext) {
  let arrived!: (endpoint: Awaited<ReturnType<typeof connectEndpoint>>) => void
  const accepted = new Promise<Awaited<ReturnType<typeof connectEndpoint>>>((resolve) => {
    arrived = resolve
  })
  const where = { device: 'shm0', address: '127.0.0.1', ringBytes: 16_384 }
  const listener = await listenEndpoints({ ...where, accept: arrived })
  t.after(() => listener.close())
  const sender = await connectEndpoint({ ...where, port: listener.port })
  t.after(() => sender.destroy())
  const reader = await accepted
  reader.pause()
  return { sender, reader, port: listener.port }
}

test('a message that finds no room, since the peer does not read, is told of with the peer and what lies there', async (t) => {
  const { sender, reader, port } = await stoppedReader(t)
  let received = 0
  reader.handlers = { receive: () => void received++ }
  const data = new Uint8Array(1000)
  while (sender.trySend(data));
  const sent = sender.send(data)
  const { text, wait } = await told(/room for a message/)
  assert.match(text, new RegExp(`has waited .* for room for a message of 1000 bytes to 127\\.0\\.0\\.1:${port}: `))
  assert.match(text, /: the peer has not taken \d+ bytes of what it was sent, in a ring of 16384$/)
  assert.deepEqual([wait.kind, wait.ranks], ['message', []])
  reader.resume()
  await sent
  await until(() => received > 0, 'messages to come')
  await Promise.all([sender.close(), reader.close()])
})

test('a message that is too long for the ring, and that the peer does not fetch, is told of', async (t) => {
  const { sender, reader, port } = await stoppedReader(t)
  reader.handlers = { receive: () => {} }
  const sent = sender.send(new Uint8Array(100_000))
  const { text, wait } = await told(/to fetch a message/)
  assert.match(
    text,
    new RegExp(
      `for the peer 127\\.0\\.0\\.1:${port} to fetch a message of 100000 bytes: it was offered to the peer, in order`,
    ),
  )
  assert.equal(wait.kind, 'message')
  reader.resume()
  await sent
  await Promise.all([sender.close(), reader.close()])
})

test('whoever waits longest is told from those who did before: where messages are taken, nobody has waited for long', async () => {
  const waiters = new RoomWaiters()
  const end = new AbortController()
  const all = [waiters.add(8, undefined), waiters.add(8, end.signal), waiters.add(8, undefined)]
  const seen = [waiters.first]
  waiters.settle((_, messages) => messages === 1)
  seen.push(waiters.first)
  end.abort()
  seen.push(waiters.first)
  waiters.settle(() => true)
  seen.push(waiters.first)
  assert.equal(new Set(seen).size, 4)
  assert.deepEqual(
    (await Promise.allSettled(all)).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})
