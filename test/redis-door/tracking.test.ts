/** CLIENT TRACKING at the door, and what redis-server tells. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { withoutRedis } from '../index-service/support/differential.ts'
import { openDoor, openRedis } from './support/door.ts'
import type { Answer, RawClient } from './support/raw-client.ts'

useRuntimeDirectory()

type Connect = (protocol?: 2 | 3) => Promise<RawClient>
/** `reader` and `listener` speak the version of the test. With `writer`, what it does has been told when it is answered. */
type Who = 'reader' | 'listener' | 'writer'
/** How many answers come is the last part, if it is not one. `LISTENER` is its number. */
type Step = readonly [who: Who, command: string, answers?: number]

const options: readonly Step[] = [
  ['reader', 'CLIENT TRACKINGINFO'],
  ['reader', 'CLIENT GETREDIR'],
  ['reader', 'CLIENT TRACKING on'],
  ['reader', 'CLIENT TRACKINGINFO'],
  ['reader', 'CLIENT GETREDIR'],
  ['reader', 'CLIENT TRACKING on BCAST'],
  ['reader', 'CLIENT CACHING yes'],
  ['reader', 'CLIENT TRACKING on OPTIN NOLOOP REDIRECT LISTENER'],
  ['reader', 'CLIENT GETREDIR'],
  ['reader', 'CLIENT TRACKING on OPTOUT'],
  ['reader', 'CLIENT CACHING no'],
  ['reader', 'CLIENT CACHING x'],
  ['reader', 'CLIENT CACHING yes'],
  ['reader', 'CLIENT TRACKINGINFO'],
  ['reader', 'PING'],
  ['reader', 'CLIENT TRACKINGINFO'],
  ['reader', 'CLIENT TRACKING on REDIRECT LISTENER REDIRECT LISTENER'],
  ['reader', 'CLIENT TRACKING off'],
  ['reader', 'CLIENT TRACKING on BCAST PREFIX a PREFIX b NOLOOP'],
  ['reader', 'CLIENT TRACKINGINFO'],
  ['reader', 'CLIENT TRACKING on BCAST PREFIX ac'],
  ['reader', 'CLIENT TRACKING on BCAST PREFIX c PREFIX c'],
  ['reader', 'CLIENT TRACKING on BCAST PREFIX c'],
  ['reader', 'CLIENT TRACKING on'],
  ['reader', 'CLIENT TRACKING off'],
  ['reader', 'CLIENT TRACKINGINFO'],
  ['reader', 'CLIENT CACHING yes'],
  ['reader', 'MULTI'],
  ['reader', 'CLIENT TRACKING on OPTIN'],
  ['reader', 'CLIENT CACHING yes'],
  ['reader', 'EXEC'],
  ['reader', 'CLIENT TRACKINGINFO'],
  ['reader', 'RESET'],
  ['reader', 'CLIENT TRACKINGINFO'],
]

/** What a client of RESP3 is told itself. */
const told: readonly Step[] = [
  ['reader', 'CLIENT TRACKING on'],
  ['writer', 'MSET a 1 b 2 c 3'],
  ['reader', 'MGET a b none'],
  ['writer', 'SET c 4'],
  ['writer', 'SET a 4'],
  ['reader', '', 1],
  ['writer', 'SET a 5'],
  ['writer', 'SET none 5'],
  ['reader', '', 1],
  ['reader', 'GET b'],
  ['reader', 'SET b 9', 2],
  ['reader', 'SET b 9'],
  ['reader', 'GET a'],
  ['writer', 'EXPIRE a 100'],
  ['reader', '', 1],
  ['reader', 'EXISTS a'],
  ['writer', 'RENAME a d'],
  ['reader', '', 1],
  ['reader', 'HGET hash f'],
  ['writer', 'HSET hash f v'],
  ['reader', '', 1],
  ['reader', 'HGET hash f'],
  ['writer', 'HDEL hash f'],
  ['reader', '', 1],
  ['reader', 'GET other'],
  ['writer', 'SELECT 3'],
  ['writer', 'SET other x'],
  ['reader', '', 1],
  ['writer', 'SELECT 0'],
  ['reader', 'GET a'],
  ['reader', 'GET b'],
  ['reader', 'MULTI'],
  ['reader', 'INCR b'],
  ['reader', 'INCR b'],
  ['reader', 'INCR a'],
  ['reader', 'EXEC', 3],
  ['reader', 'MULTI'],
  ['reader', 'GET b'],
  ['reader', 'EXEC'],
  ['writer', 'INCR b'],
  ['reader', '', 1],
  ['reader', 'GET b'],
  ['writer', 'FLUSHDB'],
  ['reader', '', 1],
  ['writer', 'FLUSHALL'],
  ['reader', '', 1],
  ['reader', 'FLUSHALL', 2],
  ['reader', 'GET soon'],
  ['writer', 'SET soon x PX 5'],
  ['reader', '', 1],
  ['reader', 'LRANGE list 0 -1'],
  ['writer', 'LPUSH list a'],
  ['reader', '', 1],
  ['reader', 'OBJECT ENCODING list'],
  ['writer', 'LPUSH list a'],
  ['reader', '', 1],
  ['reader', 'XINFO STREAM none'],
  ['writer', 'XADD none 1-1 a b'],
  ['reader', '', 1],
  ['reader', 'ZUNION 2 z1 z2'],
  ['writer', 'ZADD z2 1 a'],
  ['reader', '', 1],
  ['reader', 'CLIENT TRACKING off'],
  ['writer', 'ZADD z1 1 a'],
  ['reader', 'PING'],
]

const broadcast: readonly Step[] = [
  ['reader', 'CLIENT TRACKING on BCAST PREFIX a PREFIX b'],
  ['writer', 'MSET a1 1 c 1 a2 2'],
  ['reader', '', 1],
  ['reader', 'SET a1 1', 2],
  ['writer', 'SET b1 1'],
  ['reader', '', 1],
  ['writer', 'FLUSHALL'],
  ['reader', '', 1],
  ['reader', 'CLIENT TRACKING on BCAST NOLOOP'],
  ['reader', 'SET a1 1'],
  ['writer', 'SET a1 1'],
  ['reader', '', 1],
  ['reader', 'CLIENT TRACKING off'],
  ['writer', 'SET a1 2'],
  ['reader', 'PING'],
]

const opting: readonly Step[] = [
  ['reader', 'CLIENT TRACKING on OPTIN'],
  ['reader', 'GET a'],
  ['reader', 'CLIENT CACHING yes'],
  ['reader', 'GET b'],
  ['reader', 'GET c'],
  ['writer', 'MSET a 1 b 1 c 1'],
  ['reader', '', 1],
  ['reader', 'CLIENT CACHING yes'],
  ['reader', 'MULTI'],
  ['reader', 'GET a'],
  ['reader', 'GET b'],
  ['reader', 'EXEC'],
  ['reader', 'GET c'],
  ['writer', 'MSET a 2 b 2 c 2'],
  ['reader', '', 2],
  ['reader', 'CLIENT TRACKING off'],
  ['reader', 'CLIENT TRACKING on OPTOUT'],
  ['reader', 'CLIENT CACHING no'],
  ['reader', 'GET a'],
  ['reader', 'GET b'],
  ['writer', 'MSET a 1 b 1 c 1'],
  ['reader', '', 1],
  ['reader', 'PING'],
]

const redirected: readonly Step[] = [
  ['reader', 'CLIENT TRACKING on REDIRECT LISTENER'],
  ['reader', 'GET a'],
  ['writer', 'SET a 1'],
  ['listener', 'SUBSCRIBE __redis__:invalidate'],
  ['reader', 'GET a'],
  ['writer', 'SET a 2'],
  ['listener', '', 1],
  ['reader', 'GET a'],
  ['reader', 'SET a 2'],
  ['listener', '', 1],
  ['writer', 'FLUSHALL'],
  ['listener', '', 1],
  ['reader', 'CLIENT TRACKING off'],
  ['reader', 'CLIENT TRACKING on REDIRECT LISTENER BCAST'],
  ['writer', 'MSET a 2 b 3'],
  ['listener', '', 1],
  ['reader', 'PING'],
]

async function played(connect: Connect, protocol: 2 | 3, steps: readonly Step[]): Promise<Answer[]> {
  const clients = {
    reader: await connect(protocol),
    listener: await connect(protocol),
    writer: await connect(),
  }
  const listener = String(await clients.listener.ask('CLIENT', 'ID'))
  await clients.writer.ask('FLUSHALL')
  const answers: Answer[] = []
  for (const [who, command, count = 1] of steps) {
    if (command !== '') clients[who].send(command.replaceAll('LISTENER', listener).split(' '))
    for (let at = 0; at < count; at += 1) {
      const answer = JSON.stringify(await clients[who].next())
      const shown = command.startsWith('CLIENT') ? answer.replace(new RegExp(`\\b${listener}\\b`), 'LISTENER') : answer
      answers.push([command, shown])
    }
  }
  return answers
}

for (const [name, protocol, steps] of [
  ['options are told and refused', 2, options],
  ['options are told and refused', 3, options],
  ['a client is told of keys that it has read', 3, told],
  ['a client of RESP2 that redirects to no one is told nothing', 2, [...told.filter(([, command]) => command !== '')]],
  ['prefixes are told of as a whole', 3, broadcast],
  ['clients choose by CLIENT CACHING', 3, opting],
  ['another client is told', 2, redirected],
] as const)
  test(`RESP${protocol}: ${name} as by Redis`, { skip: withoutRedis }, async () => {
    const all = protocol === 3 ? steps : steps.map(([who, command]): Step => [who, command])
    await using door = await openDoor()
    await using redis = await openRedis()
    const theirs = await played((version) => redis.connect(version), protocol, all)
    assert.deepEqual(await played((version) => door.connect(version), protocol, all), theirs)
  })
