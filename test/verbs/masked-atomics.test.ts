import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { UnsupportedError } from '../../src/native/index.ts'
import { CompletionBatch, Opcode } from '../../src/verbs/index.ts'
import { Loopback } from './loopback.ts'

/** The errno of a device that does not do an operation (EOPNOTSUPP). */
const EOPNOTSUPP = 95

/** A connection whose device has no masked atomics. */
class Plain extends Loopback {
  masked = 0

  constructor() {
    super()
    const { provider } = this.pair
    const post = provider.postSend.bind(provider)
    provider.postSend = (request) => {
      const opcode = request.words[1]!
      if (opcode !== Opcode.MaskedCompareSwap && opcode !== Opcode.MaskedFetchAdd) return post(request)
      this.masked += 1
      return EOPNOTSUPP
    }
  }
}

test('masked atomics give the old value, awaited and synchronous', async () => {
  using link = new Loopback()
  const { pair } = link
  const remote = link.remote(64)
  assert.equal(await pair.maskedFetchAdd({ remote, add: 0xffff_ffffn }), 0n)
  assert.equal(pair.maskedFetchAddSync({ remote, add: 1n, boundaries: 1n << 31n }), 0xffff_ffffn)
  assert.equal(await pair.maskedCompareSwap({ remote, compare: 0n, swap: 0xabcdn, swapMask: 0xffn }), 0n)
  assert.equal(pair.maskedCompareSwapSync({ remote, compare: 0xcdn, compareMask: 0xffn, swap: 2n ** 64n - 1n }), 0xcdn)
  assert.equal(await pair.fetchAdd({ remote, add: 0n }), 2n ** 64n - 1n)
})

test('a prepared masked atomic is patched between posts', () => {
  using link = new Loopback()
  const { pair, queue, memory } = link
  const remote = link.remote(64)
  const request = pair.prepareMaskedCompareSwap({ local: memory.subarray(0, 8), remote, compare: 0n, swap: 7n })
  const batch = new CompletionBatch(1)
  request.post(1)
  queue.poll(batch)
  request.compare = 7n
  request.swap = 0xff00n
  request.swapMask = 0xff00n
  request.post(2)
  queue.poll(batch)
  assert.equal(pair.fetchAddSync({ remote, add: 0n }), 0xff07n)
  const add = pair.prepareMaskedFetchAdd({ local: memory.subarray(0, 8), remote, add: 0xffn })
  add.boundaries = 1n << 7n
  add.post(3)
  queue.poll(batch)
  assert.equal(pair.fetchAddSync({ remote, add: 0n }), 0xff06n)
})

test("swap is the device's where it has one", async () => {
  using link = new Loopback()
  const { pair } = link
  const remote = link.remote(64)
  pair.fetchAddSync({ remote, add: 2n ** 63n })
  assert.deepEqual(await pair.swap({ remote, value: 5n }), { old: 2n ** 63n, method: 'device', attempts: 1 })
  assert.deepEqual(pair.swapSync({ remote, value: 6n }), { old: 5n, method: 'device', attempts: 1 })
})

test('where the device has none, swap is a loop that says so, and the device is asked once', async () => {
  using link = new Plain()
  const { pair } = link
  const remote = link.remote(64)
  assert.deepEqual(await pair.swap({ remote, value: 5n }), { old: 0n, method: 'compare-swap', attempts: 1 })
  assert.deepEqual(pair.swapSync({ remote, value: 6n }), { old: 5n, method: 'compare-swap', attempts: 2 })
  assert.equal(link.masked, 1)
})

test('an operation that the device does not do is Unsupported, and its slot and cell are free again', async () => {
  using link = new Plain()
  const { pair } = link
  for (let index = 0; index < 2 * pair.capacities.maxSendRequests; index += 1)
    await assert.rejects(pair.maskedFetchAdd({ remote: link.remote(64), add: 1n }), UnsupportedError)
  assert.equal(await pair.fetchAdd({ remote: link.remote(64), add: 1n }), 0n)
})
