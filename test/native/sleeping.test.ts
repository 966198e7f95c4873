import assert from 'node:assert/strict'
import { closeSync, constants as fileConstants, openSync } from 'node:fs'
import { constants } from 'node:os'
import test from 'node:test'
import { ArgumentError, FutexResult, native, PollFlag, SystemError } from '../../src/native/index.ts'
import { startChild, startWorker } from './elsewhere.ts'
import { Memory, Pipe, pageBytes } from './resources.ts'

test('poll tells which descriptors are ready, and leaves negative ones alone', () => {
  using quiet = new Pipe()
  using rung = new Pipe()
  native.ringPipe(rung.writeEnd)
  const ready = new Int32Array(4).fill(-1)
  assert.equal(native.poll(Int32Array.of(quiet.readEnd, -1, rung.readEnd), ready, 3, 0), 1)
  assert.deepEqual([...ready], [0, 0, PollFlag.Readable, -1])
  assert.equal(native.poll(Int32Array.of(quiet.readEnd), ready, 1, 1), 0)
  assert.equal(ready[0], 0)
})

test('poll looks at as many as it is told, and tells closed descriptors apart', () => {
  const pipe = new Pipe()
  native.closeDescriptor(pipe.writeEnd)
  const ready = new Int32Array(2)
  assert.equal(native.poll(Int32Array.of(pipe.readEnd, 1_000_000), ready, 2, 0), 2)
  assert.deepEqual([...ready], [PollFlag.HangUp, PollFlag.Invalid])
  assert.equal(native.poll(Int32Array.of(1_000_000), ready, 0, 0), 0)
  assert.throws(() => native.poll(new Int32Array(1), ready, 2, 0), ArgumentError)
  for (const timeoutMs of [-2, -0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])
    assert.throws(() => native.poll(new Int32Array(1), ready, 1, timeoutMs), ArgumentError)
  native.closeDescriptor(pipe.readEnd)
})

test('poll sleeps for fractions of a millisecond, and not less than it was told', () => {
  using quiet = new Pipe()
  for (const timeoutMs of [0.05, 0.5, 1.25]) {
    const before = native.monotonicNs()
    assert.equal(native.poll(Int32Array.of(quiet.readEnd), new Int32Array(1), 1, timeoutMs), 0)
    assert.ok(native.monotonicNs() - before >= timeoutMs * 1e6)
  }
})

test('poll takes hundreds of descriptors', () => {
  using pipe = new Pipe()
  native.ringPipe(pipe.writeEnd)
  const descriptors = new Int32Array(300).fill(pipe.readEnd)
  const ready = new Int32Array(300)
  assert.equal(native.poll(descriptors, ready, 300, 0), 300)
  assert.ok(ready.every((flags) => flags === PollFlag.Readable))
})

test('a doorbell can be rung for ever: a full one is readable anyway', () => {
  using pipe = new Pipe()
  for (let ring = 0; ring < 100_000; ring += 1) assert.equal(native.ringPipe(pipe.writeEnd), 0)
  assert.equal(native.drainPipe(pipe.readEnd), 65_536)
  assert.equal(native.drainPipe(pipe.readEnd), 0)
})

test('draining empties the pipe whatever its fill', () => {
  using pipe = new Pipe()
  for (const rings of [1, 4095, 4096, 4097, 8192]) {
    for (let ring = 0; ring < rings; ring += 1) native.ringPipe(pipe.writeEnd)
    assert.equal(native.drainPipe(pipe.readEnd), rings)
    assert.equal(native.poll(Int32Array.of(pipe.readEnd), new Int32Array(1), 1, 0), 0)
  }
})

test('draining never sleeps, not even on a read end that was opened without O_NONBLOCK', () => {
  using pipe = new Pipe()
  const readEnd = openSync(`/proc/self/fd/${pipe.readEnd}`, 'r')
  assert.equal(native.drainPipe(readEnd), 0)
  native.ringPipe(pipe.writeEnd)
  assert.equal(native.drainPipe(readEnd), 1)
  assert.equal(native.drainPipe(readEnd), 0)
  closeSync(readEnd)
})

test('a doorbell that nobody can hear any more says so, without a signal', () => {
  const pipe = new Pipe()
  native.closeDescriptor(pipe.readEnd)
  assert.equal(native.ringPipe(pipe.writeEnd), -constants.errno.EPIPE)
  native.closeDescriptor(pipe.writeEnd)
  assert.equal(native.ringPipe(pipe.writeEnd), -constants.errno.EBADF)
  assert.throws(() => native.drainPipe(pipe.readEnd), SystemError)
})

test('another process rings through /proc, and its end is a hang-up only when all ends are closed', async () => {
  using pipe = new Pipe()
  await using child = startChild(({ aether: { native }, fs }, path) => {
    const writeEnd = fs.openSync(path, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK)
    console.log(JSON.stringify(native.ringPipe(writeEnd)))
  }, `/proc/${process.pid}/fd/${pipe.writeEnd}`)
  const ready = new Int32Array(1)
  assert.equal(native.poll(Int32Array.of(pipe.readEnd), ready, 1, 20_000), 1)
  assert.equal(ready[0], PollFlag.Readable)
  assert.equal(await child.message<number>(), 0)
  await child.ended()
  assert.equal(native.drainPipe(pipe.readEnd), 1)
  assert.equal(native.poll(Int32Array.of(pipe.readEnd), ready, 1, 0), 0)
})

test('a write end that was opened anew does not block when the pipe is full, given O_NONBLOCK', () => {
  // The flag belongs to each opening: without it the ringer would sleep until somebody drains.
  using pipe = new Pipe()
  const path = `/proc/self/fd/${pipe.writeEnd}`
  const writeEnd = openSync(path, fileConstants.O_WRONLY | fileConstants.O_NONBLOCK)
  for (let ring = 0; ring < 70_000; ring += 1) assert.equal(native.ringPipe(writeEnd), 0)
  closeSync(writeEnd)
})

test('futexWait sleeps only while the word holds what is expected', () => {
  using memory = new Memory(pageBytes)
  const words = new Int32Array(memory.map(0, pageBytes))
  words[3] = 7
  assert.equal(native.futexWait(words, 3, 8, -1), FutexResult.ValueDiffers)
  assert.equal(native.futexWait(words, 3, 7, 1), FutexResult.TimedOut)
  assert.equal(native.futexWait(words, 3, 7, 0), FutexResult.TimedOut)
  words[3] = -1
  assert.equal(native.futexWait(words, 3, 0, -1), FutexResult.ValueDiffers)
  assert.equal(native.futexWait(words, 3, -1, 1), FutexResult.TimedOut)
  assert.equal(native.futexWake(words, 3, 100), 0)
  assert.throws(() => native.futexWait(words, 1024, 0, 0), ArgumentError)
  assert.throws(() => native.futexWait(words, -1, 0, 0), ArgumentError)
  assert.throws(() => native.futexWait(new Int32Array(0), 0, 0, 0), ArgumentError)
  native.unmapMemory(words.buffer)
  assert.equal(native.futexWait(words, 3, -1, 0), FutexResult.ValueDiffers, 'memory of nobody is zero')
})

test('a process wakes another through memory that each has mapped for itself', async () => {
  using memory = new Memory(pageBytes)
  const words = new Int32Array(memory.map(0, pageBytes))
  await using child = startChild(({ aether: { native }, fs }, path) => {
    const theirs = new Int32Array(native.mapMemory(fs.openSync(path, 'r+'), 0, 4096, 0))
    // Ping-pong: it is the child's turn while the word is odd.
    for (let round = 0; round < 1000; round += 1) {
      for (let seen = Atomics.load(theirs, 0); seen % 2 === 0; seen = Atomics.load(theirs, 0))
        native.futexWait(theirs, 0, seen, 20_000)
      Atomics.add(theirs, 0, 1)
      native.futexWake(theirs, 0, 1)
    }
  }, `/proc/${process.pid}/fd/${memory.descriptor}`)
  for (let round = 0; round < 1000; round += 1) {
    Atomics.add(words, 0, 1)
    native.futexWake(words, 0, 1)
    for (let seen = Atomics.load(words, 0); seen % 2 === 1; seen = Atomics.load(words, 0))
      assert.notEqual(native.futexWait(words, 0, seen, 20_000), FutexResult.TimedOut)
  }
  assert.equal(Atomics.load(words, 0), 2000)
  assert.equal((await child.ended()).code, 0)
  native.unmapMemory(words.buffer)
})

test('futexWake wakes as many as it is told', async () => {
  const shared = new Int32Array(new SharedArrayBuffer(16))
  const workers = [0, 1, 2].map(() =>
    startWorker(({ aether, threads }, words) => {
      Atomics.add(words, 1, 1)
      aether.native.futexWait(words, 0, 0, 20_000)
      Atomics.add(words, 2, 1)
      threads.parentPort?.postMessage('woken')
    }, shared),
  )
  const ended = workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve)))
  let woken = 0
  while (woken < 2) woken += await pause(() => native.futexWake(shared, 0, 2 - woken))
  assert.equal(woken, 2)
  while (woken < 3) woken += await pause(() => native.futexWake(shared, 0, 5))
  assert.equal(woken, 3)
  await Promise.all(ended)
  assert.equal(Atomics.load(shared, 2), 3)
})

/** Let the threads run between two tries. */
async function pause(act: () => number): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 1))
  return act()
}

test('futexWaitAny sleeps on several words and tells which was woken', async (context) => {
  using memory = new Memory(pageBytes)
  const words = new Int32Array(memory.map(0, pageBytes))
  const elsewhere = new Int32Array(new SharedArrayBuffer(16))
  const waitAny = (timeoutMs: number, expected: number) =>
    native.futexWaitAny([words, elsewhere], Int32Array.of(2, 1), Int32Array.of(0, expected), timeoutMs)
  try {
    assert.equal(waitAny(1, 0), -2)
  } catch (error) {
    if (!(error instanceof SystemError) || error.errnoName !== 'ENOSYS') throw error
    context.skip('futex_waitv needs Linux 5.16')
    return
  }
  assert.equal(waitAny(0, 0), -2)
  assert.equal(waitAny(-1, 1), -1)
  const worker = startWorker(({ aether }, theirs) => {
    while (aether.native.futexWake(theirs, 1, 1) === 0) Atomics.wait(theirs, 3, 0, 1)
  }, elsewhere)
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  assert.equal(waitAny(20_000, 0), 1)
  await ended
  assert.throws(() => native.futexWaitAny([], new Int32Array(0), new Int32Array(0), 0), ArgumentError)
  assert.throws(() => native.futexWaitAny([words], new Int32Array(0), new Int32Array(1), 0), ArgumentError)
  assert.throws(() => native.futexWaitAny([words], Int32Array.of(5000), new Int32Array(1), 0), ArgumentError)
  native.unmapMemory(words.buffer)
})

test('a getter among the words cannot pull memory away under the call', () => {
  using memory = new Memory(pageBytes)
  const indexes = new Int32Array(memory.map(0, pageBytes), 0, 2)
  const words: Int32Array[] = [new Int32Array(new SharedArrayBuffer(16))]
  Object.defineProperty(words, 1, {
    get() {
      native.unmapMemory(indexes.buffer as ArrayBuffer)
      return words[0]
    },
  })
  native.futexWaitAny(words, indexes, new Int32Array(2), 0)
  Object.defineProperty(words, 2, {
    get() {
      throw new RangeError('of the program')
    },
  })
  assert.throws(() => native.futexWaitAny(words, new Int32Array(3), new Int32Array(3), 0), /of the program/)
})
