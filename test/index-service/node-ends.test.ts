/** How a client finds out that the process of a node ends. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import process from 'node:process'
import { test } from 'node:test'
import { NodeEnds } from '../../src/index-service/client/node-ends.ts'
import { native } from '../../src/native/index.ts'
import { join } from '../../src/public/index.ts'
import { connectIndex, type IndexError, openIndex } from '../../src/public/index-service.ts'
import { descriptors } from '../cluster/support.ts'
import { startChild, startWorker, until } from '../native/elsewhere.ts'
import { threadDescriptorsMissing } from '../support/thread-descriptors.ts'

test('each end is told once, and none that is not waited for any more', async () => {
  const before = descriptors()
  const children = [0, 1].map(() =>
    startChild(() => {
      setInterval(() => {}, 1000)
      console.log(1)
    }, undefined),
  )
  for (const child of children) await child.message()
  const ends = new NodeEnds()
  const told: number[] = []
  const lives = children.map(({ id }) => ({ processId: id }))
  ends.watch(lives[0]!, () => told.push(0))()
  for (const [place, life] of lives.entries()) ends.watch(life, () => told.push(place))
  for (const [place, child] of children.entries()) {
    child.process.kill('SIGKILL')
    await until(() => told.length === place + 1)
    await child.ended()
  }
  assert.deepEqual(told, [0, 1])
  // One that has ended before is left to its connection.
  ends.watch(lives[0]!, () => told.push(2))
  ends.close()
  assert.deepEqual(told, [0, 1])
  assert.deepEqual(descriptors(), before)
})

/** The node is well: it has only said that a thread of this process is its life thread, which then ends. */
test('a call is given up when the life thread of its node ends', { skip: threadDescriptorsMissing }, async () => {
  const worker = startWorker(({ aether, threads }) => {
    threads.parentPort!.once('message', () => {})
    threads.parentPort!.postMessage(aether.native.threadId())
  }, undefined)
  const [id] = (await once(worker, 'message')) as [number]
  const { lifeThread } = native
  Object.defineProperty(native, 'lifeThread', { value: () => id })
  const name = `node-ends-${process.pid}`
  await using group = await join({ rank: 0, size: 1, rendezvous: `local:${name}` })
  await using node = await openIndex(group, { name, replicas: 1 })
  await using client = await connectIndex(name)
  Object.defineProperty(native, 'lifeThread', { value: lifeThread })
  await client.set('key', 'value')
  const takes = client
    .listAt('list')
    .take()
    .catch((error: unknown) => error)
  // It is on its way before the next one is answered.
  await client.set('key', 'another value')
  await worker.terminate()
  const error = (await takes) as IndexError
  assert.equal(error.code, 'ERR_AETHER_INDEX_UNREACHABLE')
  assert.equal(error.outcome, 'unknown')
  // There is no other node, so it is met again.
  await client.set('key', 'yet another')
  assert.equal(await node.getText('key'), 'yet another')
})
