/** Indexes, as those see them who look at a space from outside. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runningSpaces } from '../../src/cluster/index.ts'
import type { IndexFrame, MachineFrame } from '../../src/dashboard/index.ts'
import { IndexLooks } from '../../src/dashboard/index-looks.ts'
import { metricSources } from '../../src/dashboard/metric-sources.ts'
import { ObservedSpace } from '../../src/dashboard/observed-space.ts'
import { join } from '../../src/dsm/index.ts'
import { openIndex } from '../../src/index-service/index.ts'
import { Profile, prometheusText } from '../../src/profiling/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()

/** The only one. */
const spaceName = (): string => runningSpaces()[0]!

type Values = Readonly<Record<string, number>>

/** A member that shows these nodes, and shards by `shard name`. */
function member(number: number, nodes: Readonly<Record<string, Values>>, shards: Readonly<Record<string, Values>>) {
  const blocks = [
    ...Object.entries(nodes).map(([label, values]) => ({ name: 'index.node', label, labelled: 'index', values })),
    ...Object.entries(shards).map(([label, values]) => ({
      name: 'index.shard',
      label,
      labelled: 'shard,index',
      values,
    })),
  ]
  const counters = blocks.map((block, at) => {
    const rest = { spread: '', rest: false, thread: 0, serial: at + 1, gauges: [] }
    return { ...block, ...rest }
  })
  return { number, profile: Profile.fromJSON({ version: 1, unplaced: 0, counters, histograms: [], findings: [] }) }
}

test('nodes are listed by index and member, with their shards and how far each is behind', () => {
  const looks = new IndexLooks()
  const machine = { term: 1, rate: 0, proposing: 0, failOver: null, leads: false, applied: 9 }
  const machines: MachineFrame[] = [
    { ...machine, name: 'index/a b/10', number: 1, behind: 4 },
    { ...machine, name: 'index/one', number: 0, behind: 2 },
  ]
  const of = { replicas: 3, bytesMax: 100, slow: 1 }
  const members = [
    member(1, { 'a b': { ...of, shards: 16 } }, { '10 a b': { state: 2 }, '9 a b': { state: 1, leads: 1, keys: 5 } }),
    member(0, { 'a b': { ...of, shards: 16 }, one: { ...of, shards: 1 } }, { '0 one': { state: 3, bytesUsed: 2 } }),
  ]
  const still = { leads: false, behind: null, keys: 0, expiring: 0, waiting: 0, bytesUsed: 0, bytesHeld: 0, evicted: 0 }
  const node = { bytesMax: 100, slow: 1 }
  const frames: readonly IndexFrame[] = looks.next(members, machines)
  assert.deepEqual(frames, [
    {
      name: 'a b',
      shards: 16,
      replicas: 3,
      nodes: [
        { ...node, number: 0, shards: [] },
        {
          ...node,
          number: 1,
          shards: [
            { ...still, shard: 9, state: 'holds', leads: true, keys: 5 },
            { ...still, shard: 10, state: 'opening', behind: 4 },
          ],
        },
      ],
    },
    {
      name: 'one',
      shards: 1,
      replicas: 3,
      nodes: [{ ...node, number: 0, shards: [{ ...still, shard: 0, state: 'leaving', behind: 2, bytesUsed: 2 }] }],
    },
  ])
  assert.equal(looks.next([], machines), frames)
  assert.deepEqual(looks.next([], []), [])
})

test('what a node holds is seen from outside, and is among the metrics', async () => {
  const name = `looked-at-${process.pid}`
  await using group = await join({ name })
  await using index = await openIndex(group, { name: 'users', replicas: 1, shards: 2, slowMs: 0, memoryBytes: 2 ** 26 })
  await index.set('a', 1)
  await index.set('b', 1, { ttlMs: 600_000 })
  using space = ObservedSpace.attach(spaceName())
  const until = async (isSeen: (frame: IndexFrame) => boolean): Promise<IndexFrame> => {
    for (let atMs = 1000; ; atMs += 1000) {
      const [frame] = space.look(atMs).indexes
      if (frame !== undefined && isSeen(frame)) return frame
      await sleep(20)
    }
  }
  const keysOf = ({ nodes }: IndexFrame): number =>
    nodes.reduce((sum, { shards }) => sum + shards.reduce((all, { keys }) => all + keys, 0), 0)
  const { nodes, ...rest } = await until((frame) => keysOf(frame) === 2)
  assert.deepEqual(rest, { name: 'users', shards: 2, replicas: 1 })
  const [{ shards, slow, bytesMax, number }] = nodes as unknown as readonly [IndexFrame['nodes'][number]]
  assert.deepEqual([number, slow, bytesMax], [0, 2, 2 ** 26])
  assert.deepEqual(
    shards.map(({ shard, state, leads, behind }) => [shard, state, leads, behind]),
    [
      [0, 'holds', true, 0],
      [1, 'holds', true, 0],
    ],
  )
  assert.equal(shards[0]!.expiring + shards[1]!.expiring, 1)
  const [used] = await index.nodes()
  for (const { shard, bytesUsed } of shards)
    assert.equal(bytesUsed, Math.round(used!.shards.find((each) => each.shard === shard)!.usedBytes))
  const metrics = prometheusText(metricSources(spaceName()))
  const keys = [...metrics.matchAll(/^aether_index_shard_keys\{[^}]*shard="([01])",index="users"\} (\d+)$/gm)]
  assert.deepEqual(
    keys.map(([, shard, count]) => [Number(shard), Number(count)]),
    shards.map((each) => [each.shard, each.keys]),
  )
  assert.match(metrics, /^aether_index_node_slow_total\{[^}]*index="users"[^}]*\} 2$/m)
  await index.close()
  assert.deepEqual(space.look(1e9).indexes, [])
})
