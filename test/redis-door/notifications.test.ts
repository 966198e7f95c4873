/** Keyspace notifications at the door, and what redis-server publishes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { withoutRedis } from '../index-service/support/differential.ts'
import { openDoor, openRedis } from './support/door.ts'
import type { Answer, RawClient } from './support/raw-client.ts'

useRuntimeDirectory()

type Connect = (protocol?: 2 | 3) => Promise<RawClient>

/** With the flags that are set before. */
const steps: readonly (readonly [flags: string, ...commands: (readonly string[])[]])[] = [
  ['KEA', ['SET', 'text', 'a'], ['DEL', 'text', 'none'], ['LPUSH', 'list', 'a'], ['RPOP', 'list'], ['GET', 'none']],
  ['E$', ['SET', 'text', 'a', 'EX', '100'], ['LPUSH', 'list', 'b'], ['APPEND', 'text', 'b']],
  ['Kl', ['LPUSH', 'list', 'c'], ['SET', 'text', 'a']],
  ['KEg', ['EXPIRE', 'text', '100'], ['RENAME', 'text', 'other'], ['SET', 'text', 'a']],
  ['', ['SET', 'text', 'a']],
  ['A', ['SET', 'text', 'a']],
  ['KEA', ['SELECT', '3'], ['SADD', 'set', 'a'], ['SELECT', '0'], ['HSET', 'a\xff\0b', 'f', 'v']],
  [
    'KEA',
    ['SET', 'soon', 'x', 'PX', '1'],
    ['EVAL', "redis.call('SET', 'text', 1) return redis.call('INCR', 'n')", '0'],
  ],
]

async function heard(connect: Connect): Promise<Answer[]> {
  const [listener, client] = [await connect(), await connect()]
  await listener.ask('PSUBSCRIBE', '__key*')
  await listener.ask('SUBSCRIBE', 'end')
  const messages: Answer[] = []
  for (const [flags, ...commands] of steps) {
    await client.ask('CONFIG', 'SET', 'notify-keyspace-events', flags)
    messages.push(await client.ask('CONFIG', 'GET', 'notify-keyspace-events'))
    for (const command of commands) await client.ask(...command)
    // What is due is published before this.
    await client.ask('PUBLISH', 'end', 'x')
    for (let next = await listener.next(); !(next as string[]).includes('end'); next = await listener.next())
      if (!JSON.stringify(next).includes('soon')) messages.push(next)
  }
  return messages
}

test('events of keys are published as by Redis, as far as the flags say', { skip: withoutRedis }, async () => {
  await using door = await openDoor()
  await using redis = await openRedis()
  assert.deepEqual(await heard((version) => door.connect(version)), await heard((version) => redis.connect(version)))
})

test('a key that expires is told of', async () => {
  await using door = await openDoor()
  const [listener, client] = [await door.connect(), await door.connect()]
  await client.ask('CONFIG', 'SET', 'notify-keyspace-events', 'Ex')
  await listener.ask('SUBSCRIBE', '__keyevent@0__:expired')
  await client.ask('SET', 'soon', 'x', 'PX', '20')
  assert.deepEqual(await listener.next(), ['message', '__keyevent@0__:expired', 'soon'])
})
