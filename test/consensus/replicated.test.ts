import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Group } from '../../src/cluster/index.ts'
import { structured } from '../../src/codecs/index.ts'
import { ENTRY_HEAD_BYTES, News } from '../../src/consensus/agent/agent-contract.ts'
import type { ReplicaProcess } from '../../src/consensus/agent/replica-process.ts'
import { RecordWriter } from '../../src/consensus/machine/records.ts'
import { EntryFlag } from '../../src/consensus/replica/cell.ts'
import { Replicated } from '../../src/consensus/replicated.ts'

/** The first entry of a term, as the replica's thread sends it. */
function beginning(index: number, term: number, leader: number): Uint8Array {
  const record = new RecordWriter()
  record.begin({ term, leader })
  const head = new DataView(new ArrayBuffer(ENTRY_HEAD_BYTES))
  head.setFloat64(0, index, true)
  head.setUint32(16, term, true)
  head.setUint32(20, EntryFlag.Begin, true)
  return Buffer.concat([new Uint8Array(head.buffer), record.bytes()])
}

test('the term of the leader never goes back, though an adopted first entry may be of a lower one', () => {
  const replicated = new Replicated({
    group: { rank: 0, closed: false } as Group,
    name: 'test',
    machine: { apply: (_command: unknown) => 0, snapshot: () => [], restore: () => {} },
    codec: structured,
    answerCodec: undefined,
    sessionMs: 1000,
    cellBytes: 512,
    rankOf: (id) => id - 1,
    idOf: (rank) => rank + 1,
    isDurable: false,
    sights: () => [],
    onConfiguration: () => {},
    onClose: async () => {},
  })
  const beforeAttached = replicated.take(News.Entry, beginning(1, 2049, 2))
  assert.equal(beforeAttached, false, 'what comes too early is kept')
  replicated.attach({ status: () => new Promise(() => {}) } as unknown as ReplicaProcess)
  replicated.take(News.Entry, beginning(1, 2049, 2))
  replicated.take(News.Entry, beginning(2, 1024, 1))
  assert.deepEqual(replicated.leader, { term: 2049, leader: 1, isSelf: false })
  replicated.take(News.Entry, beginning(3, 3072, 1))
  assert.deepEqual(replicated.leader, { term: 3072, leader: 0, isSelf: true })
})
