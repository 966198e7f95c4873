/** An index in processes of one machine: what nodes and clients are promised, and what becomes of it when some end. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { bytesOfKey } from '../../src/index-service/keys/index-key.ts'
import { join as joinGroup } from '../../src/public/index.ts'
import { connectIndex, type Index, IndexError, openIndex } from '../../src/public/index-service.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { drawThreads } from '../consensus/fixtures/threads.ts'
import { assertLinearizable } from '../consensus/histories.ts'
import { RankProcess, Ranks } from '../support/rank-process.ts'

drawThreads()

useRuntimeDirectory()
const fixture = new URL('./fixtures/index-process.js', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'aether-test-index-'))
after(() => rmSync(folder, { recursive: true, force: true }))

let names = 0
const freshName = (): string => {
  names += 1
  return `index-${process.pid}-${names}`
}

interface Nodes extends AsyncDisposable {
  readonly name: string
  readonly ranks: Ranks
  leader(): Promise<RankProcess>
}

async function nodes(size: number, options: object = {}): Promise<Nodes> {
  const name = freshName()
  const ranks = new Ranks(fixture, size)
  await ranks.all('join', {})
  await ranks.all('open', { name, ...options })
  return {
    name,
    ranks,
    leader: async () => ranks.processes[await ranks.on<number>(0, 'leader')]!,
    [Symbol.asyncDispose]: () => ranks[Symbol.asyncDispose](),
  }
}

/** A group that is joined by one node after the other. */
function growing() {
  const name = freshName()
  const started: RankProcess[] = []
  const start = async (): Promise<RankProcess> => {
    const added = new RankProcess(fixture, {})
    after(() => added.kill())
    await added.call('join', { name })
    started.push(added)
    return added
  }
  return { name, started, start }
}

async function clientOf(name: string, options?: object): Promise<RankProcess> {
  const client = new RankProcess(fixture, {})
  after(() => client.kill())
  await client.call('connect', name, options)
  return client
}

const codeOf = (code: string) => (error: unknown) => error instanceof IndexError && error.code === code

async function alone(use: (index: Index, name: string) => Promise<void>, options: object = {}): Promise<void> {
  const name = freshName()
  await using group = await joinGroup({ rank: 0, size: 1, rendezvous: `local:${name}` })
  await using index = await openIndex(group, { name, ...options })
  await use(index, name)
}

test('strings, counters and conditions, by a node and by a client', () =>
  alone(async (node, name) => {
    await using client = await connectIndex(name)
    for (const [index, other] of [
      [node, client],
      [client, node],
    ] as const) {
      assert.equal(await index.set('user', 'ada'), true)
      assert.equal(await other.getText('user'), 'ada')
      assert.equal(await other.set('user', 'eve', { ifAbsent: true }), false)
      assert.equal(await other.set('none', 'eve', { ifPresent: true }), false)
      assert.equal(await index.increment('visits'), await other.increment('visits', 0))
      const { value, version } = await other.getVersioned('user')
      assert.equal(String(value), 'ada')
      assert.equal(await index.set('user', 'eve', { ifVersion: version }), true)
      assert.equal(await other.set('user', 'bob', { ifVersion: version }), false)
      assert.equal(await index.set('new', 1, { ifVersion: 0 }), true)
      assert.equal(await other.set('new', 1, { ifVersion: 0 }), false)
      assert.equal(await index.has('new'), true)
      assert.equal(await other.delete('user', 'new', 'none'), 2)
      assert.equal(await index.get('user'), undefined)
      assert.equal(await index.set('', 'the empty key'), true)
      assert.equal(await other.getText(''), 'the empty key')
    }
    assert.equal(await client.getText('visits'), '2')
    assert.deepEqual(await client.get('visits'), Buffer.from('2'))
    const seen: string[] = []
    for await (const key of client.keys({ match: 'v*' })) seen.push(String(key))
    assert.deepEqual(seen, ['visits'])
    await client.clear()
    assert.equal(await node.size(), 0)
  }))

test('hashes, lists, sets and sorted sets', () =>
  alone(async (node, name) => {
    await using client = await connectIndex(name)
    const hash = client.hashAt('hash')
    assert.equal(await hash.set({ name: 'ada', visits: 1 }), 2)
    assert.equal(await hash.increment('visits', 4), 5)
    assert.equal(String(await hash.get('visits')), '5')
    assert.equal(await hash.get('none'), undefined)
    assert.deepEqual(
      (await node.hashAt('hash').entries()).map((pair) => pair.map(String)),
      [
        ['name', 'ada'],
        ['visits', '5'],
      ],
    )
    assert.equal(await hash.delete('name', 'none'), 1)
    assert.equal(await hash.has('name'), false)
    const list = client.listAt('list')
    assert.equal(await list.push('b', 'c'), 2)
    assert.equal(await list.unshift('a'), 3)
    assert.deepEqual((await list.range()).map(String), ['a', 'b', 'c'])
    assert.equal(String(await list.pop()), 'c')
    assert.equal(String(await list.shift()), 'a')
    assert.equal(await list.size(), 1)
    const set = client.setAt('set')
    assert.equal(await set.add('a', 'b', 'a'), 2)
    assert.equal(await set.has('b'), true)
    assert.equal(await set.delete('b'), 1)
    assert.deepEqual((await set.members()).map(String), ['a'])
    await assert.rejects(client.get('list'), codeOf('ERR_AETHER_INDEX_WRONG_TYPE'))
    await assert.rejects(client.hashAt('list').get('a'), codeOf('ERR_AETHER_INDEX_WRONG_TYPE'))
    await assert.rejects(node.setAt('hash').add('a'), codeOf('ERR_AETHER_INDEX_WRONG_TYPE'))
    assert.equal(await client.call('LLEN', 'list'), 1)
    await assert.rejects(client.call('INCR', 'set'), codeOf('ERR_AETHER_INDEX_WRONG_TYPE'))
    await assert.rejects(client.call('SET', 'list', 'a', 'EX', 'soon'), codeOf('ERR_AETHER_INDEX_REFUSED'))
    const replies = await client.atomic([
      ['INCRBY', 'count', 5],
      ['LPUSH', 'set', 'x'],
      ['GET', 'count'],
    ])
    assert.equal(replies![0], 5)
    assert.ok(replies![1] instanceof IndexError)
    assert.equal(String(replies![2]), '5')
  }))

test('tuples come in order, forwards and backwards, by prefix and by bounds', () =>
  alone(async (node, name) => {
    await using client = await connectIndex(name)
    for (let order = 0; order < 300; order += 1) await client.set(['order', order % 3, order], `of ${order}`)
    await client.set(['other'], 'one')
    await client.set('order', 'text is no tuple')
    const collect = async (options: object) => {
      const found: unknown[] = []
      for await (const [key] of node.range(options)) found.push(key)
      return found
    }
    assert.equal((await collect({})).length, 301)
    const second = await collect({ prefix: ['order', 1] })
    assert.deepEqual(
      second,
      Array.from({ length: 100 }, (_, at) => ['order', 1, at * 3 + 1]),
    )
    assert.deepEqual(await collect({ prefix: ['order', 1], reverse: true, limit: 2 }), [
      ['order', 1, 298],
      ['order', 1, 295],
    ])
    assert.deepEqual(await collect({ from: ['order', 2, 290], to: ['other'] }), [
      ['order', 2, 290],
      ['order', 2, 293],
      ['order', 2, 296],
      ['order', 2, 299],
    ])
    await client.delete(['order', 1, 1])
    assert.deepEqual(await collect({ prefix: ['order', 1], limit: 1 }), [['order', 1, 4]])
  }))

test('a range of long values comes whole, in pages that are no longer than one of short ones', () =>
  alone(async (index, name) => {
    const client = await connectIndex(name)
    const value = Buffer.alloc(300_000)
    // More than an answer may have.
    for (let at = 0; at < 60; at += 1) await index.set(['long', at], value)
    for (const each of [index, client])
      for (const reverse of [false, true]) {
        const found: unknown[] = []
        for await (const [key, { length }] of each.range({ prefix: ['long'], reverse })) found.push(key[1], length)
        const places = Array.from({ length: 60 }, (_, at) => (reverse ? 59 - at : at))
        assert.deepEqual(
          found,
          places.flatMap((at) => [at, value.length]),
        )
      }
    const [from, to] = [bytesOfKey(['long']), bytesOfKey(['long', 59])]
    const page = await index.call('RANGE', from, to, 'BYTES', 900_000)
    assert.equal((page as unknown[]).length, 2 * 3)
    await client.close()
  }))

test('keys end at their time', () =>
  alone(async (node, name) => {
    await using client = await connectIndex(name)
    await client.set('short', 'a', { ttlMs: 150 })
    await client.set('long', 'a', { ttlMs: 60_000 })
    assert.equal(await client.ttlMs('none'), undefined)
    assert.ok((await client.ttlMs('long'))! > 50_000)
    assert.equal(await client.persist('long'), true)
    assert.equal(await client.ttlMs('long'), Number.POSITIVE_INFINITY)
    while ((await client.get('short')) !== undefined) await sleep(5)
    assert.equal(await node.get('short'), undefined)
    assert.equal(await node.has('short'), false)
    while ((await node.size()) > 1) await sleep(20)
  }))

test('those who wait are served in the order in which they came, and none when it is over', () =>
  alone(async (node, name) => {
    await using client = await connectIndex(name)
    const taken: string[] = []
    const takes = [client, node, client].map(async (index, place) => {
      await sleep(place * 60)
      taken.push(`${place}: ${String(await index.listAt('jobs').take())}`)
    })
    await sleep(250)
    assert.equal(await node.listAt('none').take({ timeoutMs: 20 }), undefined)
    const aborted = client.listAt('jobs').take({ signal: AbortSignal.timeout(30) })
    await assert.rejects(aborted, { name: 'TimeoutError' })
    await node.listAt('jobs').push('a', 'b', 'c')
    await Promise.all(takes)
    assert.deepEqual(taken.toSorted(), ['0: a', '1: b', '2: c'])
    assert.equal(await node.listAt('jobs').size(), 0, 'nothing is served to one that gave up')
  }))

test('memory is bounded: what would go beyond is refused, and the rest goes on', () =>
  alone(
    async (index) => {
      const value = Buffer.alloc(10_000)
      let stored = 0
      await assert.rejects(
        async () => {
          for (; stored < 1000; stored += 1) await index.set(`key ${stored}`, value)
        },
        (error: IndexError) => error.code === 'ERR_AETHER_INDEX_FULL' && error.outcome === 'not-applied',
      )
      assert.ok(stored > 80 && stored < 110, `${stored}`)
      assert.equal((await index.get('key 0'))?.length, 10_000)
      assert.equal(await index.delete('key 0', 'key 1'), 2)
      await index.set('key 0', value)
    },
    { memoryBytes: 2 ** 20 },
  ))

test('with a policy keys go when the memory is full; those that a client reads by memory stay', () =>
  alone(
    async (index, name) => {
      await using client = await connectIndex(name)
      const value = Buffer.alloc(2000)
      const hot = Array.from({ length: 50 }, (_, key) => `hot ${key}`)
      for (const key of hot) await index.set(key, value)
      // A mark is of a hundredth of a second.
      const startMs = Date.now()
      for (let key = 0; key < 3000 || Date.now() < startMs + 1000; key += 10) {
        await Promise.all(Array.from({ length: 10 }, (_, at) => index.set(`cold ${key + at}`, value)))
        await Promise.all(hot.map((each) => client.get(each)))
      }
      const size = await index.size()
      assert.ok(size > 300 && size < 520, `${size}`)
      const left = await Promise.all(hot.map((each) => index.has(each)))
      assert.ok(left.filter(Boolean).length >= 45, `${left.filter(Boolean).length} of ${hot.length} are left`)
    },
    { memoryBytes: 2 ** 20, policy: 'allkeys-lru' },
  ))

test('where only keys that expire may go, others are refused when there is none', () =>
  alone(
    async (index) => {
      const value = Buffer.alloc(10_000)
      for (let key = 0; key < 200; key += 1) await index.set(`short ${key}`, value, { ttlMs: 600_000 + key * 1000 })
      assert.equal(await index.has('short 0'), false, 'what expires first has gone')
      assert.equal(await index.has('short 199'), true)
      await assert.rejects(async () => {
        for (let key = 0; key < 200; key += 1) await index.set(`lasting ${key}`, value)
      }, codeOf('ERR_AETHER_INDEX_FULL'))
      assert.equal(await index.has('short 199'), false)
    },
    { memoryBytes: 2 ** 20, policy: 'volatile-ttl' },
  ))

test('replicas evict the same keys, whichever of them writes', async () => {
  await using three = await nodes(3, { memoryBytes: 2 ** 20, policy: 'allkeys-random' })
  await Promise.all(three.ranks.processes.map((rank, at) => rank.call('fill', at * 1000, at * 1000 + 300, 5000)))
  // Each goes on until there is slack, and sees what others did a moment later.
  let [keysOfOne, ...others] = await three.ranks.all<readonly string[]>('keys')
  for (let looks = 0; looks < 100 && others.some((keys) => keys.join() !== keysOfOne!.join()); looks += 1) {
    await sleep(20)
    ;[keysOfOne, ...others] = await three.ranks.all<readonly string[]>('keys')
  }
  assert.ok(keysOfOne!.length > 50 && keysOfOne!.length < 210, `${keysOfOne!.length}`)
  for (const keys of others) assert.deepEqual(keys, keysOfOne)
})

test('bad arguments and names are told at once', () =>
  alone(async (index, name) => {
    await assert.rejects(index.get(5 as never), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
    await assert.rejects(index.get('\0text'), /begin with the byte 0/)
    await assert.rejects(index.set('key', undefined as never), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
    await assert.rejects(index.set('key', 'a', { ttlMs: 0 }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
    await assert.rejects(index.set('key', 'a', { px: 5 } as never), /px/)
    await assert.rejects(index.call('NOSUCH'), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
    await assert.rejects(index.set('key', Buffer.alloc(5 * 2 ** 20)), /at most/)
    const nowhere = connectIndex(`${name}-none`, { timeoutMs: 100 })
    await assert.rejects(nowhere, codeOf('ERR_AETHER_INDEX_UNREACHABLE'))
    await using client = await connectIndex(name)
    await client.close()
    await assert.rejects(client.get('key'), codeOf('ERR_AETHER_INDEX_CLOSED'))
    await assert.rejects(client.set('key', 'a'), codeOf('ERR_AETHER_INDEX_CLOSED'))
  }))

test('three nodes hold the same, and clients of other processes read their memory even while all nodes are stopped', async () => {
  await using three = await nodes(3)
  const client = await clientOf(three.name)
  await client.call('set', 'a', 'one')
  await client.call('setHash', 'h', { field: 'old', other: '' })
  await client.call('setHash', 'h', { field: 'value' })
  // Names of many fields are not in memory.
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`field ${at}`, `value ${at}`]))
  await client.call('setHash', 'many', many)
  assert.deepEqual(await client.call('fieldsOf', 'many'), many)
  assert.deepEqual(await three.ranks.all('get', 'a'), ['one', 'one', 'one'])
  // The memory of the leader is found by then.
  assert.equal(await client.call('get', 'a'), 'one')
  for (const each of three.ranks.processes) await each.stop()
  assert.equal(await client.call('get', 'a'), 'one')
  assert.equal(await client.call('get', 'none'), undefined)
  assert.equal(await client.call('hash', 'h', 'field'), 'value')
  assert.deepEqual(await client.call('fieldsOf', 'h'), { field: 'value', other: '' })
  assert.deepEqual(await client.call('fieldsOf', 'none'), {})
  for (const each of three.ranks.processes) each.child.kill('SIGCONT')
  assert.equal(await client.call('set', 'a', 'two'), true)
  assert.equal(await client.call('get', 'a'), 'two')
})

test('nodes are killed and stopped under load: all calls have an order, and nothing that was answered is lost', async () => {
  await using three = await nodes(3)
  const clients = await Promise.all([clientOf(three.name), clientOf(three.name)])
  const path = join(folder, 'killed')
  await clients[0]!.call('set', 'stays', 'here')
  for (const [place, client] of clients.entries()) await client.call('begin', path, place * 10, 2, 4, 2)
  await sleep(500)
  const first = await three.leader()
  await first.stop()
  await sleep(600)
  first.child.kill('SIGCONT')
  await sleep(300)
  const killed = await three.leader()
  await killed.kill()
  const before = await clients[1]!.call<number>('returned')
  for (let look = 0; (await clients[1]!.call<number>('returned')) < before + 50; look += 1) {
    assert.ok(look < 500, 'calls go on')
    await sleep(20)
  }
  await Promise.all(clients.map((client) => client.call('stop')))
  assert.equal(await clients[1]!.call('get', 'stays'), 'here')
  assert.ok(assertLinearizable(path) > 50)
})

test('a node that comes later has everything, and waiting calls of one that is killed take nothing', async () => {
  const name = freshName()
  const started = [new RankProcess(fixture, {}), new RankProcess(fixture, {}), new RankProcess(fixture, {})]
  after(() => Promise.all(started.map((each) => each.kill())))
  for (const each of started) await each.call('join', { name })
  await Promise.all(started.map((each) => each.call('open', { name, replicas: 3 })))
  await started[0]!.call('fill', 0, 2000, 500)
  const [victim] = started
  void victim!.call('take', 'jobs')
  while ((await started[1]!.call<{ waiting: number }>('figures')).waiting === 0) await sleep(10)
  await victim!.kill()
  while ((await started[1]!.call<{ waiting: number }>('figures')).waiting > 0) await sleep(20)
  assert.equal(await started[2]!.call('push', 'jobs', 'for the living'), 1)
  const late = new RankProcess(fixture, {})
  after(() => late.kill())
  await late.call('join', { name })
  await late.call('open', { name, replicas: 3 })
  assert.equal(await late.call('size'), 2001)
  assert.equal(await late.call('take', 'jobs'), 'for the living')
  assert.equal(((await late.call('get', 'filled 1999')) as string).length, 500)
})

test('all nodes are killed at once: with directories nothing that was answered is lost', async () => {
  const name = freshName()
  const directories = [0, 1, 2].map((each) => join(folder, `kept-${each}`))
  const open = async () => {
    const started = directories.map(() => new RankProcess(fixture, {}))
    after(() => Promise.all(started.map((each) => each.kill())))
    for (const each of started) await each.call('join', { name: `${name}-${started[0]!.processId}` })
    const opened = started.map((each, place) => each.call('open', { name, replicas: 3, directory: directories[place] }))
    await Promise.all(opened)
    return started
  }
  const first = await open()
  const counts = await Promise.all(first.map((each) => each.call<number>('increment', 'count')))
  await first[0]!.call('set', 'text', 'kept')
  await first[1]!.call('push', 'list', 'a', 'b')
  await Promise.all(first.map((each) => each.kill()))
  const second = await open()
  assert.equal(await second[2]!.call('get', 'text'), 'kept')
  assert.equal(await second[0]!.call('increment', 'count'), Math.max(...counts) + 1)
  assert.equal(await second[1]!.call('take', 'list'), 'a')
  // Reads by memory go on, too, once the nodes were seen alive for a while.
  const client = await clientOf(name)
  for (let look = 0; look < 20; look += 1) assert.equal(await client.call('get', 'text'), 'kept')
  await Promise.all(second.map((each) => each.call('closeGroup')))
})

test('a node with a directory takes over shards of one that is killed', async () => {
  const { name, started, start } = growing()
  const options = () => ({ name, replicas: 3, shards: 3, directory: mkdtempSync(join(folder, 'moved-')) })
  for (let count = 0; count < 3; count += 1) await start()
  await Promise.all(started.map((each) => each.call('open', options())))
  const client = await clientOf(name)
  await client.call('fill', 0, 100, 100)
  await (await start()).call('open', options())
  await started.shift()!.kill()
  await assertSpread(started, 3)
  assert.equal(await started[2]!.call('countKeys', 'filled', 100), 100)
})

test('a node that is killed loses nothing by `everysec` and `no` either; several nodes are refused', async () => {
  for (const append of ['everysec', 'no']) {
    const name = freshName()
    const options = { name, replicas: 1, directory: join(folder, `lazy-${append}`), append }
    for (let life = 1; life <= 3; life += 1) {
      const node = new RankProcess(fixture, {})
      after(() => node.kill())
      await node.call('join', { name: `${name}-${life}` })
      await node.call('open', options)
      assert.equal(await node.call('increment', 'lives'), life)
      await node.call('fill', life * 100, life * 100 + 100, 1000)
      assert.equal(await node.call('size'), 1 + life * 100)
      await node.kill()
    }
  }
  await alone(async (_index, name) => {
    await using group = await joinGroup({ rank: 0, size: 1, rendezvous: `local:${name}-more` })
    const open = (options: object) => openIndex(group, { name: `${name}-more`, append: 'everysec', ...options })
    await assert.rejects(open({ replicas: 3, directory: folder }), /unless options.replicas is 1/)
    await assert.rejects(open({ replicas: 1 }), /without options.directory/)
    await assert.rejects(open({ replicas: 1, directory: folder, append: 'often' }), /always, everysec, no/)
  })
})

test('in a group of a fixed size shards are spread over the ranks, and taken over from one that is killed', async () => {
  await using four = await nodes(4, { shards: 4, replicas: 3 })
  const { processes } = four.ranks
  const client = await clientOf(four.name)
  await client.call('fill', 0, 100, 50)
  await assertSpread(processes, 4)
  const holds = await Promise.all(processes.map((each) => each.call<number[]>('holds')))
  assert.ok(
    holds.some((each) => each.length < 4),
    JSON.stringify(holds),
  )
  await processes[3]!.kill()
  await assertSpread(processes.slice(0, 3), 4)
  for (const each of [client, processes[0]!]) assert.equal(await each.call('countKeys', 'filled', 100), 100)
})

test('clients come over the network, too', async () => {
  await using three = await nodes(3, { listen: '127.0.0.1:0' })
  const listens = await three.ranks.all<{ address: string; port: number }>('listens')
  const client = await clientOf(three.name, { addresses: listens.map(({ address, port }) => `${address}:${port}`) })
  assert.equal(await client.call('set', 'a', 'far'), true)
  assert.equal(await client.call('get', 'a'), 'far')
  await (await three.leader()).kill()
  assert.equal(await client.call('get', 'a'), 'far')
  assert.equal(await client.call('set', 'a', 'on'), true)
})

test('a call that is late or one too many ends alone: others of the same client go on', async () => {
  await using one = await nodes(1, { inFlightMax: 100 })
  const client = await clientOf(one.name)
  const many = await client.call<Record<string, number>>('setMany', 3000)
  assert.deepEqual(
    Object.keys(many).filter((code) => !['stored', 'ERR_AETHER_INDEX_BUSY'].includes(code)),
    [],
  )
  assert.ok(many['stored']! >= 100 && many['ERR_AETHER_INDEX_BUSY']! > 0, JSON.stringify(many))
  const [node] = one.ranks.processes
  await node!.stop()
  const patient = client.call('set', 'patient', 'stored')
  const late = await client.call('codeOfSet', 'late', { timeoutMs: 100 })
  assert.equal(late, 'ERR_AETHER_INDEX_TIMEOUT unknown')
  node!.child.kill('SIGCONT')
  assert.equal(await patient, true)
})

test('a client that does not read its answers holds up no other one', async () => {
  await using one = await nodes(1)
  const [slow, other] = [await clientOf(one.name), await clientOf(one.name)]
  await other.call('set', 'long', 'x'.repeat(500_000))
  for (let round = 0; round < 3; round += 1) {
    const read = slow.call<number>('readMany', 'long', 300)
    await sleep(10 * round)
    await slow.stop()
    for (let at = 0; at < 100; at += 1) assert.equal(await other.call('set', 'short', `${at}`), true)
    slow.child.kill('SIGCONT')
    assert.equal(await read, 300 * 500_000)
  }
})

test('while no majority lives, calls of a node itself and those of clients are refused when there are too many', async () => {
  await using three = await nodes(3, { inFlightMax: 50 })
  const [node, ...others] = three.ranks.processes
  const client = await clientOf(three.name, { inFlightMax: 40 })
  await client.call('set', 'known', 'yes')
  for (const each of others) await each.kill()
  // Clients find out who is left.
  await client.call('codeOfSet', 'first', { timeoutMs: 2000 })
  const options = { timeoutMs: 2000 }
  assert.deepEqual(await client.call('setMany', 60, options), {
    ERR_AETHER_INDEX_TIMEOUT: 40,
    ERR_AETHER_INDEX_BUSY: 20,
  })
  // At the node they end a moment later than at the client.
  while ((await node!.call<{ proposing: number }>('status', 0)).proposing > 0) await sleep(10)
  const own = node!.call('setMany', 80, { timeoutMs: 10_000 })
  // It has begun by the time of the answer.
  await node!.call('holds')
  assert.equal(await client.call('codeOfSet', 'one more', options), 'ERR_AETHER_INDEX_BUSY not-applied')
  assert.deepEqual(await own, { ERR_AETHER_INDEX_TIMEOUT: 50, ERR_AETHER_INDEX_BUSY: 30 })
})

test('a write whose node is killed says that it may have taken effect', async () => {
  await using three = await nodes(3)
  const client = await clientOf(three.name)
  const failed = client.call<{ code: string; outcome: string; call: number } | undefined>('setUntilFailed')
  await sleep(200)
  await (await three.leader()).kill()
  const { code, outcome, call } = (await failed) ?? { code: '', outcome: '', call: 0 }
  if (code !== '') {
    assert.deepEqual([code, outcome], ['ERR_AETHER_INDEX_UNREACHABLE', 'unknown'])
    const written = Number((await client.call('get', 'written')) ?? 0)
    assert.ok([call - 1, call].includes(written), `call ${call} failed, and ${written} is there`)
  }
})

test('shards are spread over the nodes, and move while clients work, as nodes come and are killed', async () => {
  const { name, started, start } = growing()
  for (let count = 0; count < 3; count += 1) await start()
  const options = { name, replicas: 3, shards: 3 }
  await Promise.all(started.map((each) => each.call('open', options)))
  const client = await clientOf(name)
  const path = join(folder, 'moved')
  await client.call('fill', 0, 300, 100)
  await client.call('begin', path, 1, 2, 8, 2)
  await assertSpread(started, 3)
  await (await start()).call('open', options)
  await assertSpread(started, 3)
  await started.shift()!.kill()
  await assertSpread(started, 3)
  const before = await client.call<number>('returned')
  while ((await client.call<number>('returned')) < before + 20) await sleep(10)
  await client.call('stop')
  assert.ok(assertLinearizable(path) > 20)
  assert.equal(await client.call('countKeys', 'filled', 300), 300)
  assert.equal(await started[1]!.call('countKeys', 'filled', 300), 300)
  assert.deepEqual(await started[0]!.call('range', 'none', false), [])
  await using index = await connectIndex(name)
  // And those of the registers that were written.
  const size = await index.size()
  assert.ok(size > 300 && size <= 308, `${size}`)
  await assert.rejects(index.call('DBSIZE'), codeOf('ERR_AETHER_INDEX_REFUSED'))
  await assert.rejects(index.atomic([['SET', 'a', 1], ['FLUSHALL']]), codeOf('ERR_AETHER_INDEX_REFUSED'))
  await assert.rejects(index.call('RENAME', 'filled 1', 'filled 2'), /different shards/)
  assert.equal(await index.call('MSET', '{tag}a', 1, '{tag}b', 2), 'OK')
  assert.equal(await index.delete('{tag}a', 'filled 1', 'filled 2', 'filled 3'), 4)
  await index.clear()
  assert.equal(await index.size(), 0)
})

test('leaders of shards are spread over the nodes, also after one was killed and another has come', async () => {
  const { name, started, start } = growing()
  const options = { name, replicas: 3, shards: 6 }
  for (let count = 0; count < 3; count += 1) await start()
  await Promise.all(started.map((each) => each.call('open', options)))
  const client = await clientOf(name)
  const path = join(folder, 'spread')
  await client.call('begin', path, 1, 2, 8, 2)
  await assertLeaders(started, [2, 2, 2])
  await started.pop()!.kill()
  await assertLeaders(started, [3, 3])
  await (await start()).call('open', options)
  await assertLeaders(started, [2, 2, 2])
  await client.call('stop')
  assert.ok(assertLinearizable(path) > 20)
})

test('a shard is not handed over again and again to a node that does not keep it', async () => {
  await using open = await nodes(3, { replicas: 3, shards: 3 })
  const { processes } = open.ranks
  await assertLeaders(processes, [1, 1, 1])
  const terms = async (): Promise<number[]> => {
    const stands = await Promise.all([0, 1, 2].map((shard) => processes[0]!.call<{ term: number }>('status', shard)))
    return stands.map(({ term }) => Math.floor(term / TERM_STEP))
  }
  const before = await terms()
  // Its replica steps back, for its program answers nothing. Both others hand it over once: five terms, or some more.
  const blocked = { isOver: false }
  const block = processes[2]!.call('block', 6000).finally(() => {
    blocked.isOver = true
  })
  while (!blocked.isOver) for (let key = 0; key < 12; key += 1) await processes[0]!.call('set', `key ${key}`, 'value')
  await block
  const after = await terms()
  const most = Math.max(...after.map((term, shard) => term - before[shard]!))
  assert.ok(most > 0 && most <= 8, `${before} became ${after}`)
})

/** So far are terms of a proposer from one another. */
const TERM_STEP = 1024

/** How many shards each node leads, the fewest first. */
async function assertLeaders(nodesNow: readonly RankProcess[], expected: readonly number[]): Promise<void> {
  for (let look = 0; ; look += 1) {
    const leads = await Promise.all(nodesNow.map((each) => each.call<number>('leads')))
    if (JSON.stringify([...leads].sort()) === JSON.stringify(expected)) return
    if (look === 600) assert.fail(`they lead ${JSON.stringify(leads)}`)
    await sleep(50)
  }
}

/** Each shard is held by three nodes, which vote. */
async function assertSpread(nodesNow: readonly RankProcess[], shards: number): Promise<void> {
  for (let look = 0; ; look += 1) {
    const holds = await Promise.all(nodesNow.map((each) => each.call<number[]>('holds')))
    const voters = await Promise.all(
      Array.from({ length: shards }, async (_, shard) => {
        const holder = nodesNow[holds.findIndex((each) => each.includes(shard))]
        return (await holder?.call<{ voters?: number[] } | undefined>('status', shard))?.voters?.length
      }),
    )
    const counts = Array.from({ length: shards }, (_, shard) => holds.filter((each) => each.includes(shard)).length)
    if (counts.every((count) => count === 3) && voters.every((count) => count === 3)) return
    if (look === 600) {
      const failures = await Promise.all(nodesNow.map((each) => each.call('failures')))
      assert.fail(`held ${JSON.stringify({ holds, voters, failures })}`)
    }
    await sleep(50)
  }
}
