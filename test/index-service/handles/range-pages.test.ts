import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Index } from '../../../src/index-service/handles/index-handle.ts'
import { bytesOfKey } from '../../../src/index-service/keys/index-key.ts'
import { shardOf } from '../../../src/index-service/keys/shard-of.ts'
import type { IndexPort, ShardPort } from '../../../src/index-service/port.ts'
import type { Call } from '../../../src/index-service/state/shard-command.ts'
import { bytesOf } from '../../../src/index-service/values/latin1.ts'
import { LoneMachine } from '../support/differential.ts'

/** An index of tuples `['t', 0]` up to `['t', count - 1]`, and how often its shards were asked. */
function indexOf(shards: number, count: number): { readonly index: Index; asked(): number } {
  const machines = Array.from({ length: shards }, () => new LoneMachine())
  for (let at = 0; at < count; at += 1) {
    const key = bytesOfKey(['t', at])
    machines[shardOf(key, shards)]!.apply({ calls: [{ name: 'SET', args: [key, bytesOf(`v${at}`)] }] })
  }
  let asked = 0
  const ports = machines.map(({ machine, timeMs }) => ({
    read: async (calls: readonly Call[]) => {
      asked += 1
      return machine.read(calls, timeMs)
    },
  }))
  const port = { shards, shard: (number: number) => ports[number] as unknown as ShardPort } as IndexPort
  return { index: new Index('ranges', port), asked: () => asked }
}

async function numbers(index: Index, options: Parameters<Index['range']>[0]): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const [key, value] of index.range(options)) {
    assert.equal(value.toString(), `v${String(key[1])}`)
    found.push(key[1])
  }
  return found
}

const upTo = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at)

test('a range with a limit asks each shard once for each page, and no more at its end', async () => {
  for (const shards of [1, 3]) {
    const { index, asked } = indexOf(shards, 1000)
    assert.deepEqual(await numbers(index, { from: ['t', 100], limit: 100 }), upTo(100, 200))
    assert.equal(asked(), shards)
    assert.deepEqual(await numbers(index, { from: ['t', 5], limit: 0 }), [])
    assert.equal(asked(), shards)
  }
})

test('a range over several pages is whole, in both directions', async () => {
  for (const shards of [1, 3]) {
    const { index } = indexOf(shards, 1000)
    assert.deepEqual(await numbers(index, {}), upTo(0, 1000))
    assert.deepEqual(await numbers(index, { reverse: true }), upTo(0, 1000).toReversed())
    assert.deepEqual(
      await numbers(index, { from: ['t', 10], to: ['t', 600], reverse: true }),
      upTo(10, 600).toReversed(),
    )
    assert.deepEqual(await numbers(index, { from: ['t', 10], to: ['t', 10] }), [])
    assert.deepEqual(await numbers(index, { prefix: ['t', 999] }), [999])
    assert.deepEqual(await numbers(index, { prefix: ['s'] }), [])
  }
})

test('a program that ends a range early asks for no further page', async () => {
  const { index, asked } = indexOf(1, 1000)
  for await (const [key] of index.range()) if (key[1] === 255) break
  assert.equal(asked(), 1)
})
