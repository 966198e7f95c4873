/** Requests that go to the log as they came: what clients see is the same as if each was looked at. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { openDoor, type TestDoor } from './support/door.ts'

useRuntimeDirectory()

const WRONG_TYPE = '-WRONGTYPE Operation against a key holding the wrong kind of value'

/** How many commands of a name were run, and failed. */
async function countsOf(door: TestDoor, name: string): Promise<string | undefined> {
  const client = await door.connect()
  const shown = String(await client.ask('INFO', 'commandstats'))
  const [, calls, failed] = new RegExp(`cmdstat_${name}:calls=(\\d+),.*failed_calls=(\\d+)`).exec(shown) ?? []
  return calls === undefined ? undefined : `${calls} calls, ${failed} failed`
}

test('each request gets its own answer, also if it is refused in the middle', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  const answers = await client.askAll([
    ...[
      ['SET', 'a', '1'],
      ['INCR', 'a'],
      ['LPUSH', 'a', 'x'],
      ['mset', 'b', '2', 'c', '3'],
      ['GET', 'b'],
      ['HSET', 'h', 'f', 'x'],
      ['LPOP', 'none', '3'],
    ],
    ...[['SET', 'a'], ['NOSUCH', 'a'], ['ZADD', 'z', '1', 'm'], ['PING'], ['INCRBY', 'b', '40']],
  ])
  const [wrong, unknown] = answers.splice(7, 2)
  assert.deepEqual(answers, ['OK', 2, WRONG_TYPE, 'OK', '2', 1, { array: null }, 1, 'PONG', 42])
  assert.match(String(wrong), /wrong number of arguments for 'set'/)
  assert.match(String(unknown), /unknown command 'NOSUCH'/)
  assert.equal(await countsOf(door, 'lpush'), '1 calls, 1 failed')
  assert.equal(await countsOf(door, 'incr'), '1 calls, 0 failed')
  assert.match(String(await client.ask('CLIENT', 'LIST')), / cmd=client\|list /)
})

test('many requests of many clients that come at once', async () => {
  await using door = await openDoor()
  const clients = await Promise.all(Array.from({ length: 8 }, () => door.connect()))
  const long = 'x'.repeat(9000)
  const answers = await Promise.all(
    clients.map((client, number) =>
      client.askAll(
        Array.from({ length: 1500 }, (_, at) =>
          at % 100 === 7
            ? ['SET', `long:${number}`, long + at]
            : at % 2 === 0
              ? ['INCR', 'all']
              : ['APPEND', `${number}`, 'x'],
        ),
      ),
    ),
  )
  for (const [number, mine] of answers.entries()) {
    assert.equal(mine[7], 'OK')
    assert.equal(mine[1499], 735, `client ${number}`)
  }
  assert.equal(await clients[0]!.ask('GET', 'all'), String(8 * 750))
  assert.equal(await clients[0]!.ask('GET', 'long:3'), `${long}1407`)
})

test('transactions, other databases and clients that want no answer have their way', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  assert.deepEqual(
    await client.askAll([['SET', 'a', '1'], ['MULTI'], ['INCR', 'a'], ['INCR', 'a'], ['EXEC'], ['INCR', 'a']]),
    ['OK', 'OK', 'QUEUED', 'QUEUED', [2, 3], 4],
  )
  assert.deepEqual(
    await client.askAll([
      ['SELECT', '3'],
      ['SET', 'a', 'x'],
      ['SELECT', '0'],
      ['GET', 'a'],
    ]),
    [...['OK', 'OK', 'OK', '4']],
  )
  await client.askAll([['SELECT', '3']])
  assert.deepEqual(
    await client.askAll([
      ['APPEND', 'a', 'y'],
      ['GET', 'a'],
    ]),
    [2, 'xy'],
  )
  const silent = await door.connect()
  silent.send(['CLIENT', 'REPLY', 'OFF'])
  silent.send(['SET', 'quiet', '1'])
  silent.send(['CLIENT', 'REPLY', 'ON'])
  silent.send(['SET', 'loud', '1'])
  assert.deepEqual([await silent.next(), await silent.next()], ['OK', 'OK'])
  assert.equal(
    await client
      .askAll([
        ['SELECT', '0'],
        ['GET', 'quiet'],
      ])
      .then(([, value]) => value),
    '1',
  )
})

test('the slow log shows arguments, and names as they were written', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  await client.ask('CONFIG', 'SET', 'slowlog-log-slower-than', '0')
  await client.askAll([
    ['sEt', 'a', 'one'],
    ['MSET', 'b', 'two', 'c', 'three, and enough for both to be packed'],
  ])
  const log = (await client.ask('SLOWLOG', 'GET', '2')) as unknown[][]
  assert.deepEqual(
    log.map((entry) => entry[3]),
    [
      ['MSET', 'b', 'two', 'c', 'three, and enough for both to be packed'],
      ['sEt', 'a', 'one'],
    ],
  )
})

test('one who may not do everything, or monitors, or is paused, is looked at request by request', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  await client.ask('ACL', 'SETUSER', 'writer', 'on', '>secret', '~a*', '+set')
  const other = await door.connect()
  await other.ask('AUTH', 'writer', 'secret')
  const [set, elsewhere, incr] = await other.askAll([
    ['SET', 'a', '1'],
    ['SET', 'b', '1'],
    ['INCR', 'a'],
  ])
  assert.equal(set, 'OK')
  assert.match(String(elsewhere), /NOPERM/)
  assert.match(String(incr), /NOPERM/)
  const monitor = await door.connect()
  await monitor.ask('MONITOR')
  await client.askAll([['SET', 'a', '2']])
  assert.match(String(await monitor.next()), /"SET" "a" "2"/)
})

test('those who keep what they have read are told of strings that are set together', async () => {
  await using door = await openDoor()
  const [client, reader] = [await door.connect(), await door.connect(3)]
  const sets = Array.from({ length: 50 }, (_, at) => ['SET', `key:${at}`, 'v'])
  await client.askAll(sets)
  await reader.ask('CLIENT', 'TRACKING', 'on')
  await reader.ask('GET', 'key:7')
  await client.askAll(sets)
  assert.deepEqual(await reader.next(), { push: ['invalidate', ['key:7']] })
})
