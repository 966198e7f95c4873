/** The port of an index, as other rooms use it: at a node, and at a client of the same machine. */
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { IndexClient } from '../../src/index-service/client/index-client.ts'
import { Index } from '../../src/index-service/handles/index-handle.ts'
import { openNode } from '../../src/index-service/index.ts'
import { NodeCards } from '../../src/index-service/node/node-cards.ts'
import type { ShardReplica } from '../../src/index-service/node/shard-replica.ts'
import type { CallLimits, IndexPort, ShardPort } from '../../src/index-service/port.ts'
import { join } from '../../src/public/index.ts'
import { RpcError } from '../../src/rpc/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { callIn } from './support/differential.ts'
import { shown } from './support/same-reply.ts'

useRuntimeDirectory()
const limits: CallLimits = { timeoutMs: 10_000, signal: undefined }
const bytes = (text: string): Uint8Array => Buffer.from(text)

async function withPorts(use: (node: ShardPort, client: ShardPort) => Promise<void>): Promise<void> {
  const name = `ports-${process.pid}`
  await using group = await join({ rank: 0, size: 1, rendezvous: `local:${name}` })
  const node = await openNode(group, { name })
  const cards = new NodeCards(name)
  const client = new IndexClient({ name, places: () => cards.list(), inFlightMax: 1024 })
  try {
    await client.begin(limits)
    await use(node.shard(0), client.shard(0))
  } finally {
    await client.close()
    await node.close()
  }
}

test('a call that has just chosen its node is not lost when another finds that node gone', async () => {
  const name = `gone-${process.pid}`
  await using group = await join({ rank: 0, size: 1, rendezvous: `local:${name}` })
  const node = await openNode(group, { name })
  const cards = new NodeCards(name)
  const client = new IndexClient({ name, places: () => cards.list(), inFlightMax: 1024 })
  const gone = new RpcError('ERR_AETHER_RPC_UNAVAILABLE', 'not-sent', 'versions', 'the node is gone')
  try {
    for (let ticks = 0; ticks < 6; ticks += 1) {
      await client.begin(limits)
      let times = 0
      let fail: (error: Error) => void = () => assert.fail('it was not asked')
      const failing = client.ask(0, limits, true, () =>
        ++times === 1 ? new Promise<string>((_, reject) => (fail = reject)) : Promise.resolve('again'),
      )
      await sleep(1)
      fail(gone)
      for (let tick = 0; tick < ticks; tick += 1) await undefined
      const other = client.ask(0, limits, true, (asked, options) =>
        asked.versions({ shard: 0, keys: [bytes('a')], db: 0 }, options),
      )
      assert.equal(await failing, 'again')
      assert.equal((await other).length, 1)
    }
  } finally {
    await client.close()
    await node.close()
  }
})

/** A client reads memory once it knows whose. */
async function looked(look: () => unknown): Promise<unknown> {
  for (let tries = 0; tries < 500; tries += 1) {
    const found = look()
    if (found !== undefined) return found instanceof Uint8Array ? Buffer.from(found).toString() : found
    await sleep(5)
  }
  throw new Error('memory was not read')
}

test('a call that waited and was served leaves no timer and no listener of its signal', () =>
  withPorts(async (node) => {
    const { signal } = new AbortController()
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    const calls = Array.from({ length: 20 }, () => node.wait(callIn(0, ['BLPOP', 'list', '0']), 600_000, signal))
    while ((node as ShardReplica).figures.waiting < calls.length) await sleep(1)
    assert.equal(getEventListeners(signal, 'abort').length, 1, 'Node.js warns from eleven on')
    await node.run([callIn(0, ['RPUSH', 'list', ...calls.map(String)])], undefined, limits)
    await Promise.all(calls)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    assert.ok(timers() < before + calls.length, `${timers()} timers, and ${before} before`)
  }))

test('calls that one signal may abort are one listener of it, however many they are', () =>
  withPorts(async (node) => {
    const { signal } = new AbortController()
    const set = (value: number) => node.run([callIn(0, ['SET', 'a', `${value}`])], undefined, { ...limits, signal })
    const sets = Array.from({ length: 20 }, (_, value) => set(value))
    assert.equal(getEventListeners(signal, 'abort').length, 1, 'Node.js warns from eleven on')
    await Promise.all(sets)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  }))

test('keys of clients of Redis that begin like tuples and are none are bytes, and are no part of a range', () =>
  withPorts(async (node, client) => {
    const odd = Buffer.from([0, 0xff])
    await node.run([{ name: 'SET', args: [odd, bytes('odd')] }], undefined, limits)
    for (const port of [node, client]) {
      const index = new Index('odd', { shards: 1, shard: () => port } as unknown as IndexPort)
      await index.set(['a', 1], 'tuple')
      await index.set(['b'], 'tuple')
      const keys: unknown[] = []
      for await (const key of index.keys()) keys.push(key)
      assert.ok(keys.length === 3 && keys.some((key) => Buffer.isBuffer(key) && key.equals(odd)), String(keys))
      for (const reverse of [false, true]) {
        const found: unknown[] = []
        for await (const [key] of index.range({ limit: 2, reverse })) found.push(key)
        assert.deepEqual(found, reverse ? [['b'], ['a', 1]] : [['a', 1], ['b']])
      }
    }
  }))

test('each database is read, watched, waited for and looked at by its number, also after a swap', () =>
  withPorts(async (node, client) => {
    for (const port of [node, client]) {
      for (const db of [0, 1, 2])
        await port.run(
          [callIn(db, ['SET', 'a', `in ${db}`]), callIn(db, ['HSET', 'h', 'f', `field ${db}`])],
          undefined,
          limits,
        )
      await port.run([callIn(0, ['SWAPDB', '1', '2'])], undefined, limits)
      for (const [db, had] of [
        [0, 0],
        [1, 2],
        [2, 1],
      ] as const) {
        assert.equal(await looked(() => port.lookAt(bytes('a'), db)), `in ${had}`)
        assert.equal(await looked(() => port.lookAtField(bytes('h'), bytes('f'), db)), `field ${had}`)
        const [value] = await port.read([callIn(db, ['GET', 'a'])], limits)
        assert.equal(Buffer.from(value as Uint8Array).toString(), `in ${had}`)
      }
      const [version] = await port.versions([bytes('a')], limits, 1)
      const watched = [{ key: bytes('a'), version: version!, db: 1 }]
      assert.deepEqual(await port.run([callIn(1, ['DEL', 'a'])], watched, limits), [1])
      assert.equal(await port.run([callIn(1, ['SET', 'a', 'x'])], watched, limits), null)
      assert.equal(await looked(() => port.lookAt(bytes('a'), 1)), null)
      const waiting = port.wait(callIn(3, ['BLPOP', 'list', '0']), 5_000, undefined)
      for (const db of [0, 3]) await port.run([callIn(db, ['RPUSH', 'list', `of ${db}`])], undefined, limits)
      assert.equal(shown(await waiting, false), '["list","of 3"]')
      await port.run([callIn(0, ['FLUSHALL'])], undefined, limits)
    }
  }))
