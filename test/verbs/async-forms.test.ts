import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { ArgumentError, ClosedError } from '../../src/native/index.ts'
import { Access, QueuePairState, TransitionError, VerbsError } from '../../src/verbs/index.ts'
import { ALL_ACCESS, Loopback } from './loopback.ts'

test('memory of the asynchronous forms is as that of the synchronous ones', async () => {
  using link = new Loopback()
  const region = await link.domain.allocateAsync(5000, ALL_ACCESS)
  assert.deepEqual([region.length, region.access, region.bytes.length], [5000, ALL_ACCESS, 5000])
  region.bytes.fill(9, 0, 8)
  const local = await link.domain.registerAsync(new Uint8Array(64), Access.LocalWrite)
  link.pair.readSync({ local: local.subarray(0, 8), remote: region.token })
  assert.equal(local.bytes[7], 9)
  region.close()
  assert.throws(() => region.bytes, ClosedError)
})

test('what the synchronous form throws, the asynchronous one rejects with', async () => {
  using link = new Loopback()
  const { domain, pair } = link
  await assert.rejects(domain.allocateAsync(0, Access.LocalWrite), ArgumentError)
  await assert.rejects(
    domain.allocateAsync(64, Access.RemoteWrite),
    (error: VerbsError) => error.errnoName === 'EINVAL',
  )
  await assert.rejects(domain.registerAsync(new Uint8Array(8), Access.RemoteAtomic), VerbsError)
  await assert.rejects(pair.connectAsync(pair.endpoint), TransitionError)
})

test('an aborted signal keeps it from beginning, and one that aborts meanwhile takes it back', async () => {
  using link = new Loopback()
  const { domain } = link
  const reason = new Error('enough')
  await assert.rejects(domain.allocateAsync(64, ALL_ACCESS, { signal: AbortSignal.abort(reason) }), reason)
  await assert.rejects(link.pair.connectAsync(link.peer.endpoint, { signal: AbortSignal.abort(reason) }), reason)
  const controller = new AbortController()
  const coming = domain.registerAsync(new Uint8Array(64), Access.LocalWrite, { signal: controller.signal })
  controller.abort(reason)
  await assert.rejects(coming, reason)
  const before = domain.memories.size
  await domain.allocateAsync(64, ALL_ACCESS, { signal: new AbortController().signal })
  assert.equal(domain.memories.size, before + 1, 'only the one that was not aborted')
})

test('closing the domain meanwhile rejects, and leaves nothing that keeps it open', async () => {
  const link = new Loopback()
  const coming = [link.domain.allocateAsync(64, ALL_ACCESS), link.domain.registerAsync(new Uint8Array(8), 1)]
  link.device.close()
  for (const promise of coming) await assert.rejects(promise, ClosedError)
  await assert.rejects(link.domain.allocateAsync(64, ALL_ACCESS), ClosedError)
})

test('queue pairs connect by it, and one that is closed meanwhile says so', async () => {
  using link = new Loopback()
  const { queue, domain } = link
  const make = () => domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
  const pair = make()
  await pair.connectAsync(pair.endpoint, { access: Access.LocalWrite | Access.RemoteRead, timeout: 9 })
  assert.equal(pair.state, QueuePairState.ReadyToSend)
  assert.deepEqual([pair.query().timeout, pair.query().access], [9, Access.LocalWrite | Access.RemoteRead])
  const other = make()
  const coming = other.connectAsync(pair.endpoint)
  other.close()
  await assert.rejects(coming, ClosedError)
})
