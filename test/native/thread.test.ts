import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { release } from 'node:os'
import test from 'node:test'
import { ArgumentError, native, SystemError } from '../../src/native/index.ts'
import { startWorker } from './elsewhere.ts'

test('the main thread has the number of the process, a Worker has one of its own', async () => {
  assert.equal(native.threadId(), process.pid)
  const worker = startWorker(({ aether, threads }) => {
    threads.parentPort?.postMessage(aether.native.threadId())
  }, undefined)
  // Both may come in one turn of the event loop.
  const ended = once(worker, 'exit')
  const [id] = (await once(worker, 'message')) as [number]
  assert.notEqual(id, process.pid)
  assert.ok(id > 0)
  await ended
})

test('a Worker is pinned without its siblings', async () => {
  const before = native.getAffinity()
  const only = before[before.length - 1] ?? 0
  const worker = startWorker(({ aether: { native }, threads }, processor) => {
    native.setAffinity(Int32Array.of(processor))
    threads.parentPort?.postMessage(native.getAffinity())
  }, only)
  // Both may come in one turn of the event loop.
  const ended = once(worker, 'exit')
  const [pinned] = (await once(worker, 'message')) as [Int32Array]
  assert.deepEqual([...pinned], [only])
  assert.deepEqual(native.getAffinity(), before)
  await ended
})

test('processors that are not there are refused', () => {
  assert.throws(() => native.setAffinity(new Int32Array(0)), ArgumentError)
  assert.throws(() => native.setAffinity(Int32Array.of(-1)), ArgumentError)
  assert.throws(() => native.setAffinity(Int32Array.of(100_000)), ArgumentError)
  if (native.getAffinity().every((processor) => processor < 1000))
    assert.throws(
      () => native.setAffinity(Int32Array.of(1023)),
      (error: unknown) => error instanceof SystemError && error.errnoName === 'EINVAL',
    )
})

test('which processors a thread may be given does not depend on where it is, nor move it', async () => {
  const allowed = [...native.allowedProcessors()]
  const before = native.getAffinity()
  assert.ok(before.every((processor) => allowed.includes(processor)))
  const worker = startWorker(({ aether: { native }, threads }, processor) => {
    native.setAffinity(Int32Array.of(processor))
    const seen = [...native.allowedProcessors()]
    native.setAffinity(Int32Array.from(seen))
    threads.parentPort?.postMessage([seen, [...native.getAffinity()]])
  }, allowed[0]!)
  const ended = once(worker, 'exit')
  assert.deepEqual(await once(worker, 'message'), [[allowed, allowed]])
  assert.deepEqual(native.getAffinity(), before)
  await ended
})

test('a thread takes turns of the length it asks for, where the kernel knows how', () => {
  assert.throws(() => native.setSlice(99_999, 0), ArgumentError)
  assert.throws(() => native.setSlice(100_000_001, 0), ArgumentError)
  assert.throws(() => native.setSlice(Number.NaN, 0), ArgumentError)
  const [major = 0, minor = 0] = release().split('.').map(Number)
  const taken = native.setSlice(3_000_000, 0)
  // EEVDF has taken slices since 6.12; before, and under another policy, there is nothing to be seen.
  if (taken) assert.ok(major > 6 || (major === 6 && minor >= 12), release())
})

test('the slack of timers is that of the calling thread', () => {
  const slackOf = () => Number(readFileSync(`/proc/${process.pid}/timerslack_ns`, 'utf8'))
  const before = slackOf()
  native.setTimerSlack(70_000)
  assert.equal(slackOf(), 70_000)
  native.setTimerSlack(before)
  for (const wrong of [0, -1, 1.5, 1e9 + 1, Number.NaN]) assert.throws(() => native.setTimerSlack(wrong), ArgumentError)
})

test('each time a thread is put on a processor counts as a turn', async () => {
  const control = new Int32Array(new SharedArrayBuffer(8))
  const worker = startWorker(({ aether, threads }, shared) => {
    threads.parentPort?.postMessage(aether.native.threadId())
    while (Atomics.load(shared, 1) === 0) {
      const seen = Atomics.load(shared, 0)
      aether.native.futexWait(shared, 0, seen, 20_000)
    }
  }, control)
  // Both may come in one turn of the event loop.
  const ended = once(worker, 'exit')
  const [id] = (await once(worker, 'message')) as [number]
  for (let round = 0; round < 20; round += 1) {
    const before = native.threadTurns(id)
    assert.ok(before > 0)
    // Asleep again and again: each waking is a turn.
    while (native.threadTurns(id) === before) {
      Atomics.add(control, 0, 1)
      native.futexWake(control, 0, 1)
      await new Promise(setImmediate)
    }
    assert.ok(native.threadTurns(id) > before)
  }
  Atomics.store(control, 1, 1)
  Atomics.add(control, 0, 1)
  native.futexWake(control, 0, 1)
  await ended
  while (native.threadTurns(id) !== -1) await new Promise(setImmediate)
  assert.equal(native.threadTurns(1), process.pid === 1 ? native.threadTurns(1) : -1, 'threads of others are not ours')
})

test('clocks run forward, in whole nanoseconds', () => {
  const first = native.monotonicNs()
  const second = native.monotonicNs()
  assert.ok(second >= first)
  assert.ok(Number.isSafeInteger(second))
  const node = Number(process.hrtime.bigint())
  assert.ok(native.monotonicNs() >= node, 'it is the clock of process.hrtime')
  const thread = native.processorNs(false)
  const whole = native.processorNs(true)
  assert.ok(thread > 0 && whole >= thread)
  for (let spin = 0; spin < 1e6; spin += 1) Math.sqrt(spin)
  assert.ok(native.processorNs(false) > thread)
  assert.throws(() => native.processorNs(1 as unknown as boolean), ArgumentError)
  const preemptions = native.threadPreemptions()
  assert.ok(preemptions >= 0 && native.threadPreemptions() >= preemptions)
})
