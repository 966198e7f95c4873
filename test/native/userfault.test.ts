import assert from 'node:assert/strict'
import { constants } from 'node:os'
import test from 'node:test'
import { ArgumentError, FAULT_NUMBERS, FaultFlag, native, SystemError } from '../../src/native/index.ts'
import { mappingsOf, pageBytes } from './resources.ts'
import { Stage, userfaultRefused } from './toucher.ts'

const skip = userfaultRefused()
const wordsPerPage = pageBytes / 4

test('the features that are needed are granted', { skip }, () => {
  const { descriptor, features, userModeOnly } = native.openUserfault()
  native.closeDescriptor(descriptor)
  const [pagefaultFlagWp, threadId, minorShmem, wpShmem] = [1 << 0, 1 << 8, 1 << 10, 1 << 12]
  assert.equal(features & pagefaultFlagWp, pagefaultFlagWp)
  assert.equal(features & threadId, threadId)
  assert.equal(features & minorShmem, minorShmem)
  assert.equal(features & wpShmem, wpShmem)
  assert.equal(typeof userModeOnly, 'boolean')
})

test('a hole faults as missing, cannot be continued, and can once it is filled', { skip }, async () => {
  await using stage = await Stage.open(4)
  stage.toucher.read(wordsPerPage + 7)
  assert.deepEqual(stage.fault(), { address: stage.page(1), flags: 0, threadId: stage.toucher.threadId })
  assert.equal(native.installPages(stage.descriptor, stage.page(1), pageBytes, false), -constants.errno.EFAULT)
  assert.equal(stage.toucher.isDone(), false)
  stage.frames[wordsPerPage + 7] = 77
  assert.equal(native.installPages(stage.descriptor, stage.page(1), pageBytes, false), pageBytes)
  assert.equal(stage.toucher.finish(), 77)
})

test('a filled page that is not in the view faults as minor, and reads what the frame holds', { skip }, async () => {
  await using stage = await Stage.open(4)
  stage.frames[0] = 11
  stage.toucher.read(0)
  assert.equal(stage.fault().flags, FaultFlag.Minor)
  assert.equal(native.installPages(stage.descriptor, stage.page(0), pageBytes, false), pageBytes)
  assert.equal(stage.toucher.finish(), 11)
  stage.toucher.write(1, 12)
  stage.toucher.finish()
  assert.equal(Atomics.load(stage.frames, 1), 12, 'a page that is not protected takes writes without a fault')
  stage.noFault()
})

test('a write says so, and a page installed protected faults again at the first write', { skip }, async () => {
  await using stage = await Stage.open(4)
  stage.frames[0] = 1
  stage.toucher.write(0, 2)
  assert.equal(stage.fault().flags, FaultFlag.Write | FaultFlag.Minor)
  assert.equal(native.installPages(stage.descriptor, stage.page(0), pageBytes, true), pageBytes)
  assert.equal(stage.fault().flags, FaultFlag.Write | FaultFlag.WriteProtect)
  assert.equal(Atomics.load(stage.frames, 0), 1)
  assert.equal(native.protectPages(stage.descriptor, stage.page(0), pageBytes, false), 0)
  stage.toucher.finish()
  assert.equal(Atomics.load(stage.frames, 0), 2)
})

test('a downgraded page is still read, and faults when it is written', { skip }, async () => {
  await using stage = await Stage.open(2)
  stage.frames[0] = 5
  native.installPages(stage.descriptor, stage.page(0), pageBytes, false)
  assert.equal(native.protectPages(stage.descriptor, stage.page(0), pageBytes, true), 0)
  stage.toucher.read(0)
  assert.equal(stage.toucher.finish(), 5)
  stage.toucher.write(0, 6)
  assert.equal(stage.fault().flags, FaultFlag.Write | FaultFlag.WriteProtect)
  assert.equal(stage.toucher.isDone(), false)
  native.protectPages(stage.descriptor, stage.page(0), pageBytes, false)
  stage.toucher.finish()
  assert.equal(Atomics.load(stage.frames, 0), 6)
})

test('a page that is installed already is woken, not an error', { skip }, async () => {
  await using stage = await Stage.open(2)
  stage.frames[0] = 5
  assert.equal(native.installPages(stage.descriptor, stage.page(0), pageBytes, false), pageBytes)
  assert.equal(native.installPages(stage.descriptor, stage.page(0), pageBytes, false), 0)
})

test('of a partly installed range the rest is installed', { skip }, async () => {
  await using stage = await Stage.open(8)
  stage.frames.fill(3)
  native.installPages(stage.descriptor, stage.page(2), pageBytes, false)
  native.installPages(stage.descriptor, stage.page(5), 2 * pageBytes, false)
  assert.equal(native.installPages(stage.descriptor, stage.page(0), 8 * pageBytes, false), 5 * pageBytes)
  for (let page = 0; page < 8; page += 1) {
    stage.toucher.read(page * wordsPerPage)
    assert.equal(stage.toucher.finish(), 3)
  }
  stage.noFault()
})

test('of a partly filled range the pages before the hole are installed', { skip }, async () => {
  await using stage = await Stage.open(4)
  stage.frames.fill(3, 0, 2 * wordsPerPage)
  assert.equal(native.installPages(stage.descriptor, stage.page(0), 4 * pageBytes, false), -constants.errno.EFAULT)
  stage.toucher.read(wordsPerPage)
  assert.equal(stage.toucher.finish(), 3)
  stage.noFault()
})

test('a page that was zapped faults at the next touch, and the frame keeps its bytes', { skip }, async () => {
  await using stage = await Stage.open(2)
  stage.frames[0] = 8
  native.installPages(stage.descriptor, stage.page(0), pageBytes, false)
  assert.equal(native.zapPages(stage.page(0), pageBytes), 0)
  assert.equal(Atomics.load(stage.frames, 0), 8)
  stage.toucher.read(0)
  assert.equal(stage.fault().flags, FaultFlag.Minor)
  Atomics.store(stage.frames, 0, 9)
  native.installPages(stage.descriptor, stage.page(0), pageBytes, false)
  assert.equal(stage.toucher.finish(), 9)
})

test('zapping does not wake a waiting writer: waking does, and it faults anew', { skip }, async () => {
  await using stage = await Stage.open(2)
  stage.frames[0] = 1
  native.installPages(stage.descriptor, stage.page(0), pageBytes, true)
  stage.toucher.write(0, 2)
  assert.equal(stage.fault().flags, FaultFlag.Write | FaultFlag.WriteProtect)
  native.zapPages(stage.page(0), pageBytes)
  stage.noFault()
  assert.equal(native.wakePages(stage.descriptor, stage.page(0), pageBytes), 0)
  assert.equal(stage.fault().flags, FaultFlag.Write | FaultFlag.Minor)
  native.installPages(stage.descriptor, stage.page(0), pageBytes, false)
  stage.toucher.finish()
  assert.equal(Atomics.load(stage.frames, 0), 2)
})

test('waking without a page makes the same fault again', { skip }, async () => {
  await using stage = await Stage.open(2)
  stage.toucher.read(0)
  const first = stage.fault()
  native.wakePages(stage.descriptor, stage.page(0), pageBytes)
  assert.deepEqual(stage.fault(), first)
  stage.frames[0] = 4
  native.installPages(stage.descriptor, stage.page(0), pageBytes, false)
  assert.equal(stage.toucher.finish(), 4)
})

test('what is not registered any more is an ordinary mapping', { skip }, async () => {
  await using stage = await Stage.open(4)
  native.unregisterUserfault(stage.descriptor, stage.page(2), 2 * pageBytes)
  stage.toucher.read(2 * wordsPerPage)
  assert.equal(stage.toucher.finish(), 0, 'the kernel fills it with zeros')
  stage.toucher.read(0)
  assert.equal(stage.fault().address, stage.page(0), 'the other half still faults')
  stage.frames[0] = 1
  native.installPages(stage.descriptor, stage.page(0), pageBytes, false)
  assert.equal(stage.toucher.finish(), 1)
})

test('two windows on one object have rights of their own', { skip }, async () => {
  await using stage = await Stage.open(4)
  const other = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true })
  const otherAddress = native.mapView(other, 0, stage.memory.descriptor, 0, stage.lengthBytes)
  native.registerUserfault(stage.descriptor, otherAddress, stage.lengthBytes)
  stage.frames[0] = 21
  native.installPages(stage.descriptor, stage.page(0), pageBytes, false)
  native.installPages(stage.descriptor, otherAddress, pageBytes, false)
  assert.equal(Atomics.load(new Int32Array(other.buffer), 0), 21)
  native.zapPages(stage.page(0), pageBytes)
  assert.equal(Atomics.load(new Int32Array(other.buffer), 0), 21, 'the other window still has the page')
  stage.toucher.read(0)
  assert.equal(stage.fault().address, stage.page(0))
  native.installPages(stage.descriptor, stage.page(0), pageBytes, false)
  assert.equal(stage.toucher.finish(), 21)
  native.unmapView(other, 0, stage.lengthBytes)
})

test('closing the userfaultfd lets a waiting thread go on', { skip }, async () => {
  const stage = await Stage.open(2)
  stage.toucher.read(0)
  stage.fault()
  await stage[Symbol.asyncDispose]()
})

test('only ranges of views are taken: anything else would be somebody else’s memory', { skip }, async () => {
  await using stage = await Stage.open(2)
  const { descriptor, address, frames } = stage
  const buffer = native.addressOf(frames)
  for (const [from, length] of [
    [buffer, pageBytes],
    [address + 1, pageBytes],
    [address, 3 * pageBytes],
    [address - pageBytes, 2 * pageBytes],
    [pageBytes, pageBytes],
  ] as const) {
    assert.throws(() => native.zapPages(from, length), ArgumentError)
    assert.throws(() => native.installPages(descriptor, from, length, false), ArgumentError)
    assert.throws(() => native.protectPages(descriptor, from, length, true), ArgumentError)
    assert.throws(() => native.registerUserfault(descriptor, from, length), ArgumentError)
    assert.throws(() => native.unregisterUserfault(descriptor, from, length), ArgumentError)
  }
})

test('a descriptor that is no userfaultfd is told, not obeyed', { skip }, async () => {
  await using stage = await Stage.open(2)
  const pipe = native.createPipe()
  assert.equal(native.installPages(pipe[0], stage.address, pageBytes, false), -constants.errno.ENOTTY)
  assert.equal(native.wakePages(pipe[0], stage.address, pageBytes), -constants.errno.ENOTTY)
  assert.throws(() => native.registerUserfault(pipe[0], stage.address, pageBytes), SystemError)
  assert.throws(() => native.takeFaults(1_000_000, new Float64Array(FAULT_NUMBERS)), /EBADF/)
  assert.throws(() => native.takeFaults(stage.descriptor, new Float64Array(2)), ArgumentError)
  for (const end of pipe) native.closeDescriptor(end)
})

test('faults that a thread of the addon answers are timed, and nothing of that stays', { skip }, () => {
  const { descriptor } = native.openUserfault()
  const before = mappingsOf('aether-fault-timer')
  const samples = new Float64Array(50)
  native.timeFaults(descriptor, samples, 0.1)
  native.closeDescriptor(descriptor)
  // Less than a fault can take would mean that there was none.
  for (const ns of samples) assert.ok(ns > 200 && ns < 60e9, `${ns} ns`)
  assert.equal(mappingsOf('aether-fault-timer'), before)
  for (const wrong of [new Float64Array(0), new Float64Array(5000)])
    assert.throws(() => native.timeFaults(descriptor, wrong, 0), ArgumentError)
  assert.throws(() => native.timeFaults(descriptor, samples, 2), ArgumentError)
})
