/** Publish/subscribe at the door, and what redis-server does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { withoutRedis } from '../index-service/support/differential.ts'
import { openDoor, openRedis } from './support/door.ts'
import { openDoors } from './support/doors.ts'
import type { Answer, RawClient } from './support/raw-client.ts'

useRuntimeDirectory()

type Connect = (protocol?: 2 | 3) => Promise<RawClient>
/** How many answers a command has is its second part, if it is not one. */
type Step = readonly [who: 'listener' | 'other', command: readonly string[], answers?: number]

/** A listener of one version, and another client. What comes to the listener is read where it is due. */
const steps: readonly Step[] = [
  ['listener', ['SUBSCRIBE', 'news', 'sport', 'news'], 3],
  ['listener', ['PSUBSCRIBE', 'n?w*', '[a-c]x'], 2],
  ['listener', ['SSUBSCRIBE', 'shard'], 1],
  ['other', ['PUBSUB', 'NUMSUB', 'news', 'none']],
  ['other', ['PUBSUB', 'CHANNELS', 'ne*']],
  ['other', ['PUBSUB', 'NUMPAT']],
  ['other', ['PUBSUB', 'SHARDCHANNELS']],
  ['other', ['PUBSUB', 'SHARDNUMSUB', 'shard', 'news']],
  ['other', ['PUBSUB', 'NONSENSE']],
  ['other', ['PUBSUB', 'NUMPAT', 'extra']],
  ['other', ['PUBSUB', 'CHANNELS', 'a', 'b']],
  ['other', ['PUBLISH', 'news', 'first']],
  ['listener', [], 2],
  ['other', ['PUBLISH', 'bx', 'by pattern']],
  ['listener', [], 1],
  ['other', ['SPUBLISH', 'shard', 'sharded']],
  ['listener', [], 1],
  ['other', ['SPUBLISH', 'news', 'to no one']],
  ['other', ['PUBLISH', 'shard', 'to no one']],
  ['other', ['PUBLISH', 'news', '\xff\x00\r\n']],
  ['listener', [], 2],
  ['listener', ['PING']],
  ['listener', ['PING', 'text']],
  ['listener', ['PING', 'a', 'b']],
  ['listener', ['GET', 'key']],
  ['listener', ['GET']],
  ['listener', ['SELECT', '0']],
  ['listener', ['UNSUBSCRIBE', 'sport', 'none'], 2],
  ['listener', ['SUNSUBSCRIBE'], 1],
  ['listener', ['SUNSUBSCRIBE'], 1],
  ['listener', ['PUNSUBSCRIBE', 'n?w*'], 1],
  ['listener', ['PUNSUBSCRIBE'], 1],
  ['listener', ['PUNSUBSCRIBE'], 1],
  ['listener', ['UNSUBSCRIBE'], 1],
  ['listener', ['UNSUBSCRIBE'], 1],
  ['listener', ['PING']],
  ['listener', ['GET', 'key']],
  ['listener', ['SUBSCRIBE', 'again'], 1],
  ['listener', ['RESET']],
  ['other', ['PUBSUB', 'CHANNELS']],
  ['other', ['PUBLISH', 'again', 'x']],
  ['listener', ['MULTI']],
  ['listener', ['PUBLISH', 'again', 'x']],
  ['listener', ['SUBSCRIBE', 'within']],
  ['listener', ['EXEC']],
  ['other', ['PUBLISH', 'within', 'x']],
  ['listener', [], 1],
  ['other', ['SUBSCRIBE']],
  ['other', ['PUBLISH', 'a']],
]

async function played(connect: Connect, protocol: 2 | 3): Promise<Answer[]> {
  const clients = { listener: await connect(protocol), other: await connect(protocol) }
  const answers: Answer[] = []
  for (const [who, command, count = 1] of steps) {
    if (command.length > 0) clients[who].send(command)
    for (let at = 0; at < count; at += 1) answers.push([command.join(' '), await clients[who].next()])
  }
  return answers
}

for (const protocol of [2, 3] as const)
  test(`RESP${protocol}: subscribers are answered and told as by Redis`, { skip: withoutRedis }, async () => {
    await using door = await openDoor()
    await using redis = await openRedis()
    const theirs = await played((version) => redis.connect(version), protocol)
    assert.deepEqual(await played((version) => door.connect(version), protocol), theirs)
  })

test('a message at one node comes to those who listen at another one, in order', async () => {
  await using doors = await openDoors(2)
  const [one, other] = [await doors.connect(0), await doors.connect(1, 3)]
  await other.ask('SUBSCRIBE', 'news')
  const large = 'x'.repeat(300_000)
  for (let at = 0; at < 100; at += 1) assert.equal(await one.ask('PUBLISH', 'news', `${at}`), 0)
  await one.ask('PUBLISH', 'news', large)
  for (let at = 0; at < 100; at += 1) assert.deepEqual(await other.next(), { push: ['message', 'news', `${at}`] })
  assert.deepEqual(await other.next(), { push: ['message', 'news', large] })
})

test('NUMSUB counts those who listen at any node, since clients take the nodes for one server', async () => {
  await using doors = await openDoors(2)
  const [one, other, third] = [await doors.connect(0), await doors.connect(1), await doors.connect(1)]
  for (const listener of [other, third]) await listener.ask('SUBSCRIBE', 'n\xffws')
  const here = await doors.connect(0)
  await here.ask('SUBSCRIBE', 'n\xffws')
  await here.ask('SSUBSCRIBE', 'shard')
  const count = (): Promise<Answer> => one.ask('PUBSUB', 'NUMSUB', 'n\xffws', 'none')
  // Nodes that have just begun may not know each other yet.
  for (let tries = 0; tries < 500 && JSON.stringify(await count()).includes(',1,'); tries += 1) await sleep(10)
  assert.deepEqual(await count(), ['n\xffws', 3, 'none', 0])
  assert.deepEqual(await one.ask('PUBSUB', 'NUMSUB'), [])
  const asker = await doors.connect(1)
  assert.deepEqual(await asker.ask('PUBSUB', 'SHARDNUMSUB', 'shard', 'n\xffws'), ['shard', 1, 'n\xffws', 0])
  const answers = await one.askAll([['MULTI'], ['PUBSUB', 'NUMSUB', 'n\xffws'], ['ECHO', 'x'], ['EXEC']])
  assert.deepEqual(answers.at(-1), [['n\xffws', 3], 'x'])
})

test('a client that has gone listens to nothing', async () => {
  await using door = await openDoor()
  const [gone, other] = [await door.connect(), await door.connect()]
  await gone.ask('SUBSCRIBE', 'news')
  assert.equal(await other.ask('PUBLISH', 'news', 'x'), 1)
  gone[Symbol.dispose]()
  while ((await other.ask('PUBLISH', 'news', 'x')) !== 0);
  assert.deepEqual(await other.ask('PUBSUB', 'CHANNELS'), [])
})
