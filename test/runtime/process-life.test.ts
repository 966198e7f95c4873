import assert from 'node:assert/strict'
import { once } from 'node:events'
import process from 'node:process'
import { test } from 'node:test'
import { native } from '../../src/native/index.ts'
import { openLife } from '../../src/runtime/index.ts'
import { startChild, startWorker } from '../native/elsewhere.ts'
import { threadDescriptorsMissing } from '../support/thread-descriptors.ts'

function isReadable(descriptor: number, timeoutMs: number): boolean {
  return native.poll(Int32Array.of(descriptor), new Int32Array(1), 1, timeoutMs) === 1
}

for (const hasThread of [true, false])
  test(`the end of a process is seen ${hasThread ? 'by its life thread' : 'where it says no life thread'}`, async () => {
    await using child = startChild(({ aether }) => {
      setInterval(() => {}, 1000)
      console.log(aether.native.lifeThread())
    }, undefined)
    const lifeThread = Number(await child.message())
    const life = { processId: child.id, ...(hasThread && { lifeThread }) }
    const descriptor = openLife(life)!
    assert.equal(isReadable(descriptor, 0), false)
    child.process.kill('SIGKILL')
    assert.equal(isReadable(descriptor, 20_000), true)
    native.closeDescriptor(descriptor)
    await child.ended()
    assert.equal(openLife(life), undefined)
  })

test('the thread tells, before the process has ended', { skip: threadDescriptorsMissing }, async () => {
  const worker = startWorker(({ aether, threads }) => {
    threads.parentPort!.once('message', () => {})
    threads.parentPort!.postMessage(aether.native.threadId())
  }, undefined)
  const [lifeThread] = (await once(worker, 'message')) as [number]
  const descriptor = openLife({ processId: process.pid, lifeThread })!
  await worker.terminate()
  assert.equal(isReadable(descriptor, 20_000), true)
  native.closeDescriptor(descriptor)
})
