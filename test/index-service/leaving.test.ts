/** Programs that use a shard by their own node are told nothing of it when the shard leaves that node. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { shardOf } from '../../src/index-service/keys/shard-of.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { RankProcess } from '../support/rank-process.ts'

useRuntimeDirectory()

const fixture = new URL('./fixtures/index-process.js', import.meta.url)
const SHARDS = 4
const started: RankProcess[] = []
after(async () => {
  await Promise.all(started.map((each) => each.kill()))
})

async function joined(name: string): Promise<RankProcess> {
  const node = new RankProcess(fixture, {})
  started.push(node)
  await node.call('join', { name })
  return node
}

/** A key of that shard. */
function keyIn(shard: number): string {
  for (let number = 0; ; number += 1)
    if (shardOf(Buffer.from(`list ${number}`), SHARDS) === shard) return `list ${number}`
}

test('calls go on, and one that waits gets what comes, though the shard has left the node', async () => {
  const name = `leaving-${process.pid}`
  const options = { name, replicas: 3, shards: SHARDS }
  const nodes = [await joined(name), await joined(name), await joined(name)]
  await Promise.all(nodes.map((node) => node.call('open', options)))
  const first = nodes[0]!
  const keys = Array.from({ length: SHARDS }, (_, shard) => keyIn(shard))
  const taken = keys.map((key) => first.call('take', key))
  await first.call(
    'repeat',
    keys.map((key) => `${key}, a counter`),
  )
  for (let added = 0; added < 2; added += 1) await (await joined(name)).call('open', options)
  for (let look = 0; (await first.call<number[]>('holds')).length === SHARDS; look += 1) {
    assert.ok(look < 600, 'it leaves no shard')
    await sleep(50)
  }
  const { calls, failures } = await first.call<{ calls: number; failures: string[] }>('repeated')
  assert.deepEqual(failures, [])
  assert.ok(calls > 0)
  for (const key of keys) await nodes[1]!.call('push', key, `of ${key}`)
  assert.deepEqual(
    await Promise.all(taken),
    keys.map((key) => `of ${key}`),
  )
})
