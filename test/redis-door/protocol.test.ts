/** Requests out of bytes: in whatever pieces they come, and with Redis' words for what is none. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { doubleText, ReplyWriter } from '../../src/redis-door/protocol/reply-writer.ts'
import { ProtocolFault } from '../../src/redis-door/protocol/request.ts'
import { RequestReader } from '../../src/redis-door/protocol/request-reader.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { withoutRedis } from '../index-service/support/differential.ts'
import { openDoor, openRedis } from './support/door.ts'

useRuntimeDirectory()

const limits = { argumentsMax: 1024, bulkBytesMax: 1000, valueBytesMax: 20, isAuthenticated: true }

/** What the pieces come to: requests, and how they end. */
function read(pieces: readonly Buffer[]): readonly string[] {
  const reader = new RequestReader(() => limits)
  const seen: string[] = []
  try {
    for (const piece of pieces) {
      reader.push(piece)
      for (let request = reader.next(); request !== undefined; request = reader.next()) {
        const words = [request.name, ...request.args.map((arg) => Buffer.from(arg).toString('latin1'))]
        seen.push(`${JSON.stringify(words)}${request.isTooLong === true ? ' too long' : ''}`)
      }
    }
  } catch (error) {
    assert.ok(error instanceof ProtocolFault)
    seen.push(error.message)
  }
  return seen
}

const long = 'x'.repeat(30)
const sequences: readonly (readonly [bytes: string, requests: readonly string[]])[] = [
  ['*1\r\n$4\r\nPING\r\n', ['["PING"]']],
  ['*2\r\n$3\r\nGET\r\n$0\r\n\r\n*1\r\n$4\r\nPING\r\n', ['["GET",""]', '["PING"]']],
  ['*2\r\n$3\r\nGET\r\n$4\r\n\r\n\r\n\r\nPING\r\n', ['["GET","\\r\\n\\r\\n"]', '["PING"]']],
  ['*2\r\n$0\r\n\r\n$1\r\na\r\n"" b\r\n', ['["","a"]', '["","b"]']],
  ['*2\r\n$4\r\n\0get\r\n$1\r\na\r\n*2\r\n$3\r\nget\r\n$1\r\na\r\n', ['["\\u0000get","a"]', '["get","a"]']],
  ['*0\r\n*-1\r\n\r\nPING\r\n', ['["PING"]']],
  ['\vset a\vb "c"\vd\r\n', ['["set","a\\u000bb","c","d"]']],
  ['set a "b c" \'d\'\nget a\r\n', ['["set","a","b c","d"]', '["get","a"]']],
  [`*3\r\n$3\r\nSET\r\n$30\r\n${long}\r\n$1\r\nb\r\nPING\r\n`, ['["SET","","b"] too long', '["PING"]']],
  [`*2\r\n$3\r\nGET\r\n$30\r\n${long}\r\n*1\r\n$4\r\nPING\r\n`, ['["GET",""] too long', '["PING"]']],
  [`*1\r\n$30\r\n${long}\r\n`, ['[""] too long']],
  ['PING\r\n*x\r\n', ['["PING"]', 'Protocol error: invalid multibulk length']],
  ['*1\r\n+a\r\n', ["Protocol error: expected '$', got '+'"]],
  ['*1\r\n$-1\r\n', ['Protocol error: invalid bulk length']],
  ['*1\r\n$01\r\n', ['Protocol error: invalid bulk length']],
  ['*-0\r\n', ['Protocol error: invalid multibulk length']],
  ['*1\r\n$1001\r\n', ['Protocol error: invalid bulk length']],
  ['a "b\r\n', ['Protocol error: unbalanced quotes in request']],
]

/** As printf("%.17g") of C has them. */
const doubles: readonly (readonly [value: number, text: string])[] = [
  [1e-4, '0.0001'],
  [0.000099, '9.8999999999999994e-05'],
  [-0.000099, '-9.8999999999999994e-05'],
  [1e-5, '1.0000000000000001e-05'],
  [1.5e-5, '1.5e-05'],
  [-2.5e-7, '-2.4999999999999999e-07'],
  [0.1, '0.10000000000000001'],
  [1e16, '10000000000000000'],
  [30483157561346968, '30483157561346968'],
  [1e17, '1e+17'],
  [1e21, '1e+21'],
  [123456789012345680, '1.2345678901234568e+17'],
]

test('doubles are written as C writes them', () => {
  for (const [value, text] of doubles) assert.equal(doubleText(value), text)
})

test('every split of the bytes comes to the same requests', () => {
  for (const [text, requests] of sequences) {
    const bytes = Buffer.from(text, 'latin1')
    assert.deepEqual(read([bytes]), requests, JSON.stringify(text))
    assert.deepEqual(
      read(Array.from(bytes, (byte) => Buffer.from([byte]))),
      requests,
      `byte by byte: ${JSON.stringify(text)}`,
    )
    for (let first = 1; first < bytes.length; first += 1)
      for (let second = first; second < bytes.length; second += 3) {
        const pieces = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)]
        assert.deepEqual(read(pieces), requests, `${first}, ${second}: ${JSON.stringify(text)}`)
      }
  }
})

/** What ends a connection, after what Redis says. */
const faults: readonly string[] = [
  '*x\r\n',
  '*1\r\n+a\r\n',
  '*1\r\n$x\r\n',
  '*1\r\n$-1\r\n',
  '*1\r\n$536870913\r\n',
  '*3000000000\r\n',
  'set a "b\r\n',
  "set a 'b'c\r\n",
  `*${'1'.repeat(70_000)}`,
  `*1\r\n$${'1'.repeat(70_000)}`,
  'x'.repeat(70_000),
]

test('the words for each protocol error are those of Redis', { skip: withoutRedis }, async () => {
  await using door = await openDoor()
  await using redis = await openRedis()
  for (const bytes of faults) {
    const [own, theirs] = [await door.connect(), await redis.connect()]
    own.sendBytes(bytes)
    theirs.sendBytes(bytes)
    assert.equal(await own.untilEnd(), await theirs.untilEnd(), JSON.stringify(bytes.slice(0, 50)))
  }
})

test('what comes before a protocol error is answered', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  client.sendBytes('SET a 1\r\nGET a\r\n*x\r\n')
  assert.equal(await client.untilEnd(), '+OK\r\n$1\r\n1\r\n-ERR Protocol error: invalid multibulk length\r\n')
})

test('a reply is written as each version of RESP has it', () => {
  const bytes = (text: string): Buffer => Buffer.from(text)
  const faults: string[] = []
  const writer = new ReplyWriter((code) => faults.push(code))
  for (const [reply, resp2, resp3] of [
    [null, '$-1\r\n', '_\r\n'],
    ['OK', '+OK\r\n', '+OK\r\n'],
    [5, ':5\r\n', ':5\r\n'],
    [12_345_678_901_234_567_890n, ':12345678901234567890\r\n', ':12345678901234567890\r\n'],
    [2 ** 62, ':4611686018427387904\r\n', ':4611686018427387904\r\n'],
    [-(2 ** 53), ':-9007199254740992\r\n', ':-9007199254740992\r\n'],
    [bytes('é'), '$2\r\né\r\n', '$2\r\né\r\n'],
    [{ double: 0.5 }, '$3\r\n0.5\r\n', ',0.5\r\n'],
    [[1, [2]], '*2\r\n:1\r\n*1\r\n:2\r\n', '*2\r\n:1\r\n*1\r\n:2\r\n'],
    [new Set([1]), '*1\r\n:1\r\n', '~1\r\n:1\r\n'],
    [new Map([[1, 2]]), '*2\r\n:1\r\n:2\r\n', '%1\r\n:1\r\n:2\r\n'],
    [{ truth: true }, ':1\r\n', '#t\r\n'],
    [{ push: [1] }, '*1\r\n:1\r\n', '>1\r\n:1\r\n'],
    [{ table: [1, 2] }, '*2\r\n:1\r\n:2\r\n', '%1\r\n:1\r\n:2\r\n'],
    [{ verbatim: 'a' }, '$1\r\na\r\n', '=5\r\ntxt:a\r\n'],
    [{ pairs: [1, 2, 3, 4] }, '*4\r\n:1\r\n:2\r\n:3\r\n:4\r\n', '*2\r\n*2\r\n:1\r\n:2\r\n*2\r\n:3\r\n:4\r\n'],
    [{ fault: 'ERR', message: 'a\r\nb' }, '-ERR a  b\r\n', '-ERR a  b\r\n'],
  ] as const) {
    writer.write(reply, 2)
    assert.equal(writer.take().toString(), resp2)
    writer.write(reply, 3)
    assert.equal(writer.take().toString(), resp3)
  }
  assert.deepEqual(faults, ['ERR', 'ERR'])
})

const session = ['SET a 1', 'INCR a', 'HSET h f v', 'HGETALL h', 'LRANGE none 0 -1', 'MULTI', 'GET a', 'EXEC', 'GET']

/** What redis-cli prints for the lines of a session. The door is in this process, so it cannot be waited for. */
async function redisCli(...args: readonly string[]): Promise<string> {
  const child = spawn('redis-cli', ['--no-raw', ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(`${session.join('\n')}\n`)
  let shown = ''
  for await (const text of child.stdout) shown += String(text)
  return shown
}

test('redis-cli shows the same of a door as of redis-server', { skip: withoutRedis }, async () => {
  await using redis = await openRedis()
  for (const version of ['-2', '-3']) {
    await using door = await openDoor()
    const shown = await redisCli('-p', String(door.port), version)
    await (await redis.connect()).ask('FLUSHALL')
    assert.equal(shown, await redisCli('-s', redis.socket, version))
    assert.match(shown, /QUEUED/)
  }
})
