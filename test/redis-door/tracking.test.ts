/** CLIENT TRACKING at the door, and what redis-server tells. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { withoutRedis } from '../index-service/support/differential.ts'
import { openDoor, openRedis } from './support/door.ts'
import { openDoors, type TestDoors } from './support/doors.ts'
import type { Answer, RawClient } from './support/raw-client.ts'

useRuntimeDirectory()

type Connect = (protocol?: 2 | 3) => Promise<RawClient>
/** `reader` and `listener` speak the version of the test. What `writer` does has been told when it is answered. */
type Who = 'reader' | 'listener' | 'writer'
/** How many answers come is the last part, if it is not one. `LISTENER` is its number. */
type Step = readonly [who: Who, command: string, answers?: number]

const options: readonly Step[] = [
  ['reader', 'CLIENT TRACKINGINFO'],
  ['reader', 'CLIENT GETREDIR'],
  ['reader', 'CLIENT TRACKING on'],
  ['reader', 'CLIENT TRACKINGINFO'],
  ['reader', 'CLIENT GETREDIR'],
  ['reader', 'CLIENT TRACKING on BCAST'],
  ['reader', 'CLIENT CACHING yes'],
  ['reader', 'CLIENT TRACKING on OPTIN NOLOOP REDIRECT LISTENER'],
  ['reader', 'CLIENT GETREDIR'],
  ['reader', 'CLIENT TRACKING on OPTOUT'],
  ['reader', 'CLIENT CACHING no'],
  ['reader', 'CLIENT CACHING x'],
  ['reader', 'CLIENT CACHING yes'],
  ['reader', 'CLIENT TRACKINGINFO'],
  ['reader', 'PING'],
  ['reader', 'CLIENT TRACKINGINFO'],
  ['reader', 'CLIENT TRACKING on REDIRECT LISTENER REDIRECT LISTENER'],
  ['reader', 'CLIENT TRACKING off'],
  ['reader', 'CLIENT TRACKING on BCAST PREFIX a PREFIX b NOLOOP'],
  ['reader', 'CLIENT TRACKINGINFO'],
  ['reader', 'CLIENT TRACKING on BCAST PREFIX ac'],
  ['reader', 'CLIENT TRACKING on BCAST PREFIX c PREFIX c'],
  ['reader', 'CLIENT TRACKING on BCAST PREFIX c'],
  ['reader', 'CLIENT TRACKING on'],
  ['reader', 'CLIENT TRACKING off'],
  ['reader', 'CLIENT TRACKINGINFO'],
  ['reader', 'CLIENT CACHING yes'],
  ['reader', 'MULTI'],
  ['reader', 'CLIENT TRACKING on OPTIN'],
  ['reader', 'CLIENT CACHING yes'],
  ['reader', 'EXEC'],
  ['reader', 'CLIENT TRACKINGINFO'],
  ['reader', 'RESET'],
  ['reader', 'CLIENT TRACKINGINFO'],
]

/** What a client of RESP3 is told itself. */
const told: readonly Step[] = [
  ['reader', 'CLIENT TRACKING on'],
  ['writer', 'MSET a 1 b 2 c 3'],
  ['reader', 'MGET a b none'],
  ['writer', 'SET c 4'],
  ['writer', 'SET a 4'],
  ['reader', '', 1],
  ['writer', 'SET a 5'],
  ['writer', 'SET none 5'],
  ['reader', '', 1],
  ['reader', 'GET b'],
  ['reader', 'SET b 9', 2],
  ['reader', 'SET b 9'],
  ['reader', 'GET a'],
  ['writer', 'EXPIRE a 100'],
  ['reader', '', 1],
  ['reader', 'EXISTS a'],
  ['writer', 'RENAME a d'],
  ['reader', '', 1],
  ['reader', 'HGET hash f'],
  ['writer', 'HSET hash f v'],
  ['reader', '', 1],
  ['reader', 'HGET hash f'],
  ['writer', 'HDEL hash f'],
  ['reader', '', 1],
  ['reader', 'GET other'],
  ['writer', 'SELECT 3'],
  ['writer', 'SET other x'],
  ['reader', '', 1],
  ['writer', 'SELECT 0'],
  ['reader', 'GET a'],
  ['reader', 'GET b'],
  ['reader', 'MULTI'],
  ['reader', 'INCR b'],
  ['reader', 'INCR b'],
  ['reader', 'INCR a'],
  ['reader', 'EXEC', 3],
  ['reader', 'MULTI'],
  ['reader', 'GET b'],
  ['reader', 'EXEC'],
  ['writer', 'INCR b'],
  ['reader', '', 1],
  ['reader', 'MULTI'],
  ['reader', 'SET new 1'],
  ['reader', 'INCR new'],
  ['reader', 'GET new'],
  ['reader', 'EXEC'],
  ['writer', 'SET new 2'],
  ['reader', '', 1],
  ['reader', 'MULTI'],
  ['reader', 'GET new'],
  ['reader', 'INCR new'],
  ['reader', 'INCR new'],
  ['reader', 'GET new'],
  ['reader', 'EXEC', 2],
  ['writer', 'SET new 2'],
  ['reader', '', 1],
  ['reader', 'GET b'],
  ['writer', 'FLUSHDB'],
  ['reader', '', 1],
  ['writer', 'FLUSHALL'],
  ['reader', '', 1],
  ['reader', 'FLUSHALL', 2],
  ['reader', 'GET soon'],
  ['writer', 'SET soon x PX 5'],
  ['reader', '', 1],
  ['reader', 'LRANGE list 0 -1'],
  ['writer', 'LPUSH list a'],
  ['reader', '', 1],
  ['reader', 'OBJECT ENCODING list'],
  ['writer', 'LPUSH list a'],
  ['reader', '', 1],
  ['reader', 'XINFO STREAM none'],
  ['writer', 'XADD none 1-1 a b'],
  ['reader', '', 1],
  ['reader', 'ZUNION 2 z1 z2'],
  ['writer', 'ZADD z2 1 a'],
  ['reader', '', 1],
  ['reader', 'CLIENT TRACKING off'],
  ['writer', 'ZADD z1 1 a'],
  ['reader', 'PING'],
]

const broadcast: readonly Step[] = [
  ['reader', 'CLIENT TRACKING on BCAST PREFIX a PREFIX b'],
  ['writer', 'MSET a1 1 c 1 a2 2'],
  ['reader', '', 1],
  ['reader', 'SET a1 1', 2],
  ['writer', 'SET b1 1'],
  ['reader', '', 1],
  ['writer', 'FLUSHALL'],
  ['reader', '', 1],
  ['reader', 'CLIENT TRACKING on BCAST NOLOOP'],
  ['reader', 'SET a1 1'],
  ['writer', 'SET a1 1'],
  ['reader', '', 1],
  ['reader', 'CLIENT TRACKING off'],
  ['writer', 'SET a1 2'],
  ['reader', 'PING'],
]

const opting: readonly Step[] = [
  ['reader', 'CLIENT TRACKING on OPTIN'],
  ['reader', 'GET a'],
  ['reader', 'CLIENT CACHING yes'],
  ['reader', 'GET b'],
  ['reader', 'GET c'],
  ['writer', 'MSET a 1 b 1 c 1'],
  ['reader', '', 1],
  ['reader', 'CLIENT CACHING yes'],
  ['reader', 'MULTI'],
  ['reader', 'GET a'],
  ['reader', 'GET b'],
  ['reader', 'EXEC'],
  ['reader', 'GET c'],
  ['writer', 'MSET a 2 b 2 c 2'],
  ['reader', '', 2],
  ['reader', 'CLIENT TRACKING off'],
  ['reader', 'CLIENT TRACKING on OPTOUT'],
  ['reader', 'CLIENT CACHING no'],
  ['reader', 'GET a'],
  ['reader', 'GET b'],
  ['writer', 'MSET a 1 b 1 c 1'],
  ['reader', '', 1],
  ['reader', 'PING'],
]

const scripts: readonly Step[] = [
  ['writer', 'MSET a 1 b 1'],
  ['reader', 'CLIENT TRACKING on'],
  ['reader', "EVAL return(redis.call('get',KEYS[1])) 2 a b"],
  ['writer', 'SET a 2'],
  ['reader', '', 1],
  ['writer', 'SET b 2'],
  ['reader', '', 1],
  ['reader', "EVAL return(redis.call('set',KEYS[1],'3')) 1 a"],
  ['writer', 'SET a 4'],
  ['reader', "EVAL_RO return(redis.call('ping')) 1 a"],
  ['writer', 'SET a 5'],
  ['reader', "EVAL_RO return(redis.call('get',KEYS[1])) 1 a"],
  ['writer', "EVAL return(redis.call('set',KEYS[1],'6')) 1 a"],
  ['reader', '', 1],
  ['reader', 'GET a'],
  ['reader', "EVAL return(redis.call('incr',KEYS[1])) 1 a", 2],
  ['reader', 'MULTI'],
  ['reader', "EVAL return(redis.call('get',KEYS[1])) 1 a"],
  ['reader', 'GET b'],
  ['reader', 'EXEC'],
  ['writer', 'SET a 6'],
  ['reader', '', 1],
  ['writer', 'SET b 6'],
  ['reader', '', 1],
  ['reader', 'CLIENT TRACKING on NOLOOP'],
  ['reader', 'GET a'],
  ['reader', "EVAL return(redis.call('incr',KEYS[1])) 1 a"],
  ['writer', 'SET a 6'],
  ['reader', 'PING'],
]

const redirected: readonly Step[] = [
  ['reader', 'CLIENT TRACKING on REDIRECT LISTENER'],
  ['reader', 'GET a'],
  ['writer', 'SET a 1'],
  ['listener', 'SUBSCRIBE __redis__:invalidate'],
  ['reader', 'GET a'],
  ['writer', 'SET a 2'],
  ['listener', '', 1],
  ['reader', 'GET a'],
  ['reader', 'SET a 2'],
  ['listener', '', 1],
  ['writer', 'FLUSHALL'],
  ['listener', '', 1],
  ['reader', 'CLIENT TRACKING off'],
  ['reader', 'CLIENT TRACKING on REDIRECT LISTENER BCAST'],
  ['writer', 'MSET a 2 b 3'],
  ['listener', '', 1],
  ['reader', 'PING'],
]

async function played(connect: Connect, protocol: 2 | 3, steps: readonly Step[]): Promise<Answer[]> {
  const clients = {
    reader: await connect(protocol),
    listener: await connect(protocol),
    writer: await connect(),
  }
  const listener = String(await clients.listener.ask('CLIENT', 'ID'))
  await clients.writer.ask('FLUSHALL')
  const answers: Answer[] = []
  for (const [who, command, count = 1] of steps) {
    if (command !== '') clients[who].send(command.replaceAll('LISTENER', listener).split(' '))
    for (let at = 0; at < count; at += 1) {
      const answer = JSON.stringify(await clients[who].next())
      const shown = command.startsWith('CLIENT') ? answer.replace(new RegExp(`\\b${listener}\\b`), 'LISTENER') : answer
      answers.push([command, shown])
    }
  }
  return answers
}

for (const [name, protocol, steps] of [
  ['options are told and refused', 2, options],
  ['options are told and refused', 3, options],
  ['a client is told of keys that it has read', 3, told],
  ['a client of RESP2 that redirects to no one is told nothing', 2, [...told.filter(([, command]) => command !== '')]],
  ['prefixes are told of as a whole', 3, broadcast],
  ['clients choose by CLIENT CACHING', 3, opting],
  ['what scripts read is told of', 3, scripts],
  ['another client is told', 2, redirected],
] as const)
  test(`RESP${protocol}: ${name} as by Redis`, { skip: withoutRedis }, async () => {
    const all = protocol === 3 ? steps : steps.map(([who, command]): Step => [who, command])
    await using door = await openDoor()
    await using redis = await openRedis()
    const theirs = await played((version) => redis.connect(version), protocol, all)
    assert.deepEqual(await played((version) => door.connect(version), protocol, all), theirs)
  })

/** Keeps what it reads until it is told, as clients with a cache do. What comes is taken in its order. */
class CachingReader {
  readonly cache = new Map<string, Answer>()
  flushes = 0
  readonly #client: RawClient
  readonly #asked: { readonly key: string; readonly done: () => void }[] = []

  constructor(client: RawClient) {
    this.#client = client
    void this.#take().catch(() => undefined)
  }

  read(...keys: readonly string[]): Promise<unknown> {
    return Promise.all(
      keys.map((key) => {
        this.#client.send(['GET', key])
        return new Promise<void>((done) => this.#asked.push({ key, done }))
      }),
    )
  }

  async #take(): Promise<void> {
    for (;;) {
      const answer = await this.#client.next()
      if (typeof answer === 'object' && answer !== null && 'push' in answer) {
        const [kind, keys] = answer['push'] as unknown as [string, readonly string[] | null]
        assert.equal(kind, 'invalidate')
        if (keys === null) {
          this.flushes += 1
          this.cache.clear()
        } else for (const key of keys) this.cache.delete(key)
        continue
      }
      const { key, done } = this.#asked.shift()!
      this.cache.set(key, answer)
      done()
    }
  }
}

const names = Array.from({ length: 24 }, (_, at) => `key:${at}`)

/** Nothing is kept that is not so any more. */
async function isRight({ cache }: CachingReader, other: RawClient): Promise<boolean> {
  for (const [key, kept] of [...cache])
    if ((await other.ask('GET', key)) !== kept && cache.get(key) === kept) return false
  return true
}

async function nothingStaleIsKept(doors: TestDoors, ranks: readonly number[], mode: readonly string[]): Promise<void> {
  const readers = await Promise.all(
    ranks.map(async (rank) => {
      const client = await doors.connect(rank, 3)
      assert.equal(await client.ask('CLIENT', 'TRACKING', 'on', ...mode), 'OK')
      return new CachingReader(client)
    }),
  )
  const writers = await Promise.all(ranks.map((rank) => doors.connect(rank)))
  let isOver = false
  const reading = readers.map(async (reader) => {
    for (let at = 0; !isOver; at += 3) await reader.read(...[0, 1, 2].map((more) => names[(at + more) % names.length]!))
  })
  for (let round = 0; round < 20; round += 1)
    await Promise.all(
      writers.map((writer, at) => writer.ask('SET', names[(round * 7 + at) % names.length]!, `${round}-${at}`)),
    )
  isOver = true
  await Promise.all(reading)
  await Promise.all(readers.map((reader) => reader.read(...names)))
  for (const key of names) assert.equal(await writers[0]!.ask('SET', key, 'last'), 'OK')
  for (const reader of readers) {
    let isDone = false
    for (let tries = 0; tries < 300 && !isDone; tries += 1) {
      isDone = await isRight(reader, writers[0]!)
      if (!isDone) await sleep(10)
    }
    assert.ok(isDone, 'what has changed is not kept')
  }
}

for (const mode of [[], ['BCAST']])
  test(`what changes at any node is told of, also while it is read ${mode.join('')}`, async () => {
    await using doors = await openDoors(2)
    await nothingStaleIsKept(doors, [0, 1], mode)
  })

test('changes of shards that a node does not hold are told of there', async () => {
  await using doors = await openDoors(4, { shards: 6, replicas: 3 })
  for (const mode of [[], ['BCAST', 'PREFIX', 'key:']]) {
    await nothingStaleIsKept(doors, [0, 3], mode)
    const [reader, writer] = [await doors.connect(0, 3), await doors.connect(1)]
    assert.match(JSON.stringify(await writer.ask('INFO', 'aether')), /shards_held:[1-5]\\r/)
    assert.equal(await reader.ask('CLIENT', 'TRACKING', 'on', ...mode), 'OK')
    let kept = 0
    for (const key of names) {
      await reader.ask('GET', key)
      // What may not be kept is told behind the answer. On a busy machine, nodes may be silent for too long.
      const isKept = (await reader.ask('PING')) === 'PONG'
      if (!isKept) assert.equal(await reader.next(), 'PONG')
      await writer.ask('SET', key, 'x')
      if (isKept) assert.match(JSON.stringify(await reader.next()), new RegExp(`null|"${key}"`))
      kept += Number(isKept)
    }
    assert.ok(kept > names.length / 2, `${kept} of ${names.length} keys may be kept`)
  }
  const own = await doors.connect(0, 3)
  await own.ask('CLIENT', 'TRACKING', 'on', 'NOLOOP')
  let untold = 0
  for (const key of names) {
    await own.ask('GET', key)
    await own.ask('SET', key, 'own')
    if ((await own.ask('PING')) === 'PONG') untold += 1
    else assert.equal(await own.next(), 'PONG')
  }
  assert.ok(untold > names.length / 2, `${untold} of ${names.length} changes of its own are not told`)
})

test('tracking is shown, bounded, and ends with the client', async () => {
  await using door = await openDoor()
  const [reader, other] = [await door.connect(3), await door.connect()]
  const shown = async (): Promise<string> => {
    const info = String(((await other.ask('INFO')) as string).match(/tracking_[^:]*:\d+/g))
    return `${info} ${String(((await other.ask('CLIENT', 'LIST')) as string).match(/ id=1 .* flags=\w+|redir=-?\d+/g))}`
  }
  const isOff = /clients:0,tracking_total_keys:0,tracking_total_items:0,tracking_total_prefixes:0 .*redir=-1/
  assert.match(await shown(), isOff)
  assert.equal(door.node.changeListener, undefined, 'no one is told where no one tracks')
  await reader.ask('CLIENT', 'TRACKING', 'on')
  await reader.ask('MGET', 'a', 'b', 'c')
  assert.match(await shown(), /clients:1,tracking_total_keys:3,tracking_total_items:3,.*redir=0/)
  assert.equal(await other.ask('CONFIG', 'SET', 'tracking-table-max-keys', '2'), 'OK')
  assert.deepEqual(await reader.next(), { push: ['invalidate', ['a']] })
  assert.deepEqual(await reader.ask('GET', 'd'), { push: ['invalidate', ['b']] })
  assert.deepEqual(await reader.next(), null)
  reader[Symbol.dispose]()
  while (!isOff.test(await shown()));
  assert.equal(door.node.changeListener, undefined)
})

test('a stream that is waited for is told of when its entries have come', async () => {
  await using door = await openDoor()
  const [reader, writer] = [await door.connect(3), await door.connect()]
  await reader.ask('CLIENT', 'TRACKING', 'on')
  reader.send(['XREAD', 'BLOCK', '0', 'STREAMS', 'stream', '$'])
  while (!String(await writer.ask('INFO', 'clients')).includes('blocked_clients:1'));
  await writer.ask('XADD', 'stream', '1-1', 'a', 'b')
  assert.deepEqual(await reader.next(), { push: ['invalidate', ['stream']] })
  assert.deepEqual(await reader.next(), { map: ['stream', [['1-1', ['a', 'b']]]] })
  assert.deepEqual(await reader.next(), { push: ['invalidate', ['stream']] })
})

test('a client that waits for a stream is told once, however often the stream changes meanwhile', async () => {
  await using door = await openDoor()
  const [reader, writer] = [await door.connect(3), await door.connect()]
  await reader.ask('CLIENT', 'TRACKING', 'on', 'BCAST')
  reader.send(['XREAD', 'BLOCK', '0', 'STREAMS', 'stream', '9-0'])
  while (!String(await writer.ask('INFO', 'clients')).includes('blocked_clients:1'));
  for (const id of ['1-1', '2-1', '3-1', '9-1']) {
    await writer.ask('XADD', 'stream', id, 'a', 'b')
    assert.deepEqual(await reader.next(), { push: ['invalidate', ['stream']] })
  }
  assert.deepEqual(await reader.next(), { map: ['stream', [['9-1', ['a', 'b']]]] })
  assert.deepEqual(await reader.next(), { push: ['invalidate', ['stream']] })
  assert.equal(await reader.ask('PING'), 'PONG')
})

test('what is read in a transaction that begins to track is not kept', async () => {
  await using door = await openDoor()
  const reader = await door.connect(3)
  const exec = async (...commands: readonly string[]): Promise<void> => {
    for (const command of ['MULTI', ...commands]) await reader.ask(...command.split(' '))
    reader.send(['EXEC'])
    await reader.next()
  }
  await exec('GET before', 'CLIENT TRACKING on OPTIN', 'GET other', 'CLIENT CACHING yes', 'GET a', "EVAL '' 1 b")
  assert.deepEqual(await reader.next(), { push: ['invalidate', ['other', 'a', 'b']] })
  await exec('CLIENT CACHING yes', 'GET a')
  assert.deepEqual(await reader.next(), { push: ['invalidate', ['a']] })
  await exec('CLIENT TRACKINGINFO', 'GET a')
  assert.equal(await reader.ask('PING'), 'PONG')
})

test('overlaps among many prefixes are found', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  const many = Array.from({ length: 30_000 }, (_, at) => ['PREFIX', `p${at}:`]).flat()
  const on = ['CLIENT', 'TRACKING', 'on', 'BCAST']
  const overlap = (prefix: string, which: string, other: string): RegExp =>
    new RegExp(`^-ERR Prefix '${prefix}' overlaps with ${which} '${other}'`)
  assert.match(
    String(await client.ask(...on, ...many, 'PREFIX', 'p29999:x')),
    overlap('p29999:', 'another provided prefix', 'p29999:x'),
  )
  assert.equal(await client.ask(...on, ...many), 'OK')
  assert.match(String(await client.ask(...on, 'PREFIX', 'p7:x')), overlap('p7:x', 'an existing prefix', 'p7:'))
  assert.match(String(await client.ask(...on, 'PREFIX', 'p29999')), overlap('p29999', 'an existing prefix', 'p29999:'))
  assert.equal(await client.ask(...on), 'OK')
  assert.match(String(await client.ask(...on, 'PREFIX', 'z')), overlap('z', 'an existing prefix', ''))
})

test('clients that come and go do not add up in the table of keys', async () => {
  await using door = await openDoor()
  const stays = await door.connect(3)
  await stays.ask('CLIENT', 'TRACKING', 'on')
  await stays.ask('GET', 'key')
  for (let count = 0; count < 200; count += 1) {
    using client = await door.connect(3)
    await client.ask('CLIENT', 'TRACKING', 'on')
    await client.ask('GET', 'key')
  }
  const [, items] = /tracking_total_items:(\d+)/.exec(JSON.stringify(await stays.ask('INFO')))!
  assert.ok(Number(items) < 100, items)
  await (await door.connect()).ask('SET', 'key', 'x')
  assert.deepEqual(await stays.next(), { push: ['invalidate', ['key']] })
})
