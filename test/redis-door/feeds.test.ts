/** Changes of shards that a node does not hold, between nodes whose messages are lost on purpose. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { latin1Of, type ShardReplica } from '../../src/index-service/index.ts'
import { ChangeFeeds } from '../../src/redis-door/tracking/change-feeds.ts'
import type { FeedNode } from '../../src/redis-door/tracking/feed-node.ts'
import { FollowedShards } from '../../src/redis-door/tracking/followed-shards.ts'
import { ShardChanges } from '../../src/redis-door/tracking/shard-changes.ts'
import { until } from '../cluster/support.ts'

const SILENT_MS = 800

/** Nodes by rank, and whether a message comes through. */
class Wire {
  readonly nodes: WiredNode[] = []
  passes: (from: number, to: number, text: string) => boolean = () => true

  add(holds: readonly number[]): WiredNode {
    const node = new WiredNode(this, this.nodes.length, holds)
    this.nodes.push(node)
    return node
  }
}

class WiredReplica implements Pick<ShardReplica, 'versions'> {
  isCutOff = false

  versions(): Promise<readonly number[]> {
    return this.isCutOff ? Promise.reject(new Error('no majority has answered')) : Promise.resolve([])
  }
}

class WiredNode implements FeedNode {
  readonly rank: number
  readonly shards = 2
  readonly held: Map<number, WiredReplica>
  changeListener: ((shard: number, key: Uint8Array | undefined, origin: number | undefined) => void) | undefined
  readonly #wire: Wire
  readonly #listeners = new Set<(message: Uint8Array) => void>()

  constructor(wire: Wire, rank: number, holds: readonly number[]) {
    this.#wire = wire
    this.rank = rank
    this.held = new Map(holds.map((shard) => [shard, new WiredReplica()]))
  }

  get nodes(): FeedNode['nodes'] {
    const door = { address: '127.0.0.1', port: 1 }
    return this.#wire.nodes.map(({ rank, held }) => ({
      ...{ rank, door },
      holds: [...held.keys()].map((shard) => ({ shard, table: 0 })),
    }))
  }

  tellNode(rank: number, message: Uint8Array): void {
    if (!this.#wire.passes(this.rank, rank, latin1Of(message))) return
    setImmediate(() => {
      for (const listener of this.#wire.nodes[rank]!.#listeners) listener(message)
    })
  }

  onTold(listener: (message: Uint8Array) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  change(shard: number, key: string, origin?: number): void {
    this.changeListener?.(shard, Buffer.from(key, 'latin1'), origin)
  }
}

/** Node 0 holds shard 0 and follows shard 1, which nodes 1 and 2 hold. */
class Followed implements Disposable {
  readonly wire = new Wire()
  readonly follower: WiredNode = this.wire.add([0])
  readonly holders: readonly WiredNode[] = [this.wire.add([1]), this.wire.add([0, 1])]
  readonly told: (readonly [string | undefined, number | undefined])[] = []
  lost = 0
  gained = 0
  readonly shards: FollowedShards = new FollowedShards({
    node: this.follower,
    silentMs: SILENT_MS,
    onChange: (key, origin) => this.told.push([key, origin]),
    onLost: () => (this.lost += 1),
    onGained: () => (this.gained += 1),
  })
  readonly #feeds = this.holders.map((node) => new ChangeFeeds(node, new ShardChanges(node), SILENT_MS))

  static async begin(): Promise<Followed> {
    const followed = new Followed()
    followed.shards.begin()
    await followed.shards.ready()
    return followed
  }

  /** Those that are asked. */
  get asked(): readonly number[] {
    return this.holders.filter(({ changeListener }) => changeListener !== undefined).map(({ rank }) => rank)
  }

  change(key: string, origin?: number): void {
    for (const holder of this.holders) holder.change(1, key, origin)
  }

  [Symbol.dispose](): void {
    this.shards.close()
    for (const feeds of this.#feeds) feeds.close()
  }
}

test('changes of a shard come from one node that holds it, with who has made them', async () => {
  using followed = await Followed.begin()
  assert.deepEqual([followed.shards.isWhole, followed.lost, followed.gained], [true, 0, 1])
  assert.deepEqual(followed.asked, [1])
  followed.change('a\xff', 7)
  followed.change('b')
  followed.holders[0]!.change(0, 'of another shard')
  await until(() => followed.told.length === 2, 'both are told')
  assert.deepEqual(followed.told, [
    ['a\xff', 7],
    ['b', undefined],
  ])
  followed.shards.end()
  assert.equal(followed.shards.has(1), false)
})

test('a message that is lost is noticed, with the next one or without', async () => {
  for (const hasNext of [true, false]) {
    using followed = await Followed.begin()
    followed.wire.passes = (_from, _to, text) => !text.includes('"lost"')
    followed.change('lost')
    if (hasNext) {
      await new Promise(setImmediate)
      followed.change('next')
    }
    await until(() => followed.lost === 1, 'it is noticed')
    assert.deepEqual(followed.told, [])
    await until(() => followed.shards.isWhole, 'all is told of again')
    followed.change('later')
    await until(() => followed.told.length === 1, 'changes are told again')
  }
})

test('a node that says nothing is noticed, and another one is asked', async () => {
  using followed = await Followed.begin()
  followed.wire.passes = (from) => from !== 1
  await until(() => followed.lost === 1 && followed.shards.isWhole, 'another one tells')
  followed.holders[1]!.change(1, 'a')
  await until(() => followed.told.length === 1, 'changes are told')
  await until(() => followed.asked.length === 1, 'the first one tells no one any more')
})

test('a node that hears nothing for a while has not told of all since', async () => {
  using followed = await Followed.begin()
  followed.wire.passes = (from) => from !== 0
  await until(() => followed.asked.length === 0, 'no one is told any more')
  followed.change('missed')
  followed.wire.passes = () => true
  await until(() => followed.lost === 1 && followed.shards.isWhole, 'it is noticed')
  assert.deepEqual(followed.told, [])
})

test('a shard that is cut off, here or there, is not told of', async () => {
  using followed = await Followed.begin()
  followed.follower.held.get(0)!.isCutOff = true
  await until(() => followed.lost === 1, 'it may be cut off')
  assert.deepEqual([followed.shards.has(0), followed.shards.has(1)], [false, true])
  followed.follower.held.get(0)!.isCutOff = false
  await until(() => followed.shards.isWhole, 'it is not any more')
  for (const { held } of followed.holders) held.get(1)!.isCutOff = true
  await until(() => followed.lost === 2, 'those that tell may be')
  assert.equal(followed.shards.has(1), false)
})

test('a shard that comes to be held is told of here, and one that is not any more by others', async () => {
  using followed = await Followed.begin()
  followed.follower.held.set(1, new WiredReplica())
  await until(() => followed.asked.length === 0, 'no one is asked any more')
  assert.deepEqual([followed.shards.isWhole, followed.lost], [true, 0])
  followed.follower.held.delete(0)
  followed.holders[0]!.held.delete(1)
  await until(() => followed.lost === 1 && followed.shards.isWhole, 'another one is asked')
  assert.deepEqual(followed.asked, [2])
})
