/** What scripts say of themselves in their first line. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { withoutRedis } from '../index-service/support/differential.ts'
import { openDoor, openRedis } from './support/door.ts'
import type { Answer } from './support/raw-client.ts'

useRuntimeDirectory()

const headers: readonly string[] = [
  ...['#!lua', '#!lua ', '#!lua  flags=', '#!lua flags=no-writes', '#!lua flags=no-writes,allow-oom,allow-stale'],
  ...['#!lua flags=no-cluster', '#!lua flags=allow-cross-slot-keys', '#!lua flags=no-writes flags=allow-oom'],
  ...['#!lua "flags=no-writes"', '#!lua flags="no-writes"', '#!lua flags="no-writes', '#!lua \\x'],
  ...[
    '#!not-lua',
    '#!LUA',
    '#!',
    '#! lua',
    '#',
    '#x',
    '#!lua badger=data',
    '#!lua name=x',
    '#!lua name',
    '#!lua engine=lua',
  ],
  ...['#!lua flags=what?', '#!lua flags=allow-oom,what?', '#!lua flags=no-writes,', '#!lua flags=NO-WRITES'],
  ...['#!lua FLAGS=no-writes', '#!lua flags', '#!lua flags=,'],
]

test('the first line of a script is taken, or refused, as by redis-server', { skip: withoutRedis }, async () => {
  await using door = await openDoor()
  await using redis = await openRedis()
  const [own, theirs] = [await door.connect(), await redis.connect()]
  const bodies = ['return 1', "return redis.call('SET', 'a', 1)", "return redis.call('PUBLISH', 'a', 1)", 'return x +']
  const scripts = headers.flatMap((header) => [header, ...bodies.map((body) => `${header}\n${body}`)])
  const differences: unknown[] = []
  for (const script of scripts)
    for (const command of [
      ['EVAL', script, '0'],
      ['EVAL_RO', script, '0'],
      ['SCRIPT', 'LOAD', script],
    ]) {
      const [answer, expected] = [await own.ask(...command), await theirs.ask(...command)]
      if (answer !== expected) differences.push([command, answer, expected])
    }
  assert.deepEqual(differences, [])
})

test('a script that is refused for its first line is not known', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  const script = '#!lua x=y\nreturn 1'
  const sha = createHash('sha1').update(script).digest('hex')
  for (const command of [
    ['EVAL', script, '0'],
    ['SCRIPT', 'LOAD', script],
  ])
    assert.match(String(await client.ask(...command)), /^-ERR Unknown lua shebang option: x=y/)
  assert.match(String(await client.ask('EVALSHA', sha, '0')), /^-NOSCRIPT /)
  assert.deepEqual(await client.ask('SCRIPT', 'EXISTS', sha), [0])
})

test('while writes are paused, scripts go on that say that they do not write', async () => {
  await using door = await openDoor()
  const [one, two] = [await door.connect(), await door.connect()]
  const reading = '#!lua flags=no-writes\nreturn 12'
  const sha = String(await one.ask('SCRIPT', 'LOAD', reading))
  await one.ask('CLIENT', 'PAUSE', '600000', 'WRITE')
  for (const command of [
    ['EVAL', reading, '0'],
    ['EVALSHA', sha, '0'],
    ['EVALSHA', sha.toUpperCase(), '0'],
    ['EVAL_RO', 'return 12', '0'],
  ])
    assert.equal(await two.ask(...command), 12, command.join(' '))
  for (const command of [['MULTI'], ['EVAL', reading, '0'], ['EVALSHA', sha, '0']]) await two.ask(...command)
  assert.deepEqual(await two.ask('EXEC'), [12, 12])
  const writing = [two.ask('EVAL', '#!lua\nreturn 1', '0'), (await door.connect()).ask('EVAL', 'return 1', '0')]
  while (!String(await one.ask('INFO', 'clients')).includes('blocked_clients:2\r\n'));
  await one.ask('CLIENT', 'UNPAUSE')
  assert.deepEqual(await Promise.all(writing), [1, 1])
})

test('with slots, a script with a first line keeps to one of them, and may say that it is for none', async () => {
  await using door = await openDoor({ isCluster: true })
  const client = await door.connect()
  const both = "return {redis.pcall('INCR', 'a'), redis.pcall('INCR', 'b'), redis.pcall('GET', 'a')}"
  const apart = '-ERR Script attempted to access keys that do not hash to the same slot'
  for (const [header, keys, answer] of [
    ['', [], [1, 1, '1']],
    ['#!lua flags=allow-cross-slot-keys\n', [], [2, 2, '2']],
    ['#!lua\n', [], [3, apart, '3']],
    ['#!lua\n', ['b'], [apart, 3, apart]],
    ['#!lua flags=no-cluster\n', [], "-ERR Can not run script on cluster, 'no-cluster' flag is set."],
  ] as readonly (readonly [string, readonly string[], Answer])[])
    assert.deepEqual(await client.ask('EVAL', header + both, String(keys.length), ...keys), answer, header)
})
