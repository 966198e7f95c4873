import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addPairs } from '../../src/dashboard/pair-traffic.ts'
import { Traffic } from '../../src/dashboard/traffic.ts'
import { Profile } from '../../src/profiling/index.ts'

/**
 * What a thread has counted: of each queue pair its device, its number and its ends, and of endpoints the messages, by
 * the numbers of their queue pairs.
 */
function profile(
  pairs: readonly (readonly [device: string, pair: number, end: number, peerEnd: number])[],
  messages: Readonly<Record<number, number>>,
): Profile {
  const block = { labelled: 'what', spread: 'thread', rest: false, thread: 7, gauges: [] }
  const counters = [
    ...pairs.map(([device, pair, end, peerEnd]) => ({
      ...{ ...block, name: 'verbs.queuePair', label: `${device} ${pair}`, values: { end, peerEnd, sends: 1 } },
    })),
    ...Object.entries(messages).map(([pair, messagesSent]) => ({
      ...{ ...block, name: 'messaging.endpoint', label: `${pair} peer`, values: { messagesSent, bytesSent: 0 } },
    })),
  ].map((each, serial) => ({ ...each, serial }))
  return Profile.fromJSON({ version: 1, unplaced: 0, counters, histograms: [], findings: [] })
}

test('messages of an endpoint are of no link where queue pairs of two devices have its number', () => {
  const traffic = new Traffic()
  addPairs(traffic, [
    {
      number: 0,
      since: profile(
        [
          ['shm', 1, 101, 201],
          ['shm', 2, 102, 202],
          ['rxe0', 1, 103, 301],
          // Whose peer is nobody here.
          ['rxe0', 3, 104, 999],
          ['shm', 3, 105, 203],
        ],
        { 1: 11, 2: 22, 3: 33 },
      ),
    },
    {
      number: 1,
      since: profile(
        [
          ['shm', 1, 201, 101],
          ['shm', 2, 202, 102],
          ['shm', 3, 203, 105],
        ],
        {},
      ),
    },
    { number: 2, since: profile([['rxe0', 1, 301, 103]], {}) },
  ])
  const told = [...traffic].map(({ from, to, layer, count }) => `${from} to ${to}: ${count} ${layer}`).sort()
  assert.deepEqual(told, [
    '0 to 1: 22 messages',
    '0 to 1: 3 verbs',
    '0 to 2: 1 verbs',
    '1 to 0: 3 verbs',
    '2 to 0: 1 verbs',
  ])
})
