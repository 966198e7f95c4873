/** Reads that are answered out of memory before requests are looked at one by one: only their time tells them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { openDoor } from './support/door.ts'

useRuntimeDirectory()

test('among other requests they see what came before them, and not what comes behind', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  const answers = await client.askAll([
    ...[
      ['GET', 'a'],
      ['SET', 'a', '1'],
      ['GET', 'a'],
      ['get', 'a'],
      ['SET', 'a', '2'],
      ['GET', 'a'],
    ],
    ...[
      ['HSET', 'h', 'f', 'x'],
      ['HGET', 'h', 'f'],
      ['HGET', 'h', 'g'],
      ['GET', 'h'],
      ['HGET', 'a', 'f'],
    ],
  ])
  const wrong = '-WRONGTYPE Operation against a key holding the wrong kind of value'
  assert.deepEqual(answers, [null, 'OK', '1', '1', 'OK', '2', 1, 'x', null, wrong, wrong])
  // All at the start of what comes are answered at once.
  const reads = Array.from({ length: 5000 }, (_, at) => (at % 2 === 0 ? ['GET', 'a'] : ['HGET', 'h', 'f']))
  const expected = reads.map(([name]) => (name === 'GET' ? '2' : 'x'))
  assert.deepEqual(await client.askAll(reads), expected)
  const shown = String(await client.ask('INFO', 'commandstats'))
  assert.match(shown, /cmdstat_get:calls=2505,/)
  assert.match(shown, /cmdstat_hget:calls=2503,/)
  assert.match(String(await client.ask('CLIENT', 'LIST')), / cmd=client\|list /)
})

test('values longer than the room for replies come whole, and in their order', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  const long = 'x'.repeat(100_000)
  await client.askAll([
    ['SET', 'long', long],
    ['SET', 'short', 'y'],
    ['SET', 'middle', 'z'.repeat(9000)],
  ])
  const keys = ['short', 'long', 'middle', 'middle', 'middle', 'short', 'long', 'long', 'short']
  const values = await client.askAll(keys.map((key) => ['GET', key]))
  assert.deepEqual(
    values.map((value) => String(value).length),
    [1, 100_000, 9000, 9000, 9000, 1, 100_000, 100_000, 1],
  )
})

test('a request in two pieces is answered once it is whole', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  await client.ask('SET', 'key', 'value')
  const bytes = '*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n'
  for (let cut = 1; cut < bytes.length; cut += 1) {
    client.sendBytes(`${bytes}${bytes.slice(0, cut)}`)
    assert.equal(await client.next(), 'value')
    client.sendBytes(`${bytes.slice(cut)}${bytes}`)
    assert.deepEqual([await client.next(), await client.next()], ['value', 'value'])
  }
})

test('what holds for a client holds for them', async () => {
  await using door = await openDoor()
  const [client, other] = [await door.connect(), await door.connect(3)]
  await client.askAll([
    ['SET', 'a', 'zero'],
    ['SELECT', '3'],
    ['SET', 'a', 'three'],
  ])
  assert.equal(await client.ask('GET', 'a'), 'three')
  assert.deepEqual(await client.askAll([['MULTI'], ['GET', 'a'], ['EXEC'], ['GET', 'a']]), [
    'OK',
    'QUEUED',
    ['three'],
    'three',
  ])
  client.send(['CLIENT', 'REPLY', 'OFF'])
  client.send(['GET', 'a'])
  client.send(['CLIENT', 'REPLY', 'ON'])
  assert.equal(await client.next(), 'OK')
  client.send(['CLIENT', 'REPLY', 'SKIP'])
  client.send(['GET', 'a'])
  assert.equal(await client.ask('ECHO', 'next'), 'next')
  assert.equal(await other.ask('GET', 'a'), 'zero')
  assert.equal(await other.ask('GET', 'none'), null)

  const monitor = await door.connect()
  await monitor.ask('MONITOR')
  await other.ask('GET', 'a')
  assert.match(String(await monitor.next()), /"GET" "a"$/)
  monitor[Symbol.dispose]()

  const listener = await door.connect()
  await listener.ask('SUBSCRIBE', 'c')
  assert.match(String(await listener.ask('GET', 'a')), /^-ERR Can't execute 'get'/)

  await other.ask('ACL', 'SETUSER', 'few', 'on', 'nopass', '+get', '~b*')
  const few = await door.connect()
  await few.ask('AUTH', 'few', 'x')
  assert.equal(await few.ask('GET', 'b'), null)
  assert.match(String(await few.ask('GET', 'a')), /^-NOPERM/)
  assert.match(String(await few.ask('HGET', 'b', 'f')), /^-NOPERM/)
})

test('one who has not said who it is reads nothing', async () => {
  await using door = await openDoor({ password: 'secret' })
  const client = await door.connect()
  assert.match(String(await client.ask('GET', 'a')), /^-NOAUTH/)
  assert.deepEqual(
    await client.askAll([
      ['AUTH', 'secret'],
      ['GET', 'a'],
    ]),
    ['OK', null],
  )
})

test('where writes are paused, they go on; where all is paused, they wait for its end', async () => {
  await using door = await openDoor()
  const [client, writer] = [await door.connect(), await door.connect()]
  await client.ask('CLIENT', 'PAUSE', '1000000', 'WRITE')
  writer.send(['SET', 'a', 'b'])
  assert.equal(await client.ask('GET', 'a'), null)
  await client.ask('CLIENT', 'UNPAUSE')
  assert.equal(await writer.next(), 'OK')
  await client.ask('CLIENT', 'PAUSE', '100', 'ALL')
  assert.equal(await client.ask('GET', 'a'), 'b')
})

test('clients stay, and are told so, when the replica of a shard is over', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  await client.ask('SET', 'a', 'b')
  const closed = door.node.held.get(0)!.close()
  assert.equal(await client.ask('PING'), 'PONG')
  assert.match(String(await client.ask('GET', 'a')), /^-/)
  await closed
})
