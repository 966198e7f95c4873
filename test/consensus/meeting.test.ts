import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Group } from '../../src/cluster/index.ts'
import type { ReplicaProcess } from '../../src/consensus/agent/replica-process.ts'
import { Meeting } from '../../src/consensus/meeting.ts'
import type { ReplicaCard } from '../../src/consensus/replica/connections.ts'

test('a card for the replica that this process had before is not taken by its next one', () => {
  const told: unknown[] = []
  let hear: (rank: number, value: unknown) => void = () => {}
  const peer = {
    rank: 0,
    closed: false,
    tell: async (_rank: number, _topic: string, value: unknown) => told.push(value),
  }
  const group = {
    ...{ rank: 2, closed: false, members: () => [], onEvent: () => () => {} },
    onTold: (_topic: string, listener: typeof hear) => {
      hear = listener
      return () => {}
    },
  }
  const heard: number[] = []
  const process = { hear: ({ attempt }: ReplicaCard) => heard.push(attempt) }
  const before = new Meeting(group as unknown as Group, 'machine')
  const next = new Meeting(group as unknown as Group, 'machine')
  next.begin(process as unknown as ReplicaProcess)

  const sender = new Meeting(peer as unknown as Group, 'machine')
  const card = { id: sender.id, endpoint: { gid: 1n }, region: { address: 0, key: 0 }, frame: 0 }
  sender.say(before.id, { ...card, attempt: 2 } as unknown as ReplicaCard)
  sender.say(next.id, { ...card, attempt: 1 } as unknown as ReplicaCard)
  for (const value of told) hear(0, value)
  assert.deepEqual(heard, [1])
})
