/** How long commands took, as LATENCY HISTOGRAM and INFO tell it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommandTimes } from '../../src/redis-door/activity/command-times.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { withoutRedis } from '../index-service/support/differential.ts'
import { openDoor, openRedis } from './support/door.ts'
import type { Answer, RawClient } from './support/raw-client.ts'

useRuntimeDirectory()

function timesOf(...usecs: readonly number[]): CommandTimes {
  const times = new CommandTimes()
  for (const usec of usecs) times.add(usec / 1000)
  return times
}

test('times are told up to each power of two, as redis-server tells them', () => {
  for (const [usec, power, half] of [
    [0, 1, 0.001],
    [1, 1, 1.003],
    [9, 16, 9.023],
    [33, 33, 33.023],
    [79, 132, 79.359],
    [23_979, 33_816, 23_986.175],
    [552_000, 1_073_741, 553_648.127],
    [5_000_000, 1_073_741, 1_002_438.655],
  ] as const) {
    const times = timesOf(usec)
    assert.deepEqual(times.powers(), [[power, 1]], String(usec))
    assert.equal(times.percentileUsec(50), half)
  }
})

test('powers hold all shorter times, and those in which nothing was added are left out', () => {
  const times = timesOf(2, 2, 60, 61, 300)
  times.looks = 7
  assert.equal(times.count, 12)
  assert.deepEqual(times.powers(), [
    [1, 7],
    [2, 9],
    [66, 11],
    [528, 12],
  ])
  assert.deepEqual(
    [0, 50, 65, 75, 100].map((percent) => times.percentileUsec(percent)),
    [0.001, 0.001, 2.007, 2.007, 301.055],
  )
})

/** Names that LATENCY HISTOGRAM has, and the number of calls of each. */
async function callsOf(client: RawClient, ...names: readonly string[]): Promise<Readonly<Record<string, Answer>>> {
  const flat = (await client.ask('LATENCY', 'HISTOGRAM', ...names)) as Answer[]
  return Object.fromEntries(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, (flat[at + 1] as Answer[])[1]!]] : [])))
}

const commands: readonly (readonly string[])[] = [
  ...[
    ['SET', 'a', '1'],
    ['GET', 'a'],
    ['SET', 'a', '2'],
    ['LPUSH', 'a', '1'],
  ],
  ...[
    ['CLIENT', 'ID'],
    ['CLIENT', 'GETNAME'],
    ['CLIENT', 'NONSENSE'],
    ['CONFIG', 'GET', 'none'],
    ['SET', 'a'],
  ],
  ...[
    ['XGROUP', 'CREATE', 'stream', 'group', '0'],
    ['OBJECT', 'ENCODING', 'a'],
    ['XGROUP', 'CREATE', 'stream'],
  ],
  ...[['MULTI'], ['SET', 'b', '1'], ['CLIENT', 'ID'], ['GET', 'b'], ['LPUSH', 'a', '1'], ['SELECT', '0'], ['EXEC']],
]

test('commands, those of EXEC and subcommands are counted as by redis-server', { skip: withoutRedis }, async () => {
  await using door = await openDoor()
  await using redis = await openRedis()
  const [own, theirs] = [await door.connect(), await redis.connect()]
  const told: unknown[] = []
  for (const client of [own, theirs]) {
    await client.ask('CONFIG', 'RESETSTAT')
    for (const command of commands) await client.ask(...command)
    const lines = String(await client.ask('INFO', 'commandstats')).split('\r\n')
    told.push({
      all: await callsOf(client),
      some: await callsOf(client, 'client', 'nonsense', 'config|get', 'SET'),
      counts: lines.map((line) => line.replace(/usec=\d+,usec_per_call=[\d.]+/, '')).sort(),
    })
  }
  assert.deepEqual(told[0], told[1])
})

test('INFO tells the percentiles that were chosen, until latency-tracking is off', { skip: withoutRedis }, async () => {
  await using door = await openDoor()
  await using redis = await openRedis()
  const [own, theirs] = [await door.connect(), await redis.connect()]
  const name = 'latency-tracking-info-percentiles'
  for (const given of ['0 50.0 100', '', '99.95 5e1 1.23456789', 'x', '101', '-1', '5  6', ' 5'])
    for (const command of [
      ['CONFIG', 'SET', name, given],
      ['CONFIG', 'GET', name],
    ])
      assert.deepEqual(await own.ask(...command), await theirs.ask(...command), given)
  const told = async (): Promise<string> => String(await own.ask('INFO', 'latencystats'))
  await own.ask('CONFIG', 'SET', name, '0 99.9')
  await own.ask('SET', 'a', '1')
  assert.match(
    await told(),
    /^# Latencystats\r\n(.*\r\n)*latency_percentiles_usec_set:p0=\d+\.\d{3},p99\.9=\d+\.\d{3}\r\n/,
  )
  assert.match(await told(), /latency_percentiles_usec_config\|set:/)
  await own.ask('CONFIG', 'SET', 'latency-tracking', 'no')
  await own.ask('CONFIG', 'RESETSTAT')
  for (const command of [
    ['SET', 'a', '1'],
    ['GET', 'a'],
  ])
    await own.ask(...command)
  assert.deepEqual(await own.ask('LATENCY', 'HISTOGRAM'), [])
  assert.equal(await told(), '# Latencystats\r\n')
  assert.match(String(await own.ask('INFO', 'commandstats')), /cmdstat_get:calls=1,/)
})

test('AUTH within MULTI waits for EXEC', { skip: withoutRedis }, async () => {
  await using door = await openDoor()
  await using redis = await openRedis()
  const [own, theirs] = [await door.connect(), await redis.connect()]
  for (const command of [['MULTI'], ['AUTH', 'wrong'], ['PING'], ['EXEC']])
    assert.deepEqual(await own.ask(...command), await theirs.ask(...command), command.join(' '))
})

test('LATENCY HISTOGRAM tells of each command once, however often it is named', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  await client.ask('SET', 'a', '1')
  const once = await client.ask('LATENCY', 'HISTOGRAM', 'set')
  assert.deepEqual(await client.ask('LATENCY', 'HISTOGRAM', 'set', 'SET', 'set'), once)
})
