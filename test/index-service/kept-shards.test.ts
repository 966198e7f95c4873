/** Nodes whose directories are not where ranks say that shards are to be. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { openNode } from '../../src/index-service/index.ts'
import { KeptShards } from '../../src/index-service/node/kept-shards.ts'
import { join as joinGroup } from '../../src/public/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { RankProcess } from '../support/rank-process.ts'

useRuntimeDirectory()

const fixture = new URL('./fixtures/index-process.js', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'aether-kept-shards-'))
const started: RankProcess[] = []
after(async () => {
  await Promise.all(started.map((each) => each.kill()))
  rmSync(folder, { recursive: true, force: true })
})

test('a directory says which shards have logs there, and which some node has held', () => {
  const directory = join(folder, 'several')
  const kept = new KeptShards(directory, 4)
  assert.deepEqual(kept.here, [])
  for (const name of ['1', '3', '4']) mkdirSync(join(directory, name), { recursive: true })
  for (const name of ['3', '4']) writeFileSync(join(directory, name, 'identity'), '')
  kept.held([2, 3])
  const again = new KeptShards(directory, 4)
  assert.deepEqual(again.here, [3])
  assert.deepEqual(
    [1, 2, 3].map((shard) => again.isFounded(shard)),
    [false, true, true],
  )
  for (const damaged of ['[2', '', '5', 'null', '{}', '["2"]']) {
    writeFileSync(join(directory, 'founded'), damaged)
    assert.throws(() => new KeptShards(directory, 4), { code: 'ERR_AETHER_CONSENSUS_LOG_DAMAGED' }, damaged)
  }
})

test('the directory of an index of one shard is that of its log', () => {
  const directory = join(folder, 'one')
  assert.deepEqual(new KeptShards(directory, 1).here, [])
  mkdirSync(directory)
  writeFileSync(join(directory, 'identity'), '')
  assert.deepEqual(new KeptShards(directory, 1).here, [0])
})

test('more nodes than replicas are killed at once, and begin again in another order: nothing is lost', async () => {
  const name = `kept-${process.pid}`
  const begin = async (life: number, directories: readonly number[]): Promise<RankProcess[]> => {
    const nodes: RankProcess[] = []
    for (const _ of directories) {
      const node = new RankProcess(fixture, {})
      started.push(node)
      nodes.push(node)
      await node.call('join', { name: `${name}-${life}` })
    }
    const options = { name, replicas: 3, shards: 2, timeoutMs: 50_000 }
    const opened = nodes.map((node, place) =>
      node.call('open', { ...options, directory: join(folder, `node-${directories[place]}`) }),
    )
    await Promise.all(opened)
    return nodes
  }
  const nodes = await begin(1, [0, 1, 2, 3, 4])
  await nodes[0]!.call('fill', 0, 100, 10)
  await Promise.all(nodes.map((node) => node.kill()))
  // A minority of those that have shard 1 is to hold it now.
  const again = await begin(2, [4, 3, 2, 1, 0])
  assert.equal(await again[0]!.call('countKeys', 'filled', 100), 100)
})

test('an index of which one shard cannot be opened leaves none of the others open', async () => {
  const name = `partly-${process.pid}`
  const directory = join(folder, 'partly')
  await using group = await joinGroup({ rank: 0, size: 1, rendezvous: `local:${name}` })
  const options = { name, directory, shards: 4, replicas: 1 }
  await (await openNode(group, options)).close()
  const file = join(directory, '0', 'identity')
  const identity = readFileSync(file)
  writeFileSync(file, 'damaged')
  await assert.rejects(openNode(group, options), { code: 'ERR_AETHER_CONSENSUS_LOG_DAMAGED' })
  writeFileSync(file, identity)
  const node = await openNode(group, options)
  assert.equal(node.held.size, 4)
  await node.close()
})
