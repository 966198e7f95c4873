/** Users and their rules: words as redis-server's, and what they keep clients from. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until, useRuntimeDirectory } from '../cluster/support.ts'
import { withoutRedis } from '../index-service/support/differential.ts'
import { openDoor, openRedis } from './support/door.ts'
import type { Answer, RawClient } from './support/raw-client.ts'

useRuntimeDirectory()

/** Rules that are given one after the other to a user. */
const rules: readonly string[] = [
  'on >p ~a* %R~b* &ch +@read +client|id -get',
  '+foo',
  '+@foo',
  'foo',
  '#abc',
  '<zzz',
  'allkeys ~x',
  'allchannels &x',
  '%X~a',
  '-select|0',
  '+select|0',
  '+client|foo',
  '+get|a',
  '(+get ~z)',
  '(+get',
  'clearselectors',
  '-@all +@all -set',
  '+@all -@write +set',
  '+set +set -set',
  '+client|list|x',
  'resetkeys ~* resetpass',
  'reset',
  'nopass',
  'on allkeys allcommands allchannels',
]

/** What a user with few rights asks. */
const asked: readonly string[] = [
  'AUTH u wrong',
  'AUTH nobody x',
  'AUTH u x',
  'ACL WHOAMI',
  'GET a1',
  'GET b1',
  'GET c',
  'SET a1 1',
  'SET b1 1',
  'COPY b1 a1',
  'COPY a1 b1',
  'MGET a1 c',
  'CLIENT ID x',
  'CLIENT LIST',
  'CONFIG GET x',
  'PUBLISH other x',
  'SUBSCRIBE other',
  'PSUBSCRIBE ch*',
  'MULTI',
  'SET c 1',
  'EXEC',
  'PING',
]

/** Redis lists rules about single commands in the order of a hash table with a seed. */
function unordered(answer: Answer): Answer {
  if (typeof answer === 'string') return answer.split(' ').sort().join(' ')
  return Array.isArray(answer) ? answer.map(unordered) : answer
}

test('ACL answers as Redis does', { skip: withoutRedis }, async () => {
  await using door = await openDoor()
  await using redis = await openRedis()
  const [own, theirs] = [await door.connect(), await redis.connect()]
  const both = async (...command: readonly string[]): Promise<void> =>
    assert.deepEqual(unordered(await own.ask(...command)), unordered(await theirs.ask(...command)), command.join(' '))
  for (const rule of rules) {
    await both('ACL', 'SETUSER', 'u', ...rule.split(' '))
    await both('ACL', 'LIST')
    await both('ACL', 'GETUSER', 'u')
  }
  const some = 'reset on >x ~a* %R~b* &ch +@all -@dangerous -@scripting -client +client|id -multi +multi'.split(' ')
  await both('ACL', 'SETUSER', 'u', ...some)
  for (const command of ['get c', 'set b1 1', 'get a1', 'get', 'foo', 'config get x', 'client list'])
    await both('ACL', 'DRYRUN', 'u', ...command.split(' '))
  for (const command of asked) await both(...command.split(' '))
  await both('AUTH', 'default', '')
  await both('ACL', 'USERS')
  for (const wrong of [
    'GENPASS 0',
    'GENPASS 5000',
    'CAT foo',
    'CAT',
    'DELUSER default',
    'DRYRUN none get a',
    'GETUSER no',
  ])
    await both('ACL', ...wrong.split(' '))
  const [log, other] = [await own.ask('ACL', 'LOG'), await theirs.ask('ACL', 'LOG')]
  const shown = (entry: Answer): Answer => (entry as Answer[]).slice(0, 10)
  assert.deepEqual((log as Answer[]).map(shown), (other as Answer[]).map(shown))
  await both('ACL', 'LOG', 'RESET')
  await both('ACL', 'DELUSER', 'u', 'none')
  assert.match(String(await own.ask('ACL', 'GENPASS')), /^[0-9a-f]{64}$/)
  assert.match(String(await own.ask('ACL', 'GENPASS', '5')), /^[0-9a-f]{2}$/)
})

/** Scripts of a user that may use keys of a, and the channel ch, and neither CONFIG nor SET. */
const scripts: readonly string[] = [
  "return redis.call('GET', 'b')",
  "return redis.pcall('SET', 'a1', '1')",
  "return redis.call('LPUSH', 'a1', '1')",
  "return redis.call('PUBLISH', 'other', '1')",
  "return redis.call('PUBLISH', 'ch', '1')",
  "return tostring(redis.acl_check_cmd('set', 'a1', '1'))",
  "return tostring(redis.acl_check_cmd('get', 'a1'))",
  "return tostring(redis.acl_check_cmd('get', 'b'))",
  'return redis.acl_check_cmd()',
]

test('a script may do what its client may, also within MULTI', { skip: withoutRedis }, async () => {
  await using door = await openDoor()
  await using redis = await openRedis()
  const [own, theirs] = [await door.connect(), await redis.connect()]
  const both = async (...command: readonly string[]): Promise<void> =>
    assert.deepEqual(await own.ask(...command), await theirs.ask(...command), command.join(' '))
  await both('ACL', 'SETUSER', 'u', 'on', '>x', '~a*', '&ch', '+@all', '-config', '-set')
  await both('AUTH', 'u', 'x')
  for (const script of scripts) await both('EVAL', script, '1', 'a1')
  await both('MULTI')
  for (const script of scripts) await both('EVAL', script, '1', 'a1')
  await both('EXEC')
  const [log, other] = [await own.ask('ACL', 'LOG'), await theirs.ask('ACL', 'LOG')]
  const shown = (entry: Answer): Answer => (entry as Answer[]).slice(0, 10)
  assert.deepEqual((log as Answer[]).map(shown), (other as Answer[]).map(shown))
})

test('without the password, nothing can be done but to say it, and little can be sent', async () => {
  await using door = await openDoor({ password: 'secret' })
  const client = await door.connect()
  assert.equal(await client.ask('GET', 'a'), '-NOAUTH Authentication required.')
  assert.match(String(await client.ask('HELLO', '3')), /^-NOAUTH HELLO must be called/)
  assert.match(String(await client.ask('AUTH', 'wrong')), /^-WRONGPASS/)
  assert.equal(await client.ask('AUTH', 'secret'), 'OK')
  assert.equal(await client.ask('SET', 'a', '1'), 'OK')
  assert.equal(await client.ask('RESET'), 'RESET')
  assert.equal(await client.ask('GET', 'a'), '-NOAUTH Authentication required.')
  const other = await door.connect()
  other.sendBytes('*11\r\n')
  assert.equal(await other.untilEnd(), '-ERR Protocol error: unauthenticated multibulk length\r\n')
  const third = await door.connect()
  third.sendBytes('*2\r\n$16385\r\n')
  assert.equal(await third.untilEnd(), '-ERR Protocol error: unauthenticated bulk length\r\n')
  const fourth = await door.connect(2)
  const answer = (await fourth.ask('HELLO', '3', 'AUTH', 'default', 'secret')) as { readonly map: Answer[] }
  assert.equal(answer.map[0], 'server')
})

test('rules hold at once for those who are connected, and a user that is gone is disconnected', async () => {
  await using door = await openDoor()
  const [admin, client] = [await door.connect(), await door.connect()]
  await admin.ask('ACL', 'SETUSER', 'worker', 'on', '>a', '>b', '~*', '+@all')
  assert.equal(await client.ask('AUTH', 'worker', 'b'), 'OK')
  const pipelined = (await client.askAll([
    ['SET', 'a', '1'],
    ['GET', 'a'],
  ])) as Answer[]
  assert.deepEqual(pipelined, ['OK', '1'])
  await admin.ask('ACL', 'SETUSER', 'worker', '-set', 'resetkeys', '~b*')
  const refused = await client.askAll([
    ['GET', 'b'],
    ['GET', 'a'],
    ['SET', 'b', '1'],
    ['GET', 'b'],
  ])
  assert.deepEqual(refused, [
    null,
    '-NOPERM this user has no permissions to access one of the keys used as arguments',
    "-NOPERM this user has no permissions to run the 'set' command",
    null,
  ])
  assert.equal(await admin.ask('ACL', 'DELUSER', 'worker'), 1)
  await until(() => client.hasEnded, 'the connection ends')
})

test('CONFIG SET requirepass is the password of default', async () => {
  await using door = await openDoor()
  const [admin, later] = [await door.connect(), await door.connect()]
  await admin.ask('CONFIG', 'SET', 'requirepass', 'new')
  const client = await door.connect()
  assert.equal(await client.ask('PING'), '-NOAUTH Authentication required.')
  assert.equal(await client.ask('AUTH', 'new'), 'OK')
  assert.equal(await later.ask('PING'), 'PONG')
  await admin.ask('CONFIG', 'SET', 'requirepass', '')
  assert.match(String(await client.ask('AUTH', 'new')), /without any password configured/)
})

test('what a user may not do any more is refused by EXEC', { skip: withoutRedis }, async () => {
  await using door = await openDoor()
  await using redis = await openRedis()
  const words = async (connect: () => Promise<RawClient>): Promise<unknown> => {
    const [user, other] = [await connect(), await connect()]
    await other.ask('ACL', 'SETUSER', 'u', 'on', 'nopass', '~*', '+@all')
    for (const command of ['AUTH u x', 'MULTI', 'SET a 1', 'CLIENT TRACKING off', 'EVAL return(2) 0', 'GET a'])
      await user.ask(...command.split(' '))
    await other.ask('ACL', 'SETUSER', 'u', '-set', '-client|tracking')
    const answers = (await user.ask('EXEC')) as readonly Answer[]
    const log = (await other.ask('ACL', 'LOG')) as readonly (readonly Answer[])[]
    return [answers.map((answer) => String(answer).split(' ')[0]), log.map((entry) => [entry[5], entry[7]])]
  }
  const answered = await words(() => door.connect())
  assert.deepEqual(answered, await words(() => redis.connect()))
  assert.deepEqual((answered as readonly unknown[])[0], ['-NOPERM', '-NOPERM', '2', 'null'])
})
