import { strict as assert } from 'node:assert'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { ArgumentError, native, UnsupportedError } from '../../src/native/index.ts'
import {
  Access,
  CompletionBatch,
  type CompletionError,
  CompletionStatus,
  type OpenDeviceOptions,
  openDevice,
  type VerbsError,
} from '../../src/verbs/index.ts'
import { ALL_ACCESS, Loopback } from './loopback.ts'

const READ_WRITE = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite

/** A pair connected to itself, on a device that was opened with `options`. */
function open(options: OpenDeviceOptions) {
  const device = openDevice('shm0', options)
  const domain = device.createProtectionDomain()
  const memory = domain.allocate(4096, ALL_ACCESS)
  const queue = device.createCompletionQueue({ depth: 64 })
  const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
  pair.connect(pair.endpoint)
  return { device, domain, memory, queue, pair, [Symbol.dispose]: () => device.close() }
}

function errno(name: string): (error: VerbsError) => boolean {
  return (error) => error.errnoName === name
}

test('reregistered memory has its new place and keys, and moves to another domain with all that follows', () => {
  using link = new Loopback()
  const { memory, domain, device } = link
  const key = memory.remoteKey
  memory.reregister({ buffer: new Uint8Array(64).fill(3), access: READ_WRITE })
  assert.deepEqual([memory.length, memory.bytes[63]], [64, 3])
  assert.notEqual(memory.remoteKey, key)
  link.pair.readSync({ local: link.domain.allocate(64, ALL_ACCESS).subarray(), remote: memory.token })
  const other = device.createProtectionDomain()
  memory.reregister({ domain: other })
  assert.equal(memory.domain, other)
  domain.close()
  assert.equal(memory.closed, false)
  other.close()
  assert.ok(memory.closed)
})

test('reregistration refuses what does not go together, and an origin without a buffer', () => {
  using link = new Loopback()
  const { memory } = link
  const before = memory.token
  assert.throws(() => memory.reregister({ access: Access.RemoteAtomic }), errno('EINVAL'))
  assert.throws(() => memory.reregister({ buffer: new ArrayBuffer(8) }), UnsupportedError)
  assert.throws(() => memory.reregister({ origin: { descriptor: 0, offsetBytes: 0 } }), ArgumentError)
  assert.deepEqual(memory.token, before)
})

test('a zero-based region is addressed from 0', () => {
  using link = new Loopback()
  const memory = link.domain.register(new Uint8Array(64).fill(6), READ_WRITE | Access.ZeroBased)
  assert.equal(memory.address, 0)
  link.pair.readSync({ local: link.memory.subarray(0, 8), remote: { address: 56, key: memory.remoteKey } })
  assert.equal(link.memory.bytes[7], 6)
})

test('device memory is limited, aligned, and given back', () => {
  using link = new Loopback()
  const { device, domain } = link
  const { maxDeviceMemoryBytes } = device.attributes
  const memory = device.allocateDeviceMemory(maxDeviceMemoryBytes - 4, { alignmentBytes: 64 })
  assert.throws(() => device.allocateDeviceMemory(8), errno('ENOMEM'))
  assert.throws(() => device.allocateDeviceMemory(8, { alignmentBytes: 3 }), ArgumentError)
  const region = domain.registerDeviceMemory(memory, Access.LocalWrite, { offset: 8 })
  assert.deepEqual([region.length, region.bytes.length], [memory.length - 8, 0])
  region.close()
  memory.close()
  device.allocateDeviceMemory(maxDeviceMemoryBytes).close()
})

test('a key to the whole address space is made only by who opened the device for that', () => {
  using link = new Loopback()
  assert.throws(() => link.domain.registerImplicit(READ_WRITE), errno('EPERM'))
})

test('implicit on-demand paging reaches plain buffers on both sides', async () => {
  using link = open({ allowProcessCopy: true })
  const { domain, pair } = link
  const all = domain.registerImplicit(READ_WRITE)
  assert.throws(() => domain.registerImplicit(ALL_ACCESS), UnsupportedError)
  // More than one bounce.
  const from = new Uint8Array(200_000).map((_, index) => index)
  const to = new Uint8Array(from.length)
  const at = { address: native.addressOf(to), key: all.remoteKey }
  await pair.write({ local: { address: native.addressOf(from), length: from.length, key: all.localKey }, remote: at })
  assert.deepEqual(to, from)
  domain.advise('prefetch', [{ address: at.address, length: to.length, key: all.localKey }], { flush: true })
  domain.advise('prefetch-no-fault', [{ address: 0, length: 1, key: all.localKey }])
})

test('physical memory is there only where the device was opened with it', () => {
  using without = new Loopback()
  assert.throws(
    () => without.domain.registerPhysical(ALL_ACCESS),
    (error: VerbsError) => error.errnoName === 'EPERM' && /physicalBytes/.test(error.message),
  )
  assert.throws(() => openDevice('shm0', { physicalBytes: -1 }), ArgumentError)
})

test('the four calls for physical memory', () => {
  using link = open({ physicalBytes: 8192 })
  const { domain, memory, pair, queue } = link
  const physical = domain.registerPhysical(ALL_ACCESS)
  assert.deepEqual([physical.address, physical.length, physical.bytes.length], [0, 8192, 8192])
  const peer = pair.physicalPeer(physical.remoteKey)
  memory.bytes.set([1, 2, 3, 4])
  const batch = new CompletionBatch(4)
  peer.writeSignaled(11, { local: memory.subarray(0, 4), physicalAddress: 100 })
  assert.equal(queue.poll(batch), 1)
  assert.deepEqual([batch.id[0], batch.status[0]], [11, CompletionStatus.Success])
  peer.readSignaled(12, { local: memory.subarray(64, 68), physicalAddress: 100 })
  assert.equal(queue.poll(batch), 1)
  assert.equal(batch.id[0], 12)
  assert.deepEqual([...memory.bytes.subarray(64, 68)], [1, 2, 3, 4])
  peer.writeSync({ local: memory.subarray(0, 4), physicalAddress: 8188 })
  assert.deepEqual([...physical.bytes.subarray(8188)], [1, 2, 3, 4])
  assert.equal(peer.readSync({ local: memory.subarray(128, 132), physicalAddress: 8188 }).byteLength, 4)
  assert.throws(
    () => peer.readSync({ local: memory.subarray(128, 132), physicalAddress: 8189 }),
    (error: CompletionError) => error.status === CompletionStatus.RemoteAccessError,
  )
})

test('a parent domain serves as its domain, and goes with it', () => {
  using link = new Loopback()
  const { device, domain, pair } = link
  const parent = domain.createParentDomain(device.createThreadDomain())
  assert.equal(parent.base, domain)
  const memory = parent.allocate(64, ALL_ACCESS)
  pair.writeSync({ local: memory.subarray(0, 8), remote: { address: memory.address + 8, key: memory.remoteKey } })
  domain.close()
  assert.ok(parent.closed && memory.closed)
})

test('an indirect key gathers pieces, awaited and prepared', async () => {
  using link = new Loopback()
  const { domain, pair, peer, memory } = link
  memory.bytes.set(Uint8Array.from({ length: 256 }, (_, index) => index))
  const key = domain.createIndirectKey({ maxPieces: 2 })
  await peer.configureKey(key, { access: READ_WRITE, pieces: [memory.subarray(10, 12), memory.subarray(100, 103)] })
  pair.readSync({ local: memory.subarray(512, 517), remote: { address: 0, key: key.remoteKey } })
  assert.deepEqual([...memory.bytes.subarray(512, 517)], [10, 11, 100, 101, 102])
  const { address, localKey } = memory
  const interleaved = [{ address: address + 20, length: 1, skip: 3, key: localKey }]
  peer.configureKeySync(key, { access: READ_WRITE, interleaved, repeat: 4 })
  pair.writeSync({ local: key.segment(1, 3), remote: link.remote(1024) })
  assert.deepEqual([...memory.bytes.subarray(1024, 1027)], [24, 28, 32])
})

test('layouts that cannot be are refused by name', () => {
  using link = new Loopback()
  const { domain, peer, memory } = link
  const key = domain.createIndirectKey({ maxPieces: 1 })
  const access = READ_WRITE
  const many = Array.from({ length: key.maxPieces + 1 }, () => memory.subarray(0, 1))
  const interleaved = [{ address: memory.address, length: 1, skip: 0, key: memory.localKey }]
  for (const layout of [
    { access, pieces: [] },
    { access, pieces: many },
    { access, pieces: [memory.subarray(0, 0)] },
    { access, interleaved, repeat: 0 },
    { access, interleaved: [{ ...interleaved[0], skip: -1 }] as typeof interleaved, repeat: 1 },
  ])
    assert.throws(() => peer.prepareConfigureKey(key, layout), ArgumentError)
  assert.throws(() => domain.createIndirectKey({ maxPieces: 0 }), ArgumentError)
  assert.throws(() => domain.createIndirectKey({ maxPieces: 1 << 20 }), errno('EINVAL'))
})

test('descriptors and mappings of all of these are given back', () => {
  const round = (): void => {
    using link = open({ allowProcessCopy: true, physicalBytes: 4096 })
    const { device, domain, pair, memory } = link
    domain.registerPhysical(ALL_ACCESS)
    domain.registerImplicit(READ_WRITE)
    domain.registerDeviceMemory(device.allocateDeviceMemory(64), ALL_ACCESS)
    memory.reregister({ buffer: new ArrayBuffer(64), access: READ_WRITE | Access.MemoryWindowBind })
    pair.bindSync({ window: domain.createMemoryWindow(2), memory, access: Access.RemoteRead })
    const key = domain.createIndirectKey({ maxPieces: 2 })
    pair.configureKeySync(key, { access: READ_WRITE, pieces: [memory.subarray()] })
    domain.createParentDomain(device.createThreadDomain()).allocate(64, ALL_ACCESS)
  }
  round()
  const before = readdirSync('/proc/self/fd').length
  for (let index = 0; index < 20; index += 1) round()
  assert.equal(readdirSync('/proc/self/fd').length, before)
})
