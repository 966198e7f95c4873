/** What is about connections and the server: answers as redis-server's, and what they do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until, useRuntimeDirectory } from '../cluster/support.ts'
import { withoutRedis } from '../index-service/support/differential.ts'
import { openDoor, openRedis } from './support/door.ts'
import type { Answer } from './support/raw-client.ts'

useRuntimeDirectory()

/** Answered alike, word by word. */
const alike: readonly string[] = [
  'CONFIG SET slowlog-log-slower-than -1',
  'CLIENT',
  'CLIENT FOO',
  'CLIENT ID 4',
  'CLIENT GETNAME',
  'CLIENT SETNAME a',
  'CLIENT GETNAME',
  'CLIENT SETNAME a\nb',
  'CLIENT KILL',
  'CLIENT KILL 1.2.3.4:5',
  'CLIENT KILL ID x',
  'CLIENT KILL ID 0',
  'CLIENT KILL FOO bar',
  'CLIENT KILL TYPE x',
  'CLIENT KILL USER nobody',
  'CLIENT KILL SKIPME x',
  'CLIENT KILL ID 3 ADDR',
  'CLIENT LIST TYPE x',
  'CLIENT LIST ID x',
  'CLIENT LIST ID',
  'CLIENT LIST TYPE pubsub',
  'CLIENT UNBLOCK x',
  'CLIENT UNBLOCK 5 FOO',
  'CLIENT UNBLOCK 500',
  'CLIENT REPLY x',
  'CLIENT REPLY ON',
  'CLIENT PAUSE x',
  'CLIENT PAUSE 5 x',
  'CLIENT PAUSE -1',
  'CLIENT UNPAUSE',
  'CLIENT NO-EVICT x',
  'CLIENT NO-EVICT on',
  'CLIENT TRACKING x',
  'CLIENT TRACKING on x',
  'CLIENT TRACKING on REDIRECT',
  'CLIENT TRACKING on REDIRECT x',
  'CLIENT TRACKING on REDIRECT 99999999',
  'CLIENT TRACKING on PREFIX',
  'CLIENT TRACKING on PREFIX a',
  'CLIENT TRACKING on OPTIN OPTOUT',
  'CLIENT TRACKING on BCAST OPTIN',
  'CLIENT TRACKING on BCAST PREFIX ab PREFIX a',
  'CLIENT TRACKING off BCAST',
  'CLIENT TRACKING off x',
  'CLIENT TRACKING off',
  'CLIENT TRACKINGINFO',
  'CLIENT GETREDIR',
  'CLIENT CACHING yes',
  'CONFIG',
  'CONFIG GET maxmemory-policy',
  'CONFIG GET none*',
  'CONFIG SET foo bar',
  'CONFIG SET maxclients x',
  'CONFIG SET maxclients 0',
  'CONFIG SET appendonly x',
  'CONFIG SET maxmemory-policy x',
  'CONFIG SET maxmemory x',
  'CONFIG SET maxmemory-clients 5%',
  'CONFIG GET maxmemory-clients',
  'CONFIG SET maxmemory-clients 200%',
  'CONFIG SET maxmemory-clients 0',
  'CONFIG SET port',
  'CONFIG SET timeout 1 timeout 2',
  'CONFIG SET timeout 1 maxmemory',
  'CONFIG SET save x',
  'CONFIG SET notify-keyspace-events q',
  'CONFIG SET notify-keyspace-events KEA',
  'CONFIG GET notify-keyspace-events',
  'CONFIG SET notify-keyspace-events Kg$xn',
  'CONFIG GET notify-keyspace-events',
  'CONFIG SET client-output-buffer-limit normal\u00a01',
  'CONFIG SET hash-max-listpack-entries 7 list-max-listpack-size -1',
  'CONFIG GET hash-max-listpack-entries',
  'CONFIG SET proto-max-bulk-len 2mb',
  'CONFIG GET proto-max-bulk-len',
  'CONFIG REWRITE',
  'CONFIG RESETSTAT',
  'SLOWLOG',
  'SLOWLOG LEN',
  'SLOWLOG RESET',
  'SLOWLOG GET x',
  'SLOWLOG GET -2',
  'LATENCY LATEST',
  'LATENCY RESET',
  'LATENCY RESET a b',
  'LATENCY HISTORY a',
  'MEMORY FOO',
  'ROLE',
  'SAVE',
  'BGSAVE',
  'BGSAVE x',
  'WAIT 0 10',
  'WAIT x 10',
  'WAIT 0 -1',
  'SHUTDOWN x',
  'SHUTDOWN ABORT',
  'DEBUG PROTOCOL array',
  'DEBUG PROTOCOL set',
  'DEBUG PROTOCOL map',
  'DEBUG PROTOCOL verbatim',
  'DEBUG PROTOCOL double',
  'DEBUG PROTOCOL true',
  'DEBUG PROTOCOL false',
  'DEBUG PROTOCOL null',
  'DEBUG SLEEP 0',
  'DEBUG SET-ACTIVE-EXPIRE 1',
  'ECHO a',
  'PING',
  'PING a',
  'PING a b',
  'TIME x',
  'AUTH x',
  'AUTH x y',
  'HELLO 4',
  'HELLO x',
  'SELECT 16',
  'SELECT x',
  'RESET',
]

for (const protocol of [2, 3] as const)
  test(`RESP${protocol}: CLIENT, CONFIG and others answer as Redis does`, { skip: withoutRedis }, async () => {
    await using door = await openDoor()
    await using redis = await openRedis(['--enable-debug-command', 'yes'])
    const [own, theirs] = [await door.connect(protocol), await redis.connect(protocol)]
    const differ: [string, Answer, Answer][] = []
    for (const line of alike) {
      const command = line.split(' ')
      const [mine, other] = [await own.ask(...command), await theirs.ask(...command)]
      if (JSON.stringify(mine) !== JSON.stringify(other)) differ.push([line, mine, other])
    }
    assert.deepEqual(differ, [])
  })

test('CLIENT LIST and INFO show connections, and KILL ends those that are chosen', async () => {
  await using door = await openDoor()
  const [one, two, three] = [await door.connect(), await door.connect(), await door.connect(3)]
  await one.ask('CLIENT', 'SETNAME', 'one')
  await one.ask('CLIENT', 'SETINFO', 'LIB-NAME', 'lib')
  await one.ask('CLIENT', 'SETINFO', 'lib-ver', '1.2')
  assert.match(String(await one.ask('CLIENT', 'SETINFO', 'x', '1')), /^-ERR Unrecognized option 'x'/)
  const info = String(await one.ask('CLIENT', 'INFO'))
  assert.match(
    info,
    /^id=1 addr=127\.0\.0\.1:\d+ .* name=one .* cmd=client\|info user=default .* lib-name=lib lib-ver=1\.2\n$/,
  )
  const { verbatim } = (await three.ask('CLIENT', 'LIST')) as { readonly verbatim: string }
  assert.equal(verbatim.trimEnd().split('\n').length, 3)
  assert.equal(String(await one.ask('CLIENT', 'LIST', 'ID', '2')).match(/^id=/gm)?.length, 1)
  const id = Number(await two.ask('CLIENT', 'ID'))
  assert.equal(await one.ask('CLIENT', 'KILL', 'ID', String(id), 'TYPE', 'NORMAL'), 1)
  await until(() => two.hasEnded, 'the connection ends')
  const address = /addr=(\S+)/.exec(verbatim.split('\n').at(-2)!)![1]!
  assert.equal(await one.ask('CLIENT', 'KILL', address), 'OK')
  await until(() => three.hasEnded, 'the connection ends')
  assert.equal(await one.ask('CLIENT', 'KILL', 'SKIPME', 'no'), 1)
  await until(() => one.hasEnded, 'the own connection ends behind its answer')
})

test('CLIENT UNBLOCK ends a wait as if its time were over, or with an error', async () => {
  await using door = await openDoor()
  const [waiting, other] = [await door.connect(), await door.connect()]
  const id = String(await waiting.ask('CLIENT', 'ID'))
  for (const [reason, answer] of [
    [[], { array: null }],
    [['TIMEOUT'], { array: null }],
    [['ERROR'], '-UNBLOCKED client unblocked via CLIENT UNBLOCK'],
  ] as const) {
    const reply = waiting.ask('BLPOP', 'list', '0')
    for (;;) if ((await other.ask('CLIENT', 'UNBLOCK', id, ...reason)) === 1) break
    assert.deepEqual(await reply, answer)
  }
  await other.ask('RPUSH', 'list', 'a')
  assert.deepEqual(await waiting.ask('BLPOP', 'list', '0'), ['list', 'a'])
})

test('CLIENT PAUSE lets writes wait, or everything, until it is over', async () => {
  await using door = await openDoor()
  const [one, two] = [await door.connect(), await door.connect()]
  await one.ask('CLIENT', 'PAUSE', '60000', 'WRITE')
  const write = two.ask('SET', 'a', '1')
  assert.equal(await one.ask('GET', 'a'), null)
  while (!String(await one.ask('INFO', 'clients')).includes('blocked_clients:1\r\n'));
  assert.equal(await one.ask('CLIENT', 'UNPAUSE'), 'OK')
  assert.equal(await write, 'OK')
  await one.ask('CLIENT', 'PAUSE', '50', 'ALL')
  assert.equal(await two.ask('GET', 'a'), '1')
})

test('CLIENT REPLY leaves out answers', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  client.send(['CLIENT', 'REPLY', 'OFF'])
  client.send(['SET', 'a', '1'])
  assert.equal(await client.ask('CLIENT', 'REPLY', 'ON'), 'OK')
  client.send(['CLIENT', 'REPLY', 'SKIP'])
  client.send(['SET', 'b', '1'])
  assert.equal(await client.ask('GET', 'a'), '1')
  assert.equal(await client.ask('GET', 'b'), '1')
  const listener = await door.connect(3)
  listener.send(['CLIENT', 'REPLY', 'OFF'])
  assert.deepEqual(await listener.ask('SUBSCRIBE', 'news'), { push: ['subscribe', 'news', 1] })
  await client.ask('PUBLISH', 'news', 'x')
  assert.deepEqual(await listener.next(), { push: ['message', 'news', 'x'] })
})

test('INFO has the lines that clients read, and counts', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  await client.ask('SET', 'a', '1', 'EX', '100')
  await client.ask('SELECT', '3')
  await client.ask('SET', 'a', '1')
  await client.ask('NONSENSE')
  await client.ask('INCR', 'a', 'b')
  await client.ask('HGET', 'a', 'b')
  const text = String(await client.ask('INFO', 'everything'))
  for (const line of [
    ...['redis_version:7.0.15', 'loading:0', 'maxmemory_policy:noeviction', 'role:master', 'redis_mode:standalone'],
    ...['db0:keys=1,expires=1,avg_ttl=0', 'db3:keys=1,expires=0,avg_ttl=0', 'errorstat_WRONGTYPE:count=1'],
    ...[`tcp_port:${door.port}`, 'connected_clients:1', 'shards:1', 'nodes:1'],
  ])
    assert.ok(text.includes(`\r\n${line}\r\n`), `${line} in ${text}`)
  assert.match(text, /cmdstat_set:calls=2,usec=\d+,usec_per_call=[\d.]+,rejected_calls=0,failed_calls=0/)
  assert.match(text, /cmdstat_incr:calls=0,.*rejected_calls=1,failed_calls=0/)
  assert.match(text, /cmdstat_hget:calls=1,.*rejected_calls=0,failed_calls=1/)
  assert.doesNotMatch(String(await client.ask('INFO')), /cmdstat_/)
  assert.match(String(await client.ask('INFO', 'replication')), /^# Replication\r\nrole:master\r\n/)
  assert.equal(await client.ask('INFO', 'none'), '')
  await client.ask('CONFIG', 'RESETSTAT')
  assert.doesNotMatch(String(await client.ask('INFO', 'commandstats')), /cmdstat_set/)
})

test('the slow log and latency events keep what took long', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  await client.ask('CONFIG', 'SET', 'slowlog-log-slower-than', '0', 'latency-monitor-threshold', '1')
  await client.ask('SET', 'key', 'x'.repeat(200))
  await client.ask('CONFIG', 'SET', 'slowlog-log-slower-than', '-1')
  await client.ask('BLPOP', 'list', '0.01')
  const [[id, seconds, , args, address, name]] = (await client.ask('SLOWLOG', 'GET', '1')) as [Answer[]]
  assert.equal(id, 0)
  assert.ok(Math.abs(Number(seconds) - Date.now() / 1000) < 100)
  assert.deepEqual(args, ['SET', 'key', `${'x'.repeat(128)}... (72 more bytes)`])
  assert.match(String(address), /^127\.0\.0\.1:\d+$/)
  assert.equal(name, '')
  assert.equal(await client.ask('SLOWLOG', 'LEN'), 1)
  assert.deepEqual(
    door.node.slowLog.entries.map(({ id }) => id),
    [0],
  )
  await client.ask('CONFIG', 'SET', 'slowlog-max-len', '0')
  assert.equal(await client.ask('SLOWLOG', 'LEN'), 0)
  await client.ask('DEBUG', 'SLEEP', '0.01')
  const [[event, , last, most]] = (await client.ask('LATENCY', 'LATEST')) as [Answer[]]
  assert.equal(event, 'command')
  assert.ok(Number(last) >= 1 && Number(most) >= Number(last))
  assert.equal(await client.ask('LATENCY', 'RESET', 'command'), 1)
})

test('MONITOR shows what others do, but no passwords', async () => {
  await using door = await openDoor()
  const [watching, working] = [await door.connect(), await door.connect()]
  assert.equal(await watching.ask('MONITOR'), 'OK')
  await working.ask('AUTH', 'default', 'secret')
  await working.ask('set', 'a', 'b"\n\x01')
  assert.match(String(await watching.next()), /^\d+\.\d{6} \[0 127\.0\.0\.1:\d+\] "set" "a" "b\\"\\n\\x01"$/)
  await working.ask('GET', 'a')
  assert.match(String(await watching.next()), /"GET" "a"$/)
  for (const command of [['MULTI'], ['INCR', 'n'], ['EXEC']]) await working.ask(...command)
  for (const shown of [/"MULTI"$/i, /"INCR" "n"$/, /"exec"$/]) assert.match(String(await watching.next()), shown)
})

test('SHUTDOWN asks the process to end, and is refused where it has other work', async () => {
  let ended = 0
  await using door = await openDoor({ onShutdown: () => (ended += 1) })
  const client = await door.connect()
  client.send(['SHUTDOWN', 'NOSAVE'])
  await until(() => ended === 1, 'the process is asked')
  await using other = await openDoor()
  assert.match(String(await (await other.connect()).ask('SHUTDOWN')), /^-ERR SHUTDOWN is not possible/)
})

test('what an index cannot do is refused with words', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  for (const [command, words] of [
    ['REPLICAOF localhost 1', /replicated by its own log/],
    ['SLAVEOF no one', /replicated by its own log/],
    ['CONFIG SET maxmemory 900gb', /has less memory; start the server with another --memory/],
    ['CONFIG SET port 5', /listens where it was started/],
    ['CONFIG SET daemonize yes', /can't set immutable config/],
    ['ACL SAVE', /no file of users/],
    ['LATENCY GRAPH x', /use LATENCY HISTORY/],
  ] as const)
    assert.match(String(await client.ask(...command.split(' '))), words, command)
})
