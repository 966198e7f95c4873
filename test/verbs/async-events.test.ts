import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { AsyncEventType, openDevice, type QueuePair, QueuePairState } from '../../src/verbs/index.ts'
import { Loopback } from './loopback.ts'

function drain(pair: QueuePair): void {
  pair.modify({ state: QueuePairState.SendQueueDrained, sqdNotify: true })
}

test('events come as they happen, with the noun that they are about', async () => {
  using link = new Loopback()
  const events = link.device.events({ keepAlive: true })
  setImmediate(() => drain(link.pair))
  const { value, done } = await events.next()
  assert.equal(done, false)
  assert.equal(value?.type, AsyncEventType.SendQueueDrained)
  assert.equal(value?.name, 'SendQueueDrained')
  assert.equal(value?.queuePair, link.pair)
  await events.return()
})

test('events that wait are taken without blocking, once', () => {
  using link = new Loopback()
  assert.deepEqual(link.device.drainEvents(), [])
  drain(link.pair)
  assert.equal(link.device.drainEvents().length, 1)
  assert.deepEqual(link.device.drainEvents(), [])
})

test('an overrun completion queue and the queue pair that it takes along are both told', () => {
  using link = new Loopback()
  const queue = link.device.createCompletionQueue({ depth: 2 })
  const pair = link.domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: link.queue })
  pair.connect(pair.endpoint)
  const write = pair.prepareWrite({ local: link.memory.subarray(0, 8), remote: link.remote(64) })
  for (let id = 0; id <= queue.depth; id += 1) write.post(id)
  const events = link.device.drainEvents().map((event) => [event.name, event.completionQueue ?? event.queuePair])
  assert.deepEqual(events, [
    ['CompletionQueueError', queue],
    ['QueuePairFatal', pair],
  ])
  assert.equal(pair.state, QueuePairState.Error)
})

test('waiting for events ends with the device', async () => {
  const device = openDevice('shm0')
  const next = device.events({ keepAlive: true }).next()
  setImmediate(() => device.close())
  assert.deepEqual(await next, { value: undefined, done: true })
})

test('waiting for events ends with the reason of its signal', async () => {
  using device = openDevice('shm0')
  const reason = new Error('enough')
  const controller = new AbortController()
  const next = device.events({ signal: controller.signal, keepAlive: true }).next()
  setImmediate(() => controller.abort(reason))
  await assert.rejects(next, (error) => error === reason)
})

test('each end takes no more READs at once than the other serves or asks for', () => {
  using link = new Loopback()
  const { maxReadAtomic } = link.device.attributes
  const pair = link.domain.createQueuePair({ type: 'rc', sendQueue: link.queue, receiveQueue: link.queue })
  pair.connect({ ...link.pair.endpoint, responderResources: 3, initiatorDepth: 2 })
  const { maxReadAtomic: initiates, maxDestinationReadAtomic: serves } = pair.query()
  assert.deepEqual([initiates, serves], [3, 2])
  pair.toReset()
  pair.connect({ ...link.pair.endpoint, responderResources: 255, initiatorDepth: 255 })
  assert.equal(pair.query().maxReadAtomic, maxReadAtomic)
  pair.toReset()
  pair.connect(link.pair.endpoint, { maxReadAtomic: 1 })
  assert.equal(pair.query().maxReadAtomic, 1)
})

test('types that have no queue say so when asked for it', () => {
  using link = new Loopback()
  const pair = link.domain.createQueuePair({ type: 'xrc-send', sendQueue: link.queue })
  assert.equal(pair.sendQueue, link.queue)
  assert.throws(() => pair.receiveQueue, /have no receive queue/)
  assert.throws(
    () => link.domain.createQueuePair({ type: 'rc', sendQueue: link.queue }),
    /type rc receives; pass a completion queue as `receiveQueue`/,
  )
})
