import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { ArgumentError } from '../../src/native/index.ts'
import {
  Access,
  CompletionBatch,
  type CompletionError,
  CompletionOpcode,
  CompletionStatus,
  type MemoryRegion,
  type VerbsError,
} from '../../src/verbs/index.ts'
import { ALL_ACCESS, Loopback } from './loopback.ts'

const { RemoteRead, RemoteWrite, MemoryWindowBind, LocalWrite, ZeroBased } = Access

/** A connection with memory of which nobody has a key. */
class Windowed extends Loopback {
  readonly hidden: MemoryRegion = this.domain.allocate(4096, LocalWrite | MemoryWindowBind)
}

function status(expected: number): (error: CompletionError) => boolean {
  return (error) => error.status === expected
}

test('a window of type 1 is bound by the window, which then has another key', () => {
  using link = new Windowed()
  const { pair, peer, hidden, domain, peerQueue } = link
  const window = domain.createMemoryWindow(1)
  const first = window.remoteKey
  const key = window.bind(peer, 7, { memory: hidden, offset: 64, length: 16, access: RemoteRead })
  assert.notEqual(key, first)
  assert.equal(window.remoteKey, key)
  const batch = new CompletionBatch(4)
  assert.equal(peerQueue.poll(batch), 1)
  assert.deepEqual([batch.id[0], batch.opcode[0]], [7, CompletionOpcode.BindMemoryWindow])
  hidden.bytes.fill(5, 64, 80)
  pair.readSync({ local: link.memory.subarray(0, 16), remote: { address: hidden.address + 64, key } })
  assert.equal(link.memory.bytes[15], 5)
})

test('a bind that is prepared once is posted again and again, its token following', () => {
  using link = new Windowed()
  const { pair, peer, hidden, domain, peerQueue, memory } = link
  const window = domain.createMemoryWindow(2)
  const bind = peer.prepareBind({ window, memory: hidden, offset: 8, length: 8, access: RemoteRead | ZeroBased })
  const batch = new CompletionBatch(4)
  const keys = new Set<number>()
  for (let round = 0; round < 3; round += 1) {
    bind.post(round)
    assert.equal(peerQueue.poll(batch), 1)
    assert.equal(batch.status[0], CompletionStatus.Success)
    assert.deepEqual({ ...bind.token, key: 0 }, { address: 0, length: 8, key: 0 })
    keys.add(bind.token.key)
    pair.readSync({ local: memory.subarray(0, 8), remote: bind.token })
    peer.localInvalidateSync(window.remoteKey)
  }
  assert.equal(keys.size, 3)
})

test('awaited binds, invalidations and messages that take a key back', async () => {
  using link = new Windowed()
  const { pair, peer, hidden, domain, memory } = link
  const window = domain.createMemoryWindow(2)
  await peer.bind({ window, memory: hidden, access: RemoteWrite })
  const remote = { address: hidden.address, key: window.remoteKey }
  await pair.write({ local: memory.subarray(0, 8), remote })
  const receiving = peer.receive({ local: memory.subarray(64, 128) })
  await pair.send({ local: memory.subarray(0, 8), invalidate: window.remoteKey })
  assert.deepEqual(await receiving, { byteLength: 8, immediate: undefined, invalidatedKey: window.remoteKey })
  await assert.rejects(pair.write({ local: memory.subarray(0, 8), remote }), status(CompletionStatus.RemoteAccessError))
})

test('a failed bind rejects, and the window keeps the key that it had', async () => {
  using link = new Windowed()
  const { peer, domain } = link
  const window = domain.createMemoryWindow(1)
  const before = window.remoteKey
  const plain = domain.allocate(64, ALL_ACCESS)
  await assert.rejects(
    peer.bind({ window, memory: plain, access: RemoteRead }),
    status(CompletionStatus.MemoryWindowBindError),
  )
  assert.equal(window.remoteKey, before)
})

test('a bind waits its turn behind requests that cannot be carried out yet', async () => {
  using link = new Windowed()
  const { pair, peer, hidden, domain, memory } = link
  const window = domain.createMemoryWindow(2)
  const waiting = peer.send({ local: memory.subarray(0, 4) })
  const binding = peer.bind({ window, memory: hidden, access: RemoteRead, keyTag: 9 })
  assert.equal(window.remoteKey & 0xff, 9, 'the key of the last bind that was posted')
  await pair.receive({ local: memory.subarray(64, 128) })
  await Promise.all([waiting, binding])
  const remote = { address: hidden.address, key: window.remoteKey }
  pair.readSync({ local: memory.subarray(0, 8), remote })
})

test('the domain closes its windows before the queue pairs that they are bound through', () => {
  using link = new Windowed()
  const { peer, hidden, domain } = link
  const window = domain.createMemoryWindow(2)
  peer.bindSync({ window, memory: hidden, access: RemoteRead })
  const order: string[] = []
  for (const [name, provider] of [
    ['window', window.provider],
    ['pair', peer.provider],
  ] as const) {
    const destroy = provider.destroy.bind(provider)
    provider.destroy = () => {
      order.push(name)
      destroy()
    }
  }
  domain.close()
  assert.deepEqual(order, ['window', 'pair'])
})

test('the domain closes its windows before its memory', () => {
  using link = new Windowed()
  const { peer, hidden, domain } = link
  const window = domain.createMemoryWindow(1)
  peer.bindSync({ window, memory: hidden, access: RemoteRead })
  assert.throws(
    () => hidden.close(),
    (error: VerbsError) => error.errnoName === 'EBUSY' && /window/.test(error.message),
  )
  domain.close()
  assert.ok(window.closed && hidden.closed)
})

test('what cannot be bound is refused by name', () => {
  using link = new Windowed()
  const { peer, hidden, domain, pair, memory } = link
  const [one, two] = [domain.createMemoryWindow(1), domain.createMemoryWindow(2)]
  const refusals: readonly [string, () => unknown][] = [
    ['keyTag', () => peer.prepareBind({ window: one, memory: hidden, keyTag: 1 })],
    ['keyTag', () => peer.prepareBind({ window: two, memory: hidden, keyTag: 256 })],
    ['window', () => two.bind(peer, 1, { memory: hidden })],
    ['memory', () => peer.prepareBind({ window: one, length: 8 })],
    ['offset', () => peer.prepareBind({ window: one, memory: hidden, offset: -1 })],
    ['key', () => peer.prepareLocalInvalidate({ key: 2 ** 32 })],
    ['invalidate', () => pair.prepareSend({ local: memory.subarray(0, 1), immediate: 1, invalidate: 2 })],
  ]
  for (const [argument, action] of refusals)
    assert.throws(action, (error: ArgumentError) => error instanceof ArgumentError && error.argument === argument)
})
