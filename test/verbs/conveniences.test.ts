import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { TimeoutError } from '../../src/native/index.ts'
import { CompletionBatch, CompletionError, CompletionStatus, type VerbsError } from '../../src/verbs/index.ts'
import { Loopback } from './loopback.ts'

test('read and write move bytes, awaited and synchronous', async () => {
  using link = new Loopback()
  const { pair, memory } = link
  memory.bytes.set([1, 2, 3, 4])
  assert.deepEqual(await pair.write({ local: memory.subarray(0, 4), remote: link.remote(100) }), {
    byteLength: 4,
    immediate: undefined,
  })
  pair.readSync({ local: memory.subarray(200, 204), remote: link.remote(100) })
  assert.deepEqual([...memory.bytes.subarray(200, 204)], [1, 2, 3, 4])
})

test('atomics give the old value as unsigned bigint', async () => {
  using link = new Loopback()
  const { pair } = link
  assert.equal(await pair.fetchAdd({ remote: link.remote(64), add: 2n ** 63n }), 0n)
  assert.equal(pair.fetchAddSync({ remote: link.remote(64), add: 1n }), 2n ** 63n)
  assert.equal(await pair.compareSwap({ remote: link.remote(64), compare: 0n, swap: 5n }), 2n ** 63n + 1n)
  assert.equal(pair.compareSwapSync({ remote: link.remote(64), compare: 2n ** 63n + 1n, swap: 5n }), 2n ** 63n + 1n)
  assert.equal(pair.fetchAddSync({ remote: link.remote(64), add: 0n }), 5n)
})

test('more atomics in flight than the send queue holds are refused, and the cells come back', async () => {
  using link = new Loopback({ maxSendRequests: 2 })
  const { pair } = link
  // A SEND that waits for a receive keeps the queue busy, so that atomics stay in flight.
  const waiting = pair.send({ local: link.memory.subarray(0, 1) })
  const adding = pair.fetchAdd({ remote: link.remote(64), add: 1n })
  await assert.rejects(
    pair.fetchAdd({ remote: link.remote(64), add: 1n }),
    (error: VerbsError) => error.errnoName === 'ENOMEM',
  )
  await Promise.all([link.peer.receive({ local: link.memory.subarray(512, 520) }), waiting])
  assert.equal(await adding, 0n)
  for (let value = 1n; value < 10n; value += 1n)
    assert.equal(await pair.fetchAdd({ remote: link.remote(64), add: 1n }), value)
})

test('send and receive meet, whichever comes first', async () => {
  using link = new Loopback()
  const { pair, peer, memory } = link
  memory.bytes.set([9, 8], 0)
  const received = peer.receive({ local: memory.subarray(1000, 1016) })
  await pair.send({ local: memory.subarray(0, 2), immediate: 77 })
  assert.deepEqual(await received, { byteLength: 2, immediate: 77 })
  const sending = pair.send({ local: memory.subarray(0, 2) })
  assert.equal((await peer.receive({ local: memory.subarray(2000, 2016) })).byteLength, 2)
  await sending
  assert.deepEqual([...memory.bytes.subarray(2000, 2002)], [9, 8])
})

test('a failed operation rejects with its status and what it means', async () => {
  using link = new Loopback()
  const failing = link.pair.write({
    local: link.memory.subarray(0, 8),
    remote: { address: link.memory.address, key: 1 },
  })
  await assert.rejects(failing, (error: CompletionError) => {
    assert.ok(error instanceof CompletionError)
    assert.equal(error.status, CompletionStatus.RemoteAccessError)
    assert.match(error.message, /the peer protects that memory/)
    return true
  })
})

test('completions of the user are kept while a convenience polls', async () => {
  using link = new Loopback()
  const { pair, queue, memory } = link
  const write = pair.prepareWrite({ local: memory.subarray(0, 8), remote: link.remote(8) })
  for (let id = 0; id < 20; id += 1) write.post(id)
  await pair.read({ local: memory.subarray(0, 8), remote: link.remote(64) })
  const batch = new CompletionBatch(7)
  const ids: number[] = []
  for (let count = queue.poll(batch); count > 0; count = queue.poll(batch)) ids.push(...batch.id.subarray(0, count))
  assert.deepEqual(
    ids,
    Array.from({ length: 20 }, (_, id) => id),
  )
})

test('an abort stops the waiting; the operation goes on and keeps its slot until it completes', async () => {
  using link = new Loopback({ maxSendRequests: 1 })
  const { pair, peer, memory } = link
  const controller = new AbortController()
  const sending = pair.send({ local: memory.subarray(0, 4) }, { signal: controller.signal })
  controller.abort(new Error('enough'))
  await assert.rejects(sending, /enough/)
  assert.throws(
    () => pair.prepareSend({ local: memory.subarray(0, 4) }).post(1),
    (error: VerbsError) => error.errnoName === 'ENOMEM',
  )
  assert.equal((await peer.receive({ local: memory.subarray(100, 104) })).byteLength, 4)
  // Its completion is not the user's: it is swallowed, and frees the slot.
  assert.equal(link.queue.poll(new CompletionBatch(4)), 0)
  pair.writeSync({ local: memory.subarray(0, 4), remote: link.remote(200) })
})

test('a signal that is aborted already rejects at once', async () => {
  using link = new Loopback()
  const sending = link.pair.send(
    { local: link.memory.subarray(0, 4) },
    { signal: AbortSignal.abort(new Error('before')) },
  )
  await assert.rejects(sending, /before/)
})

test('a synchronous wait ends with a time-out that says that it may have been carried out', () => {
  using link = new Loopback()
  const act = (): unknown => link.pair.sendSync({ local: link.memory.subarray(0, 4) }, { timeoutMs: 5 })
  assert.throws(
    act,
    (error: Error) =>
      error instanceof TimeoutError &&
      /send did not complete within 5 ms; it may or may not have been carried out/.test(error.message),
  )
})

test('closing the device settles what is in flight', async () => {
  const link = new Loopback()
  const sending = link.pair.send({ local: link.memory.subarray(0, 4) })
  const rejected = assert.rejects(sending, { code: 'ERR_AETHER_CLOSED' })
  link.device.close()
  await rejected
})
