/** Scripts of Lua at the door, and what redis-server answers to them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { withoutRedis } from '../index-service/support/differential.ts'
import { scriptCases } from './script-cases.ts'
import { openDoor, openRedis, type TestDoor } from './support/door.ts'
import { openDoors } from './support/doors.ts'
import type { Answer, RawClient } from './support/raw-client.ts'

useRuntimeDirectory()

let door: TestDoor
before(async () => {
  door = await openDoor()
})
after(async () => {
  await door[Symbol.asyncDispose]()
})

/** A client of the door, which has no keys and knows no script. */
async function emptied(): Promise<RawClient> {
  const client = await door.connect()
  await client.ask('FLUSHALL')
  await client.ask('SCRIPT', 'FLUSH')
  return client
}

for (const protocol of [2, 3] as const)
  test(`RESP${protocol}: scripts are answered as by Redis`, { skip: withoutRedis }, async () => {
    await emptied()
    await using redis = await openRedis()
    const [own, theirs] = [await door.connect(protocol), await redis.connect(protocol)]
    const differences: Answer[][] = []
    for (const { script, keys = [], args = [] } of scriptCases) {
      const command = ['EVAL', script, String(keys.length), ...keys, ...args]
      const [answer, expected] = [await own.ask(...command), await theirs.ask(...command)]
      if (JSON.stringify(answer) !== JSON.stringify(expected)) differences.push([script, answer, expected])
    }
    assert.deepEqual(differences, [])
  })

/** What is said of scripts, rather than in them. */
const about: readonly (readonly string[])[] = [
  ['EVAL', 'return 1'],
  ['EVAL', 'return 1', 'x'],
  ['EVAL', 'return 1', '2', 'a'],
  ['EVAL', 'return 1', '-1'],
  ['EVAL', 'return 1', '01'],
  ['EVALSHA', 'ffffffffffffffffffffffffffffffffffffffff', '0'],
  ['EVALSHA', 'e0e1f9fabfc9d4800c877a703b823ac0578ff8db', '0'],
  ['SCRIPT', 'LOAD', 'return 500'],
  ['SCRIPT', 'LOAD', 'return ('],
  ['EVALSHA', '8D40B8E0DC6F4F1E9B9B5F4E8A2D5B29E2C0C4B4', '0'],
  ['EVAL', 'return ARGV[1]', '0', 'x'],
  ['EVALSHA', '098e0f0d1448c0a81dafe820f66d460eb09263da', '0', 'y'],
  ['SCRIPT', 'EXISTS', '098e0f0d1448c0a81dafe820f66d460eb09263da', 'x'],
  ['SCRIPT', 'EXISTS'],
  ['SCRIPT', 'FLUSH', 'LATER'],
  ['SCRIPT', 'FLUSH', 'ASYNC'],
  ['EVALSHA', '098e0f0d1448c0a81dafe820f66d460eb09263da', '0', 'y'],
  ['SCRIPT', 'KILL'],
  ['SCRIPT', 'NONSENSE'],
  ['SCRIPT'],
  ['EVAL_RO', "return redis.call('GET', KEYS[1])", '1', 'key'],
  ['EVAL_RO', "return redis.call('SET', KEYS[1], 1)", '1', 'key'],
  ['EVAL', "return redis.call('SET', KEYS[1], 1)", '1', 'key'],
  ['EVALSHA_RO', '7ba8e8b6f1c1e4b24b35a3fd7fdc8bd1a2b5b7a0', '0'],
  ['SELECT', '2'],
  ['EVAL', "redis.call('SET', 'here', 1) redis.call('SELECT', 5) return redis.call('SET', 'there', 1)", '0'],
  ['EXISTS', 'here', 'there'],
  ['SELECT', '5'],
  ['EXISTS', 'here', 'there'],
  ['MULTI'],
  ['SET', 'count', '5'],
  ['EVAL', "return redis.call('INCRBY', KEYS[1], ARGV[1])", '1', 'count', '7'],
  ['INCR', 'count'],
  ['EVAL', "return redis.call('LPUSH', KEYS[1], 1)", '1', 'count'],
  ['PING'],
  ['GET', 'count'],
  ['EXEC'],
  ['WATCH', 'count'],
  ['INCR', 'count'],
  ['MULTI'],
  ['EVAL', 'return 1', '0'],
  ['EXEC'],
  ['WATCH', 'count'],
  ['MULTI'],
  ['EVAL', "return redis.call('GET', 'count')", '0'],
  ['EVAL', 'return 1', 'x'],
  ['EXEC'],
]

test('calls of scripts, what is known of them, and scripts in transactions', { skip: withoutRedis }, async () => {
  await emptied()
  await using redis = await openRedis()
  const [own, theirs] = [await door.connect(), await redis.connect()]
  for (const command of about)
    assert.deepEqual(await own.ask(...command), await theirs.ask(...command), command.join(' '))
})

test('scripts of several clients that read and then write lose nothing', async () => {
  await emptied()
  const script = "local n = tonumber(redis.call('GET', KEYS[1]) or 0) redis.call('SET', KEYS[1], n + 1) return n"
  const clients = await Promise.all(Array.from({ length: 8 }, () => door.connect()))
  const answers = await Promise.all(
    clients.map(async (client) => {
      const seen: Answer[] = []
      for (let call = 0; call < 50; call += 1) {
        seen.push(await client.ask('EVAL', script, '1', 'count'))
        // Writes without a script come between.
        if (call % 10 === 0) await client.ask('SET', 'other', String(call))
      }
      return seen
    }),
  )
  assert.equal(await clients[0]!.ask('GET', 'count'), '400')
  assert.equal(new Set(answers.flat()).size, 400)
})

test('a script that has to run again because of other writes does so', async () => {
  await emptied()
  const [one, other] = [await door.connect(), await door.connect()]
  const script = "local n = redis.call('GET', KEYS[1]) redis.call('SET', KEYS[1], n + 1) return n"
  await one.ask('SET', 'count', '0')
  const commands = Array.from({ length: 100 }, () => ['EVAL', script, '1', 'count'])
  const more = Array.from({ length: 100 }, () => ['INCR', 'count'])
  await Promise.all([one.askAll(commands), other.askAll(more)])
  assert.equal(await one.ask('GET', 'count'), '200')
})

test('a script that does not end is ended, even if it catches that, and others go on', async () => {
  await emptied()
  const client = await door.connect()
  await client.ask('CONFIG', 'SET', 'busy-reply-threshold', '100')
  for (const script of [
    'while true do end',
    'while true do pcall(function() while true do end end) end',
    'coroutine.wrap(function() while true do end end)()',
    "redis.call('SET', 'half', 1) while true do end",
  ])
    assert.match(String(await client.ask('EVAL', script, '0')), /^-ERR .*ran for more than 100 ms, and was ended/)
  await client.ask('CONFIG', 'SET', 'busy-reply-threshold', '5000')
  assert.equal(await client.ask('EVAL', 'return 1', '0'), 1)
  // As in Redis, an error undoes nothing.
  assert.equal(await client.ask('GET', 'half'), '1')
})

test('messages of a script are published when it has taken effect', async () => {
  await emptied()
  const [client, listener] = [await door.connect(), await door.connect()]
  await listener.ask('SUBSCRIBE', 'news')
  const script = "local n = redis.call('PUBLISH', 'news', 'x') redis.call('SET', 'key', n) return n"
  assert.equal(await client.ask('EVAL', script, '0'), 1)
  assert.deepEqual(await listener.next(), ['message', 'news', 'x'])
})

test('keys of a script are of one shard', async () => {
  await using sharded = await openDoor({ shards: 4 })
  const client = await sharded.connect()
  const script = "for _, key in ipairs(KEYS) do redis.call('INCR', key) end return redis.call('GET', KEYS[1])"
  assert.equal(await client.ask('EVAL', script, '2', '{a}1', '{a}2'), '1')
  assert.match(String(await client.ask('EVAL', script, '2', 'a', 'b')), /^-CROSSSLOT /)
  const elsewhere = await client.ask('EVAL', "return redis.call('GET', 'b')", '1', 'a')
  assert.match(String(elsewhere), /^-ERR Script attempted to access a non local key in a cluster node/)
})

test('scripts at several nodes lose nothing', async () => {
  await using doors = await openDoors(2)
  const clients = await Promise.all([0, 1].map((rank) => doors.connect(rank)))
  const script = "local n = redis.call('GET', KEYS[1]) or 0 redis.call('SET', KEYS[1], n + 1)"
  await Promise.all(
    clients.map(async (client) => {
      for (let call = 0; call < 20; call += 1) assert.equal(await client.ask('EVAL', script, '1', 'count'), null)
    }),
  )
  assert.equal(await clients[0]!.ask('GET', 'count'), '40')
})

/** Fixed window, as rate-limiter-flexible has it; a lock and its release, as Redlock has them. */
const programs: Readonly<Record<string, string>> = {
  limit: `redis.call('set', KEYS[1], 0, 'EX', ARGV[2], 'NX')
local consumed = redis.call('incrby', KEYS[1], ARGV[1])
local ttl = redis.call('pttl', KEYS[1])
if ttl == -1 then
  redis.call('expire', KEYS[1], ARGV[2])
  ttl = 1000 * ARGV[2]
end
return {consumed, ttl}`,
  acquire: `for i, key in ipairs(KEYS) do if redis.call("exists", key) == 1 then return 0 end end
for i, key in ipairs(KEYS) do redis.call("set", key, ARGV[1], "PX", ARGV[2]) end
return #KEYS`,
  release: `local count = 0
for i, key in ipairs(KEYS) do
  if redis.call("get", key) == ARGV[1] then redis.call("pexpire", key, 0) count = count + 1 end
end
return count`,
}

test('scripts of rate limiters and of locks', async () => {
  const client = await emptied()
  for (let consumed = 1; consumed <= 3; consumed += 1) {
    const [count, ttl] = (await client.ask('EVAL', programs['limit']!, '1', 'limit', '1', '10')) as [number, number]
    assert.equal(count, consumed)
    assert.ok(ttl > 0 && ttl <= 10_000, String(ttl))
  }
  assert.equal(await client.ask('EVAL', programs['acquire']!, '2', 'one', 'two', 'mine', '10000'), 2)
  assert.equal(await client.ask('EVAL', programs['acquire']!, '1', 'two', 'other', '10000'), 0)
  assert.equal(await client.ask('EVAL', programs['release']!, '2', 'one', 'two', 'other'), 0)
  assert.equal(await client.ask('EVAL', programs['release']!, '2', 'one', 'two', 'mine'), 2)
  assert.equal(await client.ask('EVAL', programs['acquire']!, '1', 'two', 'other', '10000'), 1)
})

/** Errors of calls, those that a script makes itself, and both. */
const failing: readonly string[] = [
  "return redis.call('LPUSH', 'a', 1)",
  "redis.pcall('LPUSH', 'a', 1) return 1",
  "return redis.pcall('LPUSH', 'a', 1)",
  "return {err = 'MY own'}",
  "error({err = 'YOUR own'})",
  "error('text')",
  "error(redis.pcall('LPUSH', 'a', 1))",
  "return redis.pcall('NONSENSE')",
  "return redis.pcall('SET', 'a')",
  "return redis.pcall('MULTI')",
  "return redis.pcall('BLPOP', 'a', 1)",
  "return redis.pcall('XGROUP', 'CREATE', 'none', 'group', 0)",
  "return redis.pcall('XGROUP', 'CREATE')",
  "return redis.pcall('SELECT', 99)",
  'return redis.pcall()',
  "return redis.call('constructor')",
  "local names = {} for name in pairs(redis.pcall('LPUSH', 'a', 1)) do names[#names + 1] = name end table.sort(names) return names",
]

test('INFO counts calls of scripts, and errors once', { skip: withoutRedis }, async () => {
  const client = await emptied()
  await using redis = await openRedis()
  const told: unknown[] = []
  for (const each of [client, await redis.connect()]) {
    const answers: Answer[] = []
    await each.ask('SET', 'a', '1')
    await each.ask('CONFIG', 'RESETSTAT')
    for (const script of failing) answers.push(await each.ask('EVAL', script, '0'))
    answers.push(await each.ask('EVAL_RO', "return redis.call('SET', 'a', 1)", '0'))
    const lines = `${await each.ask('INFO', 'commandstats')}${await each.ask('INFO', 'errorstats')}`.split('\r\n')
    told.push({ answers, counts: lines.map((line) => line.replace(/usec=\d+,usec_per_call=[\d.]+/, '')).sort() })
  }
  assert.deepEqual(told[0], told[1])
})

test('MONITOR shows what scripts have called, also within EXEC', async () => {
  const [client, watching] = [await emptied(), await door.connect()]
  await watching.ask('MONITOR')
  await client.ask('EVAL', "redis.call('SET', KEYS[1], 1) redis.call('SELECT', 3) redis.pcall('MULTI')", '1', 'a')
  await client.ask('SCRIPT', 'EXISTS', 'x')
  const shown = async (): Promise<string> => String(await watching.next()).replace(/^\d+\.\d+ /, '')
  assert.match(await shown(), /^\[0 127\.0\.0\.1:\d+\] "EVAL" /)
  assert.equal(await shown(), '[0 lua] "SET" "a" "1"')
  assert.equal(await shown(), '[0 lua] "SELECT" "3"')
  assert.match(await shown(), /"SCRIPT" "EXISTS" "x"$/)
  for (const command of [
    ['MULTI'],
    ['SELECT', '2'],
    ['EVAL', "redis.call('GET', 'a')", '0'],
    ['PUBLISH', 'news', 'x'],
    ['EXEC'],
  ])
    await client.ask(...command)
  for (const line of [
    /"MULTI"$/,
    /^\[2 .* "SELECT" "2"$/,
    /^\[2 .*"EVAL"/,
    /^\[2 lua\] "GET" "a"$/,
    /"PUBLISH"/,
    /"exec"$/,
  ])
    assert.match(await shown(), line)
  await client.ask('SET', 'a', '1')
  for (const command of [['WATCH', 'a'], ['SET', 'a', '2'], ['MULTI'], ['GET', 'a'], ['EXEC']])
    await client.ask(...command)
  // What was not run is not shown.
  for (const line of [/"SET"/, /"WATCH"/, /"SET"/, /"MULTI"/, /"exec"$/]) assert.match(await shown(), line)
})

test('a script whose values are as deep as it likes is answered, and so is the next one', async () => {
  const client = await emptied()
  const script = `local own = cjson.new() own.decode_max_depth(2147483647) own.encode_max_depth(2147483647)
local _, read = pcall(function() return own.decode(('['):rep(1000000)) end)
local list = own.decode(('['):rep(1400) .. (']'):rep(1400))
local deep = {} for at = 1, 1000000 do deep = {deep} end
local _, written = pcall(function() return own.encode(deep) end)
local _, unpacked = pcall(function() return cmsgpack.unpack(('\\145'):rep(1000000)) end)
return {read, #own.encode(list), written, unpacked}`
  assert.deepEqual(await client.ask('EVAL', script, '0'), [
    'user_script:2: Found too many nested data structures (1501) at character 1501',
    // The innermost list is empty, so it is an object.
    2800,
    'user_script:5: Cannot serialise, excessive nesting (1501)',
    'user_script:6: stack overflow',
  ])
  assert.equal(await client.ask('EVAL', 'return 1', '0'), 1)
})
