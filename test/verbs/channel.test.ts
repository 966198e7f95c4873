import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { ArgumentError, native, TimeoutError } from '../../src/native/index.ts'
import { CompletionBatch } from '../../src/verbs/index.ts'
import { Loopback } from './loopback.ts'

test('waiting on the event loop ends with the event, which stays until it is drained', async () => {
  using link = new Loopback()
  const channel = link.device.createCompletionChannel()
  const queue = link.device.createCompletionQueue({ depth: 8, channel })
  const pair = link.domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
  pair.connect(pair.endpoint)
  const batch = new CompletionBatch(8)
  for (let round = 0; round < 3; round += 1) {
    queue.arm()
    assert.equal(queue.poll(batch), 0)
    const waiting = channel.wait()
    pair.prepareWrite({ local: link.memory.subarray(0, 8), remote: link.remote(8) }).post(round)
    await waiting
    assert.deepEqual(channel.drain(), [queue])
    assert.deepEqual(channel.drain(), [])
    assert.equal(queue.poll(batch), 1)
  }
})

test('waiting ends with a time-out or an abort, and leaves the channel usable', async () => {
  using link = new Loopback()
  const channel = link.device.createCompletionChannel()
  await assert.rejects(channel.wait({ timeoutMs: 5 }), TimeoutError)
  await assert.rejects(channel.wait({ signal: AbortSignal.abort(new Error('no')) }), /no/)
  const controller = new AbortController()
  const waiting = channel.wait({ signal: controller.signal })
  controller.abort(new Error('later'))
  await assert.rejects(waiting, /later/)
})

test('the descriptor can be polled beside others', () => {
  using link = new Loopback()
  const channel = link.device.createCompletionChannel()
  const ready = new Int32Array(1)
  assert.equal(native.poll(Int32Array.of(channel.descriptor), ready, 1, 0), 0)
})

test('arming a queue without a channel is refused', () => {
  using link = new Loopback()
  assert.throws(() => link.queue.arm(), ArgumentError)
})
