import { strict as assert } from 'node:assert'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { ArgumentError, ClosedError, native, UnsupportedError } from '../../src/native/index.ts'
import {
  Access,
  CompletionBatch,
  deviceNames,
  formatGid,
  openDevice,
  parseGid,
  VerbsError,
} from '../../src/verbs/index.ts'
import { ALL_ACCESS, Loopback } from './loopback.ts'

test('closing the device closes everything under it, twice is harmless, and use afterwards throws', () => {
  const link = new Loopback()
  const { bytes } = link.memory
  bytes[0] = 7
  link.device.close()
  link.device.close()
  for (const noun of [link.pair, link.peer, link.memory, link.queue, link.domain, link.device])
    assert.ok(noun.closed, noun.label)
  assert.equal(bytes[0], 0, 'memory of nobody is in its place, so that a stray access is harmless')
  assert.throws(() => link.memory.bytes, ClosedError)
  assert.throws(() => link.queue.poll(new CompletionBatch(1)), ClosedError)
  assert.throws(() => link.pair.state, ClosedError)
  assert.throws(() => link.domain.allocate(8, ALL_ACCESS), ClosedError)
})

test('a prepared request of a closed queue pair does not post', () => {
  using link = new Loopback()
  const write = link.pair.prepareWrite({ local: link.memory.subarray(0, 8), remote: link.remote(8) })
  link.pair.close()
  assert.throws(() => write.post(1), ClosedError)
})

test('a queue that is in use names its users and stays open', () => {
  using link = new Loopback()
  assert.throws(
    () => link.queue.close(),
    (error: VerbsError) => {
      assert.equal(error.errnoName, 'EBUSY')
      assert.match(error.message, new RegExp(String(link.pair.number)))
      return true
    },
  )
  assert.equal(link.queue.closed, false)
})

test('descriptors and mappings are given back', () => {
  const round = (): void => {
    using link = new Loopback()
    link.pair.writeSync({ local: link.memory.subarray(0, 8), remote: link.remote(8) })
    link.device.createCompletionQueue({ depth: 4, channel: link.device.createCompletionChannel() })
  }
  round()
  const before = readdirSync('/proc/self/fd').length
  for (let index = 0; index < 50; index += 1) round()
  assert.equal(readdirSync('/proc/self/fd').length, before)
})

test('an unknown device names those there are', () => {
  const names = deviceNames()
  assert.deepEqual([names[0], names.includes('tcp-lo')], ['shm0', true])
  assert.throws(
    () => openDevice('mlx5_9'),
    (error: VerbsError) => error.errnoName === 'ENODEV' && names.every((name) => error.message.includes(name)),
  )
})

test('what the device cannot do is Unsupported', () => {
  using link = new Loopback()
  const { domain } = link
  assert.throws(() => domain.register(new ArrayBuffer(64), ALL_ACCESS), UnsupportedError)
})

test('arguments that cannot be right are refused by name', () => {
  using link = new Loopback()
  assert.throws(() => link.domain.allocate(0, ALL_ACCESS), ArgumentError)
  assert.throws(() => link.domain.register(new ArrayBuffer(0), Access.LocalWrite), ArgumentError)
  assert.throws(() => link.memory.subarray(10, 5), ArgumentError)
  assert.throws(() => link.memory.subarray(0, link.memory.length + 1), ArgumentError)
  assert.throws(() => link.device.createCompletionQueue({ depth: 0 }), ArgumentError)
  assert.throws(() => new CompletionBatch(0), ArgumentError)
  const write = link.pair.prepareWrite({ local: link.memory.subarray(0, 8), remote: link.remote(8) })
  assert.throws(() => write.post(-1), ArgumentError)
  assert.throws(() => write.post(1.5), ArgumentError)
  assert.throws(() => {
    write.remoteKey = 2 ** 32
  }, ArgumentError)
})

test('a request is patched in place between posts', () => {
  using link = new Loopback()
  const write = link.pair.prepareWrite({ local: link.memory.subarray(0, 8), remote: link.remote(8) })
  link.memory.bytes.set([1, 2, 3])
  write.setSegment(0, link.memory.address + 1, 2, link.memory.localKey)
  write.remoteAddress = link.memory.address + 4000
  write.post(1)
  assert.deepEqual([...link.memory.bytes.subarray(3999, 4003)], [0, 2, 3, 0])
})

test('memory of the caller that maps a memory object is registered with where it lies', () => {
  using link = new Loopback()
  const descriptor = native.createMemory('test', 16_384, 0)
  const buffer = native.mapMemory(descriptor, 4096, 8192, 0)
  const memory = link.domain.register(buffer, ALL_ACCESS, { descriptor, offsetBytes: 4096 })
  native.closeDescriptor(descriptor)
  assert.equal(link.pair.fetchAddSync({ remote: { address: memory.address + 8, key: memory.remoteKey }, add: 3n }), 0n)
  assert.equal(new BigInt64Array(buffer)[1], 3n)
  memory.close()
  assert.equal(buffer.byteLength, 8192, "the buffer stays the caller's")
  native.unmapMemory(buffer)
})

test('memory that the machine does not have is ENOMEM, and nothing is left behind', () => {
  using link = new Loopback()
  const before = readdirSync('/proc/self/fd').length
  assert.throws(() => link.domain.allocate(2 ** 40, ALL_ACCESS), VerbsError)
  assert.equal(readdirSync('/proc/self/fd').length, before)
})

test('a gid goes through text and back', () => {
  using link = new Loopback()
  const text = formatGid(link.device.gid)
  assert.match(text, /^([0-9a-f]{4}:){7}[0-9a-f]{4}$/)
  assert.equal(parseGid(text), link.device.gid)
  assert.throws(() => parseGid('fe80::1'), ArgumentError)
})
