/** What an index tells those who look after it: what took long, which keys are hot, and what keys take. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { connectIndex, type Index } from '../../src/public/index-service.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { Ranks } from '../support/rank-process.ts'
import { alone, freshName } from './support/alone.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/index-process.js', import.meta.url)
const commandsOf = async (index: Index): Promise<string[]> =>
  (await index.slowLog()).map(({ command }) => command.map(String).join(' ')).sort()

test('what took long is noted with its arguments, whoever has called, and once', () =>
  alone({ slowMs: 0, shards: 2 }, async (node, client) => {
    const startMs = Date.now()
    await node.set('a', 'x'.repeat(200))
    await client.set('b', 1)
    await client.atomic([
      ['INCR', 'b'],
      ['INCR', 'b'],
    ])
    await assert.rejects(client.increment('a'))
    await client.listAt('many').push(...Array.from({ length: 40 }, (_, at) => `value ${at}`))
    const expected = [
      'INCR b ... (1 more commands)',
      'INCRBY a 1',
      `RPUSH many ${Array.from({ length: 29 }, (_, at) => `value ${at}`).join(' ')} ... (11 more arguments)`,
      `SET a ${'x'.repeat(128)}... (72 more bytes)`,
      'SET b 1',
    ]
    for (const index of [node, client]) assert.deepEqual(await commandsOf(index), expected)
    const log = await client.slowLog()
    for (const { node: rank, tookMs, atMs, client: from, command } of log) {
      assert.equal(rank, 0)
      assert.ok(tookMs >= 0 && atMs >= startMs - 1 && atMs <= Date.now() + 1)
      assert.match(from, String(command[1]) === 'a' && String(command[0]) === 'SET' ? /^node 0$/ : /^client \d+$/)
    }
    assert.ok(log.every(({ atMs }, at) => at === 0 || atMs <= log[at - 1]!.atMs))
    assert.equal((await node.nodes())[0]!.slow, 5)
  }))

test('what is faster than slowMs is not noted, and of the rest the last 128 are kept', async () => {
  await alone({ slowMs: Number.POSITIVE_INFINITY }, async (node, client) => {
    await client.set('a', 1)
    assert.deepEqual(await node.slowLog(), [])
    assert.equal((await client.nodes())[0]!.slow, 0)
  })
  await alone({ slowMs: 0 }, async (node, client) => {
    for (let call = 0; call < 130; call += 1) await client.increment('a')
    assert.equal((await node.slowLog()).length, 128)
    assert.equal((await client.nodes())[0]!.slow, 130)
  })
})

test('what took long is forgotten once it was told, if that is asked for', () =>
  alone({ slowMs: 0 }, async (node, client) => {
    await client.set('a', 1)
    assert.equal((await node.slowLog({ reset: false })).length, 1)
    assert.deepEqual(
      (await client.slowLog({ reset: true })).map(({ command }) => command.map(String)),
      [['SET', 'a', '1']],
    )
    assert.deepEqual(await commandsOf(node), [])
    await node.set('b', 2)
    assert.equal((await node.slowLog({ reset: true })).length, 1)
    assert.deepEqual(await commandsOf(client), [])
    assert.equal((await client.nodes())[0]!.slow, 2, 'it counts on')
    await assert.rejects(client.slowLog({ reset: 'yes' as never }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  }))

test('a node may look for work before it sleeps', async () => {
  await alone({ spinMs: 2 }, async (node, client) => {
    await client.set('a', 1)
    assert.equal(await node.getText('a'), '1')
  })
  for (const spinMs of [-1, Number.NaN, '2' as never])
    await assert.rejects(
      alone({ spinMs }, async () => assert.fail('it opened')),
      { code: 'ERR_AETHER_INVALID_ARGUMENT', message: /options\.spinMs/ },
    )
})

/** Uses until they have been counted. */
async function whileCounted<T>(counted: Promise<T>, use: () => Promise<unknown>): Promise<T> {
  let isOver = false
  const over = counted.finally(() => {
    isOver = true
  })
  while (!isOver) {
    await use()
    await turn()
  }
  return await over
}

test('hot keys are those that are read and written, by nodes and by clients', () =>
  alone({ shards: 2 }, async (node, client) => {
    for (let key = 0; key < 500; key += 1) await node.set(`cold ${key}`, key)
    await node.set(['tuple', 1], 1)
    await client.hashAt('hash').set({ field: 1 })
    const found = await whileCounted(node.hotKeys({ forMs: 300, count: 4 }), async () => {
      for (let use = 0; use < 8; use += 1) await client.get(['tuple', 1])
      for (let use = 0; use < 4; use += 1) await client.hashAt('hash').get('field')
      await client.increment('written')
      await client.increment('written')
      await client.call('EXISTS', 'cold 7')
    })
    assert.deepEqual(
      found.map(({ key }) => (Buffer.isBuffer(key) ? String(key) : key)),
      [['tuple', 1], 'hash', 'written', 'cold 7'],
    )
    assert.ok(found.every(({ db, uses }, at) => db === 0 && uses > 0 && (at === 0 || uses <= found[at - 1]!.uses)))
    // A command counts once, whatever it looks at.
    const [, , written, read] = found
    assert.ok(written!.uses <= 2 * (read!.uses + 1), JSON.stringify(found))
    const none = await client.hotKeys({ forMs: 1 })
    assert.deepEqual(none, [])
  }))

test('a write that all nodes run counts once', async () => {
  const name = freshName()
  const ranks = new Ranks(fixture, 3)
  after(() => ranks[Symbol.asyncDispose]())
  await ranks.all('join', {})
  await ranks.all('open', { name })
  await using client = await connectIndex(name)
  let writes = 0
  await client.set('written', 0)
  const [hot] = await whileCounted(client.hotKeys({ forMs: 300 }), async () => {
    await client.increment('written')
    writes += 1
  })
  assert.equal(String(hot!.key), 'written')
  assert.ok(hot!.uses <= writes + 1, `${hot!.uses} uses of ${writes} writes`)
  assert.ok(hot!.uses > 0)
})

test('uses are counted for as long as someone asks, and an abort ends that', () =>
  alone({}, async (node) => {
    const stop = new AbortController()
    const counted = node.hotKeys({ forMs: 600_000, timeoutMs: 700_000, signal: stop.signal })
    stop.abort(new Error('enough'))
    await assert.rejects(counted)
  }))

test('sizes by prefix are those of the keys', () =>
  alone({ shards: 3 }, async (node, client) => {
    for (let key = 0; key < 30; key += 1) await node.set(`user:${key}:name`, 'x'.repeat(key))
    await node.set('user:1:age', 7, { ttlMs: 600_000 })
    await node
      .hashAt('session:7')
      .set(Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`field ${at}`, `value ${at}`])))
    await node.listAt('queue').push('one', 'two')
    await node.set(['order', 'ada', 1], 1)
    await node.set(['order', 'eve', 2], 1)
    await node.set(['alone'], 1)
    const takes = async (...keys: readonly (string | (string | number)[])[]): Promise<number> => {
      let bytes = 0
      for (const key of keys) bytes += Number(await node.call('MEMORY', 'USAGE', key))
      return bytes
    }
    const users = [...Array.from({ length: 30 }, (_, key) => `user:${key}:name`), 'user:1:age']
    const expected = [
      ['session:', 1, await takes('session:7')],
      ['user:', 31, await takes(...users)],
      [['order'], 2, await takes(['order', 'ada', 1], ['order', 'eve', 2])],
      ['', 1, await takes('queue')],
      [[], 1, await takes(['alone'])],
    ]
    const shown = ({ prefix, keys, bytes }: { prefix: unknown; keys: number; bytes: number }) => [
      Buffer.isBuffer(prefix) ? String(prefix) : prefix,
      keys,
      bytes,
    ]
    for (const index of [node, client]) {
      const { prefixes, rest } = await index.sizesByPrefix()
      const all = prefixes.map(shown)
      for (const [prefix, keys, bytes] of expected) {
        const found = all.find((each) => JSON.stringify(each[0]) === JSON.stringify(prefix))
        assert.equal(found?.[1], keys, String(prefix))
        // MEMORY USAGE rounds up.
        const off = Number(bytes) - Number(found![2])
        assert.ok(off >= -1 && off < Number(keys), `${String(prefix)}: ${String(found![2])}, not ${String(bytes)}`)
      }
      assert.equal(all.length, expected.length)
      assert.deepEqual(rest, { keys: 0, bytes: 0 })
      assert.ok(prefixes.every(({ bytes }, at) => at === 0 || bytes <= prefixes[at - 1]!.bytes))
    }
    const deep = await client.sizesByPrefix({ depth: 2, count: 3 })
    const names = deep.prefixes.map(shown).map(([prefix, keys]) => `${String(prefix)} ${String(keys)}`)
    assert.equal(names[0], 'session: 1')
    assert.ok(names.includes('user:1: 2'), names.join())
    assert.equal(deep.prefixes.length, 3)
    assert.equal(deep.rest.keys, 36 - deep.prefixes.reduce((sum, { keys }) => sum + keys, 0))
    assert.ok(deep.rest.bytes > 0)
    const { prefixes: bySpace } = await client.sizesByPrefix({ separator: 'r:' })
    assert.ok(bySpace.map(shown).some(([prefix, keys]) => prefix === 'user:' && keys === 31))
  }))

test('a node does other things while sizes are looked for', () =>
  alone({}, async (node) => {
    for (let key = 0; key < 4000; key += 1000) {
      const pairs = Array.from({ length: 1000 }, (_, at) => [`key ${key + at}`, 'value']).flat()
      await node.call('MSET', ...pairs)
    }
    let turns = 0
    let isOver = false
    const others = (async () => {
      for (; !isOver; turns += 1) await turn()
    })()
    assert.equal((await node.sizesByPrefix()).prefixes[0]!.keys, 4000)
    isOver = true
    await others
    assert.ok(turns >= 5, `${turns} turns of the event loop`)
  }))

test('sizes tell databases apart, and a key that only looks like a tuple is bytes', () =>
  alone({}, async (node) => {
    await node.set('a:1', 1)
    await node.set('a:2', 1)
    await node.call('MOVE', 'a:2', 3)
    await node.call('SET', Buffer.from([0, 0xff, 0x3a, 7]), 1)
    const { prefixes } = await node.sizesByPrefix()
    const shown = prefixes.map(({ db, prefix, keys }) => [
      db,
      Buffer.isBuffer(prefix) ? prefix.toString('hex') : prefix,
      keys,
    ])
    assert.deepEqual(shown.sort(), [
      [0, '00ff3a', 1],
      [0, '613a', 1],
      [3, '613a', 1],
    ])
  }))
