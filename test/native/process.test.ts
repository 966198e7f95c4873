import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { ArgumentError, native, PollFlag, SystemError } from '../../src/native/index.ts'
import { threadDescriptorsMissing as noThreads } from '../support/thread-descriptors.ts'
import { startChild, startWorker } from './elsewhere.ts'

const yamaPath = '/proc/sys/kernel/yama/ptrace_scope'
const yamaScope = existsSync(yamaPath) ? Number(readFileSync(yamaPath, 'utf8')) : -1
const noCopying =
  yamaScope > 1 ? `cross-process copy is forbidden here altogether (${yamaPath} is ${yamaScope})` : false

/** A child that lives until it is killed. */
function startLasting(): ReturnType<typeof startChild> {
  return startChild(() => {
    setInterval(() => {}, 1000)
    console.log('1')
  }, undefined)
}

test('a process that ends makes its descriptor readable', async () => {
  await using child = startLasting()
  const descriptor = native.openProcess(child.id)
  await child.message()
  const ready = new Int32Array(1)
  assert.equal(native.poll(Int32Array.of(descriptor), ready, 1, 0), 0)
  child.process.kill('SIGKILL')
  assert.equal(native.poll(Int32Array.of(descriptor), ready, 1, 20_000), 1)
  assert.equal(ready[0]! & PollFlag.Readable, PollFlag.Readable)
  native.closeDescriptor(descriptor)
})

test('a process is killed by its descriptor, and one that has ended is left alone', async () => {
  await using child = startLasting()
  const descriptor = native.openProcess(child.id)
  await child.message()
  // Also where it is stopped.
  child.process.kill('SIGSTOP')
  native.killProcess(descriptor)
  assert.equal(native.poll(Int32Array.of(descriptor), new Int32Array(1), 1, 20_000), 1)
  await child.ended()
  assert.equal(child.process.signalCode, 'SIGKILL')
  native.killProcess(descriptor)
  native.closeDescriptor(descriptor)
  assert.throws(() => native.killProcess(descriptor), { name: 'SystemError', syscall: 'pidfd_send_signal' })
})

test('a thread that ends makes its descriptor readable, though its process goes on', { skip: noThreads }, async () => {
  const worker = startWorker(({ aether, threads }) => {
    threads.parentPort!.once('message', () => {})
    threads.parentPort!.postMessage(aether.native.threadId())
  }, undefined)
  const [id] = (await once(worker, 'message')) as [number]
  const descriptor = native.openThread(id)
  const ready = new Int32Array(1)
  assert.equal(native.poll(Int32Array.of(descriptor), ready, 1, 0), 0)
  await worker.terminate()
  assert.equal(native.poll(Int32Array.of(descriptor), ready, 1, 20_000), 1)
  native.closeDescriptor(descriptor)
  assert.throws(() => native.openThread(0), ArgumentError)
})

test('the life thread is one for the process, and stays when an environment that has asked for it ends', async () => {
  const worker = startWorker(({ aether, threads }) => {
    threads.parentPort!.postMessage(aether.native.lifeThread())
  }, undefined)
  const [id] = (await once(worker, 'message')) as [number]
  await worker.terminate()
  assert.equal(native.lifeThread(), id)
  assert.equal(readFileSync(`/proc/self/task/${id}/comm`, 'latin1'), 'aether-life\n')
})

test('a process that is not there cannot be opened', async () => {
  const child = startChild(() => {}, undefined)
  await child.ended()
  assert.throws(
    () => native.openProcess(child.id),
    (error: unknown) => {
      assert.ok(error instanceof SystemError)
      assert.equal(error.errnoName, 'ESRCH')
      assert.match(error.message, /has ended/)
      return true
    },
  )
  assert.throws(() => native.openProcess(0), ArgumentError)
  assert.throws(() => native.openProcess(-1), ArgumentError)
})

test('bytes are copied from and to another process that allowed it', { skip: noCopying }, async () => {
  await using child = startChild(async ({ aether: { native } }, reader) => {
    native.allowProcessAccess(reader)
    const bytes = new Uint8Array(new SharedArrayBuffer(8192)).fill(3)
    console.log(JSON.stringify(native.addressOf(bytes)))
    while (Atomics.load(bytes, 8191) !== 9) await new Promise((resolve) => setTimeout(resolve, 1))
    console.log(JSON.stringify(bytes[0]))
  }, process.pid)
  const address = await child.message<number>()
  const into = new Uint8Array(8192)
  native.readProcess(child.id, address, into)
  assert.ok(into.every((byte) => byte === 3))
  native.writeProcess(child.id, address, Uint8Array.of(5))
  native.writeProcess(child.id, address + 8191, Uint8Array.of(9))
  assert.equal(await child.message<number>(), 5)
  native.readProcess(child.id, address, new Uint8Array(0))
})

test('an address where nothing is mapped gives EFAULT', { skip: noCopying }, async () => {
  await using child = startChild(({ aether: { native } }, reader) => {
    native.allowProcessAccess(reader)
    setInterval(() => {}, 1000)
    console.log('1')
  }, process.pid)
  await child.message()
  for (const address of [0, 1, 2 ** 52])
    assert.throws(
      () => native.readProcess(child.id, address, new Uint8Array(8)),
      (error: unknown) => error instanceof SystemError && error.errnoName === 'EFAULT',
    )
  assert.throws(() => native.readProcess(child.id, -1, new Uint8Array(8)), ArgumentError)
  assert.throws(() => native.readProcess(child.id, 0, [] as unknown as Uint8Array), ArgumentError)
})

test('allowProcessAccess tells whether Yama is there', () => {
  assert.equal(native.allowProcessAccess(process.pid), yamaScope >= 0)
  assert.equal(native.allowProcessAccess(-1), yamaScope >= 0)
})

const mayShowYama =
  yamaScope !== 1
    ? `Yama with ptrace_scope=1 is not here (${yamaPath} ${yamaScope < 0 ? 'is missing' : `is ${yamaScope}`})`
    : process.getuid?.() === 0 && 'root may copy from anyone, Yama or not'

test('under Yama a sibling may not copy before it was allowed to', { skip: mayShowYama }, async () => {
  await using owner = startChild(({ aether: { native } }) => {
    setInterval(() => {}, 1000)
    console.log(JSON.stringify(native.addressOf(new SharedArrayBuffer(64))))
  }, undefined)
  const address = await owner.message<number>()
  const sibling = startChild(
    ({ aether: { native, SystemError } }, [id, from]) => {
      try {
        native.readProcess(id, from, new Uint8Array(8))
      } catch (error) {
        console.log(JSON.stringify(error instanceof SystemError && error.message))
      }
    },
    [owner.id, address] as [number, number],
  )
  assert.match(await sibling.message<string>(), /EPERM.*allowProcessAccess/)
})
