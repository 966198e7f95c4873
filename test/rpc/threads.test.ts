import assert from 'node:assert/strict'
import test from 'node:test'
import { IoThreadError, openChannel, RpcError, serveOnThreads } from '../../src/rpc/index.ts'
import { threaded } from './fixtures/threaded.ts'

const where = { device: 'shm0', address: '127.0.0.1' }
const module = new URL('./fixtures/threaded.js', import.meta.url)

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2))
}

test('calls of two channels run in two threads at once; closing drains, and what runs is answered', async () => {
  const data = new SharedArrayBuffer(8)
  const listener = await serveOnThreads({ ...where, threads: { module, count: 2, data } })
  await using one = openChannel({ ...where, port: listener.port })
  await using other = openChannel({ ...where, port: listener.port })
  const clients = [one.client(threaded), other.client(threaded)] as const
  const places = await Promise.all(clients.map((client) => client.where()))
  assert.deepEqual(places.map(({ index }) => index).sort(), [0, 1])
  assert.equal(new Set([process.pid, ...places.map(({ threadId }) => threadId)]).size, 3)
  assert.deepEqual(await Promise.all(clients.map((client) => client.together(2))), [true, true])
  const ticks: number[] = []
  for await (const tick of clients[0].ticks(100)) ticks.push(tick)
  assert.equal(ticks.length, 100)
  const running = clients[0].later()
  while (Atomics.load(new Int32Array(data), 1) === 0) await pause()
  await listener.close()
  assert.equal(await running, 'done')
})

test('a thread that fails: its calls end with a truthful error, others go on, and the channel finds a thread again', async () => {
  const failures: IoThreadError[] = []
  const listener = await serveOnThreads({
    ...where,
    threads: {
      module,
      count: 2,
      data: new SharedArrayBuffer(8),
      restart: { delayMs: 2 },
      failed: (error) => failures.push(error),
    },
  })
  await using one = openChannel({ ...where, port: listener.port })
  await using other = openChannel({ ...where, port: listener.port })
  const client = one.client(threaded)
  const { index } = await client.where()
  await other.client(threaded).where()
  await assert.rejects(client.fail(), (error) => error instanceof RpcError && error.outcome === 'unknown')
  assert.equal((await other.client(threaded).where()).index, 1 - index)
  while (failures.length === 0) await pause()
  assert.ok(failures[0] instanceof IoThreadError)
  assert.deepEqual([failures[0].thread, failures[0].connections], [index, 1])
  while (listener.threads[index]?.state !== 'running') await pause()
  await using again = openChannel({ ...where, port: listener.port })
  assert.equal((await again.client(threaded).where()).index, index)
  await listener.close()
})

test('a module that serves nothing is refused', async () => {
  const nothing = new URL('../messaging/threads/fixtures/no-handlers.js', import.meta.url)
  await assert.rejects(
    serveOnThreads({ ...where, threads: { module: nothing, count: 1 } }),
    (error) => error instanceof IoThreadError && /must export a function `serve/.test(error.message),
  )
})
