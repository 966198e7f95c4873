import assert from 'node:assert/strict'
import test from 'node:test'
import { ArgumentError, MapFlag, native, SystemError } from '../../src/native/index.ts'
import { inChild } from './elsewhere.ts'
import { Memory, mappingsOf, pageBytes } from './resources.ts'

test('one object mapped twice is the same memory at two addresses', () => {
  using memory = new Memory(4 * pageBytes)
  const first = new Int32Array(memory.map(0, 4 * pageBytes))
  const second = new Int32Array(memory.map(0, 4 * pageBytes))
  assert.notEqual(native.addressOf(first), native.addressOf(second))
  assert.equal(Atomics.add(first, 1024, 5), 0)
  assert.equal(Atomics.load(second, 1024), 5)
  native.unmapMemory(first.buffer)
  assert.equal(Atomics.load(second, 1024), 5, 'unmapping one leaves the other')
  native.unmapMemory(second.buffer)
})

test('a part of an object is mapped from its offset', () => {
  using memory = new Memory(4 * pageBytes)
  const whole = new Uint8Array(memory.map(0, 4 * pageBytes))
  const part = new Uint8Array(memory.map(2 * pageBytes, pageBytes))
  whole[2 * pageBytes + 3] = 9
  assert.equal(part.length, pageBytes)
  assert.equal(part[3], 9)
  native.unmapMemory(whole.buffer)
  native.unmapMemory(part.buffer)
})

test('closing the descriptor leaves the mapping', () => {
  const memory = new Memory(pageBytes)
  const bytes = new Uint8Array(memory.map(0, pageBytes))
  memory[Symbol.dispose]()
  bytes[0] = 1
  assert.equal(bytes[0], 1)
  native.unmapMemory(bytes.buffer)
})

test('unmapping leaves memory of nobody behind, and may be repeated', () => {
  using memory = new Memory(pageBytes)
  const before = mappingsOf('aether-test')
  const buffer = memory.map(0, pageBytes)
  const bytes = new Uint8Array(buffer)
  bytes[0] = 7
  assert.equal(mappingsOf('aether-test'), before + 1)
  native.unmapMemory(buffer)
  assert.equal(mappingsOf('aether-test'), before)
  assert.equal(bytes[0], 0)
  bytes[0] = 9
  native.unmapMemory(buffer)
  assert.equal(bytes[0], 9)
  assert.equal(new Uint8Array(memory.map(0, pageBytes))[0], 7)
})

test('only what mapMemory made can be unmapped', () => {
  assert.throws(() => native.unmapMemory(new ArrayBuffer(pageBytes)), ArgumentError)
  assert.throws(() => native.unmapMemory(new SharedArrayBuffer(pageBytes) as unknown as ArrayBuffer), ArgumentError)
  assert.throws(() => native.unmapMemory(new Uint8Array(8) as unknown as ArrayBuffer), ArgumentError)
})

test('pages are faulted in on request', () => {
  using memory = new Memory(8 * pageBytes)
  const lazy = memory.map(0, pageBytes)
  const eager = native.mapMemory(memory.descriptor, 0, 4 * pageBytes, MapFlag.Populate)
  assert.equal(native.describeMemory(memory.descriptor).allocatedBytes, 4 * pageBytes)
  for (const buffer of [lazy, eager]) native.unmapMemory(buffer)
})

const noLocking = process.env['LD_PRELOAD']?.includes('asan') === true && 'AddressSanitizer makes mlock do nothing'

test('locked pages are present', { skip: noLocking }, () => {
  using memory = new Memory(8 * pageBytes)
  const locked = native.mapMemory(memory.descriptor, 0, 8 * pageBytes, MapFlag.Lock)
  assert.equal(native.describeMemory(memory.descriptor).allocatedBytes, 8 * pageBytes)
  native.unmapMemory(locked)
})

test('offsets, lengths and flags that cannot be are refused', () => {
  using memory = new Memory(4 * pageBytes)
  const { descriptor } = memory
  assert.throws(() => native.mapMemory(descriptor, 1, pageBytes, 0), /offsetBytes must be a multiple of 4096/)
  assert.throws(() => native.mapMemory(descriptor, 0, 100, 0), ArgumentError)
  assert.throws(() => native.mapMemory(descriptor, 0, 0, 0), ArgumentError)
  assert.throws(() => native.mapMemory(descriptor, 0, -pageBytes, 0), ArgumentError)
  assert.throws(() => native.mapMemory(descriptor, 0, pageBytes, 4), ArgumentError)
  assert.throws(() => native.mapMemory(descriptor, 0, 2 ** 33, 0), /4 GiB/)
})

test('what lies beyond the end of the object cannot be mapped: touching it would end the process', () => {
  using memory = new Memory(4 * pageBytes)
  assert.throws(() => memory.map(0, 5 * pageBytes), /ends at 16384/)
  assert.throws(() => memory.map(4 * pageBytes, pageBytes), ArgumentError)
  native.resizeMemory(memory.descriptor, 5 * pageBytes)
  native.unmapMemory(memory.map(4 * pageBytes, pageBytes))
})

test('only memory objects and files can be mapped', () => {
  const [readEnd, writeEnd] = native.createPipe()
  assert.throws(() => native.mapMemory(readEnd, 0, pageBytes, 0), ArgumentError)
  native.closeDescriptor(readEnd)
  native.closeDescriptor(writeEnd)
  assert.throws(() => native.mapMemory(readEnd, 0, pageBytes, 0), SystemError)
})

test('addresses follow the offset of a view', () => {
  using memory = new Memory(pageBytes)
  const buffer = memory.map(0, pageBytes)
  const address = native.addressOf(buffer)
  assert.equal(address % pageBytes, 0)
  assert.equal(native.addressOf(new Int32Array(buffer, 16)), address + 16)
  assert.equal(native.addressOf(new DataView(buffer, 3)), address + 3)
  assert.ok(native.addressOf(new SharedArrayBuffer(64)) > 0)
  native.unmapMemory(buffer)
})

test('what is not referenced any more is unmapped once, and never what has taken its place', async () => {
  const outcome = await inChild(
    async ({ aether: { native }, fs }) => {
      const collect = globalThis.gc
      if (collect === undefined) throw new Error('started without --expose-gc')
      const mapped = () => fs.readFileSync('/proc/self/maps', 'utf8').split('/memfd:aether-test').length - 1
      const descriptor = native.createMemory('aether-test', 4096, 0)
      // Half of the buffers are unmapped by hand before they are collected; the next mapping takes the address.
      let last: Int32Array | undefined
      for (let round = 0; round < 200; round += 1) {
        const early = native.mapMemory(descriptor, 0, 4096, 0)
        native.unmapMemory(early)
        last = new Int32Array(native.mapMemory(descriptor, 0, 4096, 0))
        Atomics.add(last, 0, 1)
        if (round % 20 === 0) collect()
        await new Promise(setImmediate)
      }
      for (let round = 0; round < 100 && mapped() > 1; round += 1) {
        collect()
        await new Promise(setImmediate)
      }
      if (last === undefined || Atomics.load(last, 0) !== 200) throw new Error('the last mapping was lost')
      if (mapped() !== 1) throw new Error(`${mapped()} mappings are left where one is referenced`)
    },
    undefined,
    { flags: ['--expose-gc'] },
  )
  assert.deepEqual([outcome.code, outcome.stderr], [0, ''])
})
