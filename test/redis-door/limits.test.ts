/** What a client can take of the door's memory and time is bounded. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import { until, useRuntimeDirectory } from '../cluster/support.ts'
import { openDoor } from './support/door.ts'
import { RawClient } from './support/raw-client.ts'
import { startNodes } from './support/served-nodes.ts'

useRuntimeDirectory()

test('a value that is too long is read past, and the connection goes on', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  const long = Buffer.alloc(5 * 2 ** 20, 'x')
  const [set, get] = await client.askAll([
    ['SET', 'a', long],
    ['GET', 'a'],
  ])
  assert.match(String(set), /^-ERR an argument has more than 4194304 bytes/)
  assert.equal(get, null)
  await client.ask('MULTI')
  assert.match(String(await client.ask('SET', 'a', long)), /^-ERR an argument/)
  assert.match(String(await client.ask('EXEC')), /^-EXECABORT/)
  assert.equal(await client.ask('SET', 'a', Buffer.alloc(4 * 2 ** 20)), 'OK')
  client.sendBytes(`*3\r\n$3\r\nSET\r\n$1\r\na\r\n$${512 * 2 ** 20 + 1}\r\n`)
  assert.equal(await client.untilEnd(), '-ERR Protocol error: invalid bulk length\r\n')
})

test('writes that no majority takes are refused when they are too long together', async () => {
  const [first, ...others] = await startNodes(3)
  const clients = await Promise.all(Array.from({ length: 40 }, () => RawClient.connect(first!.port)))
  const value = Buffer.alloc(4 * 2 ** 20, 'x')
  assert.equal(await clients[0]!.ask('SET', 'kept', 'yes'), 'OK')
  for (const node of others) await node.kill()
  const answers: string[] = []
  for (const [at, client] of clients.entries())
    client.ask('SET', `long ${at}`, value).then(
      (answer) => answers.push(String(answer)),
      // Those that wait are ended.
      () => undefined,
    )
  await until(() => answers.length >= 5, 'some are refused')
  for (const answer of answers.slice(0, 5))
    assert.match(answer, /^-TRYAGAIN index .* bytes under way; nothing was done/)
  for (const client of clients) client[Symbol.dispose]()
})

test('a request that grows beyond the limit ends its connection', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  await client.ask('CONFIG', 'SET', 'client-query-buffer-limit', '2mb')
  client.sendBytes('*5\r\n$3\r\nSET\r\n$3000000\r\n')
  client.sendBytes(Buffer.alloc(2_900_000))
  assert.equal(await client.untilEnd(), '')
})

test('a transaction that grows beyond the limit ends its connection, by its values and by their number', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  await client.ask('CONFIG', 'SET', 'client-query-buffer-limit', '2mb')
  for (const values of [Array.from({ length: 5 }, () => Buffer.alloc(512 * 1024)), Array(20_000).fill('')]) {
    const long = await door.connect()
    assert.equal(await long.ask('MULTI'), 'OK')
    assert.equal(await long.ask('SET', 'a', '1'), 'QUEUED')
    for (const value of values) long.send(['SET', 'a', value])
    await long.untilEnd()
    assert.equal(await client.ask('GET', 'a'), null)
  }
  await client.ask('MULTI')
  for (const value of [Buffer.alloc(900 * 1024), Buffer.alloc(900 * 1024), 'last'])
    assert.equal(await client.ask('SET', 'a', value), 'QUEUED')
  await client.ask('EXEC')
  assert.equal(await client.ask('GET', 'a'), 'last')
})

test('a subscriber that does not read is disconnected', async () => {
  await using door = await openDoor()
  const [slow, client] = [await door.connect(), await door.connect()]
  await client.ask('CONFIG', 'SET', 'client-output-buffer-limit', 'pubsub 2mb 0 0')
  await slow.ask('SUBSCRIBE', 'news')
  slow.socket.pause()
  const message = Buffer.alloc(512 * 1024)
  for (let count = 0; count < 200; count += 1) if ((await client.ask('PUBLISH', 'news', message)) === 0) break
  assert.equal(await client.ask('PUBLISH', 'news', message), 0)
  assert.match(String(await client.ask('INFO', 'stats')), /client_output_buffer_limit_disconnections:1\r\n/)
})

test('replies to a client that does not read wait in its requests, not in memory', async () => {
  await using door = await openDoor()
  const [slow, other] = [await door.connect(), await door.connect()]
  const value = Buffer.alloc(2 ** 20)
  await slow.ask('SET', 'a', value)
  slow.socket.pause()
  for (let count = 0; count < 64; count += 1) slow.send(['GET', 'a'])
  let most = 0
  for (let count = 0; count < 20; count += 1) {
    const line = String(await other.ask('CLIENT', 'LIST', 'ID', '1'))
    most = Math.max(most, Number(/omem=(\d+)/.exec(line)![1]))
  }
  assert.ok(most < 16 * 2 ** 20, `${most} bytes waited`)
  slow.socket.resume()
  for (let count = 0; count < 64; count += 1) assert.equal(String(await slow.next()).length, 2 ** 20)
})

test('a client that says nothing is disconnected, but not one that waits', async () => {
  await using door = await openDoor()
  const [idle, waiting, client] = [await door.connect(), await door.connect(), await door.connect()]
  const waited = waiting.ask('BLPOP', 'list', '0')
  await client.ask('CONFIG', 'SET', 'timeout', '1')
  for (; !idle.hasEnded; ) await client.ask('PING')
  await client.ask('RPUSH', 'list', 'a')
  assert.deepEqual(await waited, ['list', 'a'])
})

test('more clients than there may be are refused', async () => {
  await using door = await openDoor({ clientsMax: 2 })
  const clients = [await door.connect(), await door.connect()]
  assert.equal(await clients[0]!.ask('PING'), 'PONG')
  assert.equal(await (await door.connect()).untilEnd(), '-ERR max number of clients reached\r\n')
  clients[1]!.socket.destroy()
  let count = 2
  for (; count === 2; )
    count = String(await clients[0]!.ask('CLIENT', 'LIST'))
      .trimEnd()
      .split('\n').length
  assert.equal(await (await door.connect()).ask('PING'), 'PONG')
  await until(() => clients[1]!.hasEnded, 'it has ended')
})

test('what comes for a client that has left, and does not take its last answers, is not kept', async () => {
  await using door = await openDoor()
  const [slow, client] = [await door.connect(), await door.connect()]
  const listed = async (): Promise<string> => JSON.stringify(await client.ask('CLIENT', 'LIST', 'TYPE', 'pubsub'))
  await slow.ask('SUBSCRIBE', 'news')
  slow.socket.pause()
  while (!/omem=[1-9]/.test(await listed())) await client.ask('PUBLISH', 'news', 'x'.repeat(100_000))
  slow.send(['QUIT'])
  while (!(await listed()).includes('cmd=quit')) await new Promise(setImmediate)
  const before = process.memoryUsage().arrayBuffers
  const long = Buffer.alloc(2 ** 20, 'x')
  for (let count = 0; count < 200; count += 1) await client.ask('PUBLISH', 'news', long)
  const grown = process.memoryUsage().arrayBuffers - before
  assert.ok(grown < 100 * 2 ** 20, `${grown} bytes more`)
})

test('a door that is closed twice is closed when either has ended', async () => {
  await using door = await openDoor()
  await door.connect()
  let isClosed = false
  const first = door.door.close().then(() => {
    isClosed = true
  })
  await door.door.close()
  await undefined
  assert.ok(isClosed)
  await first
})
