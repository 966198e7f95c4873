import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { type Connection, ConnectionRejectedError, connect, listen, takeRequest } from '../../src/cm/index.ts'
import { ClosedError } from '../../src/native/index.ts'

const where = { device: 'shm0', address: '127.0.0.1' }

/** A thread that accepts what it is given, echoes no data, and ends as it is told. */
function startTaker(): Worker {
  return new Worker(new URL('./fixtures/taker.js', import.meta.url))
}

function next(worker: Worker): Promise<unknown> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

test('another thread accepts: its queue pair is connected, and the private data of both ends arrives', async () => {
  await using listener = await listen(where)
  const worker = startTaker()
  const asking = connect({ ...where, port: listener.port, privateData: Uint8Array.of(5) })
  const request = await listener.next()
  assert.ok(request)
  let ended = 0
  const over = new Promise<void>((resolve) => {
    const handed = request.handOver(() => {
      ended += 1
      resolve()
    })
    worker.postMessage(handed, [handed.port])
  })
  assert.ok(request.pending)
  const told = next(worker)
  const client = await asking
  assert.equal(client.privateData[0], 6)
  assert.deepEqual(await told, { accepted: 5, remote: client.local })
  assert.equal(request.pending, false)
  await assert.rejects(request.accept(), ClosedError)
  assert.throws(() => request.handOver(), ClosedError)
  await client.disconnect()
  client.close()
  assert.equal(await next(worker), 'peer')
  await over
  assert.equal(ended, 1)
  await worker.terminate()
})

for (const how of ['terminate', 'throw'] as const) {
  test(`a thread that ends (${how}) takes its connections along, and no others`, async () => {
    await using listener = await listen(where)
    const ends = [startTaker(), startTaker()]
    const clients: Connection[] = []
    for (const worker of ends) {
      const asking = connect({ ...where, port: listener.port })
      const handed = (await listener.next())!.handOver()
      const told = next(worker)
      worker.postMessage(handed, [handed.port])
      clients.push(await asking)
      await told
    }
    const [first, second] = clients as [Connection, Connection]
    ends[0]?.on('error', () => undefined)
    if (how === 'throw') ends[0]?.postMessage('throw')
    else await ends[0]?.terminate()
    assert.equal(await first.closed, 'peer')
    assert.equal(second.state, 'connected')
    second.close()
    first.close()
    await ends[1]?.terminate()
  })
}

test('a thread that ends before it answers: the peer is rejected', async () => {
  await using listener = await listen(where)
  const asking = connect({ ...where, port: listener.port })
  const handed = (await listener.next())!.handOver()
  const worker = new Worker(
    "require('node:worker_threads').parentPort.once('message', () => { throw new Error('before') })",
    {
      eval: true,
    },
  )
  worker.on('error', () => undefined)
  worker.postMessage(handed, [handed.port])
  await assert.rejects(asking, ConnectionRejectedError)
})

test('the listener takes back what nobody answered, and the taker learns of it', async () => {
  const listener = await listen(where)
  const asking = connect({ ...where, port: listener.port })
  const request = (await listener.next())!
  const taken = takeRequest(request.handOver())
  listener.close()
  await assert.rejects(asking, ConnectionRejectedError)
  assert.equal(request.pending, false)
  await assert.rejects(taken.accept({ timeoutMs: 10_000 }))
})
