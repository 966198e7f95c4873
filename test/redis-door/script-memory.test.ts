/** Scripts where the memory of the index is used up. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { openDoor, type TestDoor } from './support/door.ts'
import type { RawClient } from './support/raw-client.ts'

useRuntimeDirectory()

const FULL = "-OOM command not allowed when used memory > 'maxmemory'."
const MEMORY_BYTES = 1024 * 1024

async function openSmall(): Promise<{ readonly door: TestDoor; readonly client: RawClient }> {
  const door = await openDoor({ memoryBytes: MEMORY_BYTES })
  return { door, client: await door.connect() }
}

async function fill(client: RawClient): Promise<void> {
  for (let at = 0; (await client.ask('SET', `fill${at}`, 'x'.repeat(100_000))) === 'OK'; at += 1);
}

test('a script that has begun is done as a whole, even if the memory is used up meanwhile', async () => {
  const { door, client } = await openSmall()
  await using _ = door
  const script = `redis.call('SET', 'first', 1)
for at = 1, 30 do redis.call('SET', 'key' .. at, string.rep('x', 100000)) end
redis.call('DEL', 'key1')
return redis.call('INCR', 'last')`
  assert.equal(await client.ask('EVAL', script, '0'), 1)
  assert.equal(await client.ask('DBSIZE'), 31)
  assert.equal(await client.ask('SET', 'more', '1'), FULL)
  assert.match(String(await client.ask('EVAL', script, '0')), /^-OOM .* script: /)
  assert.equal(await client.ask('GET', 'last'), '1')
})

test('scripts that are sent together each take effect as a whole, or not at all', async () => {
  const { door } = await openSmall()
  await using _ = door
  const script = `redis.call('APPEND', KEYS[1], string.rep('x', 50000)) return redis.call('INCR', KEYS[2])`
  const clients = await Promise.all(Array.from({ length: 4 }, () => door.connect()))
  const done = await Promise.all(
    clients.map(async (client, number) => {
      const commands = Array.from({ length: 20 }, () => ['EVAL', script, '2', `text${number}`, `count${number}`])
      return (await client.askAll(commands)).filter((answer) => typeof answer === 'number').length
    }),
  )
  assert.ok(done.reduce((sum, each) => sum + each, 0) < 80)
  for (const [number, count] of done.entries()) {
    assert.equal(await clients[0]!.ask('STRLEN', `text${number}`), count * 50_000)
    assert.equal(Number(await clients[0]!.ask('GET', `count${number}`)), count)
  }
})

test('where the memory is used up, a script is refused as by Redis', async () => {
  const { door, client } = await openSmall()
  await using _ = door
  await fill(client)
  const put = "return redis.call('SET', 'put', 1)"
  for (const [script, answer] of [
    ['return 1', 1],
    ["return redis.call('GET', 'none')", null],
    ['#!lua\nreturn 1', FULL],
    ['#!lua flags=no-writes\nreturn 1', 1],
    [`#!lua flags=allow-oom\n${put}`, 'OK'],
    [`redis.call('DEL', 'none') ${put}`, 'OK'],
    [`redis.call('EXPIRE', 'none', 1) ${put}`, 'OK'],
    ["return redis.pcall('SET', 'put', 1).err", FULL.slice(1)],
  ] as const)
    assert.equal(await client.ask('EVAL', script, '0'), answer, script)
  assert.match(String(await client.ask('EVAL', put, '0')), /^-OOM .* script: \w+, on @user_script:1\.$/)
  assert.match(String(await client.ask('EVAL', `redis.call('GET', 'none') ${put}`, '0')), /^-OOM /)
  assert.equal(await client.ask('EVAL_RO', 'return 1', '0'), 1)
  for (const command of [['MULTI'], ['EVAL', `#!lua flags=allow-oom\n${put}`, '0'], ['EVAL', put, '0']])
    await client.ask(...command)
  const [written, refused] = (await client.ask('EXEC')) as [string, string]
  assert.equal(written, 'OK')
  assert.match(refused, /^-OOM /)
})
