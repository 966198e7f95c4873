/** How the nodes of an index know of each other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MESSAGE_BYTES_MAX } from '../../../src/cluster/index.ts'
import type { NodeCard } from '../../../src/index-service/node/index-contract.ts'
import type { NodeGroup } from '../../../src/index-service/node/node-host.ts'
import { NodeMembers } from '../../../src/index-service/node/node-members.ts'

const RANKS = [0, 1]
const SHARDS_MAX = 256

function cardOf(rank: number, shards: number): NodeCard {
  const place = { address: '2001:db8:1234:5678:9abc:def0:1234:5678', port: 65_535 }
  const holds = Array.from({ length: shards }, (_, shard) => ({ shard, table: 1000 + shard }))
  const life = { processId: 1_234_567 + rank, lifeThread: 1_234_567 }
  return {
    rank,
    ...life,
    machine: 'a machine of a long name',
    here: place,
    beyond: place,
    door: place,
    holds,
    format: 3,
  }
}

/** Groups of processes that tell each other at once, as much as a message holds. */
function groups(): readonly NodeGroup[] {
  const listeners = new Map<number, (rank: number, value: unknown) => void>()
  return RANKS.map((rank) => {
    const group = {
      ...{ rank, closed: false },
      members: () => RANKS.map((each) => ({ rank: each, processId: each, host: 'host' })),
      onEvent: () => () => undefined,
      onTold: (_: string, listener: (from: number, value: unknown) => void) => {
        listeners.set(rank, listener)
        return () => listeners.delete(rank)
      },
      tell: async (to: number, topic: string, value: unknown) => {
        const text = JSON.stringify({ op: 'tell', topic, value })
        if (text.length >= MESSAGE_BYTES_MAX) throw new Error(`${text.length} bytes are too many`)
        listeners.get(to)?.(rank, (JSON.parse(text) as { value: unknown }).value)
      },
    }
    return group as unknown as NodeGroup
  })
}

for (const shards of [0, 1, 40, 62, SHARDS_MAX])
  test(`the others know of ${shards} shards that a node holds, and of fewer afterwards`, () => {
    const name = 'n'.repeat(64)
    const [first, second] = groups().map((group) => new NodeMembers(group, name, cardOf(group.rank, 0)))
    first!.tell(cardOf(0, shards))
    assert.deepEqual(
      second!.cards.find(({ rank }) => rank === 0),
      cardOf(0, shards),
    )
    first!.tell(cardOf(0, 3))
    assert.deepEqual(
      second!.cards.find(({ rank }) => rank === 0),
      cardOf(0, 3),
    )
    assert.deepEqual(
      first!.cards.find(({ rank }) => rank === 1),
      cardOf(1, 0),
    )
  })
