import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ReplicaEnds } from '../../../src/consensus/agent/replica-ends.ts'
import { ReplicaProcess } from '../../../src/consensus/agent/replica-process.ts'
import { defaultSettings, foundingConfiguration, type ReplicaCard } from '../../../src/consensus/index.ts'
import type { ProcessLife } from '../../../src/runtime/index.ts'
import { descriptors } from '../../cluster/support.ts'
import { type Child, startChild } from '../../native/elsewhere.ts'

async function startLiving(): Promise<{ readonly child: Child; readonly life: ProcessLife }> {
  const child = startChild(({ aether }) => {
    setInterval(() => {}, 1000)
    console.log(aether.native.lifeThread())
  }, undefined)
  return { child, life: { processId: child.id, lifeThread: Number(await child.message()) } }
}

test('each end is told once; what is forgotten, or begun again in another process, is not', async () => {
  const before = descriptors()
  const told: number[] = []
  const ends = new ReplicaEnds((id) => told.push(id))
  const started = await Promise.all([startLiving(), startLiving(), startLiving(), startLiving()])
  const [one, forgotten, past, present] = started
  ends.watch(1, one!.life)
  ends.watch(2, forgotten!.life)
  ends.watch(3, past!.life)
  const watched = ends.descriptors
  assert.equal(watched.length, 3)
  ends.watch(3, present!.life)
  ends.forget(2)
  assert.notEqual(ends.descriptors, watched)
  assert.equal(ends.look(), false)
  for (const { child } of [one!, forgotten!, past!]) {
    child.process.kill('SIGKILL')
    await child.ended()
  }
  const asked = ends.descriptors
  assert.equal(ends.look(), true)
  assert.notEqual(ends.descriptors, asked)
  assert.equal(ends.look(), false)
  assert.deepEqual(told, [1])
  ends.watch(4, one!.life)
  assert.deepEqual(told, [1, 4])
  ends.close()
  assert.deepEqual(ends.descriptors, [])
  for (const { child } of started) await child[Symbol.asyncDispose]()
  assert.deepEqual(descriptors(), before)
})

test('one that is busy looks now and then', async () => {
  const told: number[] = []
  const ends = new ReplicaEnds((id) => told.push(id))
  const { child, life } = await startLiving()
  ends.watch(1, life)
  assert.equal(ends.lookIfDue(5e6), false)
  child.process.kill('SIGKILL')
  await child.ended()
  assert.equal(ends.lookIfDue(5.1e6), false)
  assert.deepEqual(told, [])
  assert.equal(ends.lookIfDue(5.2e6), true)
  assert.deepEqual(told, [1])
  ends.close()
})

for (const isLocal of [false, true])
  test(`a replica ${isLocal ? 'in the program' : 'with a thread'} sees an end that no one tells it`, async () => {
    const said: number[] = []
    const replica = await ReplicaProcess.start({
      ...{
        device: 'shm0',
        id: 1,
        settings: defaultSettings,
        protocol: 'velos',
        founding: foundingConfiguration([1, 2, 3]),
      },
      ...{ votersWanted: 3, journal: undefined, snapshot: undefined, programNsMax: 1e9, spinNs: 0, isLocal },
      onNews: () => true,
      onSay: (_, card) => said.push(card.attempt),
    })
    const { child, life } = await startLiving()
    replica.meet({ id: 2, life })
    /** A newer card of a replica that lives is answered. */
    const isAnswered = async (attempt: number): Promise<boolean> => {
      const endpoint = { gid: 0n, queuePairNumber: 1, psn: 0 }
      replica.hear({ id: 2, attempt, endpoint, region: { address: 0, key: 0 }, frame: 0 } satisfies ReplicaCard)
      await replica.status()
      await sleep(1)
      return said.includes(attempt)
    }
    assert.equal(await isAnswered(2), true)
    child.process.kill('SIGKILL')
    let attempt = 3
    while (await isAnswered(attempt)) attempt += 1
    await replica.close()
    await child.ended()
  })
