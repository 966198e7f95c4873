import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { RemoteEndpoint } from '../../src/verbs/index.ts'
import { Loopback } from './loopback.ts'

test('a Worker opens its own device and makes progress without its event loop', async () => {
  using link = new Loopback()
  const { domain, queue, memory } = link
  const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
  const worker = new Worker(new URL('./fixtures/worker.js', import.meta.url))
  worker.postMessage(pair.endpoint)
  const [remote] = (await once(worker, 'message')) as [RemoteEndpoint]
  pair.connect(remote)
  // Before the last answer is here: the word that follows it may be quicker.
  const done = once(worker, 'message')
  for (const immediate of [0, 0, 1]) {
    await pair.send({ local: memory.subarray(0, 8), immediate })
    assert.equal((await pair.receive({ local: memory.subarray(64, 72) })).byteLength, 8)
  }
  assert.deepEqual(await done, ['done'])
  await worker.terminate()
})
