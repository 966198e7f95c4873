import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Group } from '../../src/cluster/index.ts'
import { structured } from '../../src/codecs/index.ts'
import { ENTRY_HEAD_BYTES, News } from '../../src/consensus/agent/agent-contract.ts'
import type { ReplicaProcess } from '../../src/consensus/agent/replica-process.ts'
import { Applier } from '../../src/consensus/machine/applier.ts'
import { RecordWriter } from '../../src/consensus/machine/records.ts'
import { packChunks, takeSnapshot } from '../../src/consensus/machine/snapshot.ts'
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

interface Machine {
  apply(command: unknown): number
  snapshot(): Iterable<Uint8Array>
  restore(chunks: readonly Uint8Array[]): void
}

const counter: Machine = { apply: () => 0, snapshot: () => [], restore: () => {} }

function replicatedOf(machine: Machine): Replicated<Machine> {
  return new Replicated<Machine>({
    group: { rank: 0, closed: false } as Group,
    name: 'test',
    machine,
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
}

test('the term of the leader never goes back, though an adopted first entry may be of a lower one', () => {
  const replicated = replicatedOf(counter)
  const beforeAttached = replicated.take(News.Entry, beginning(1, 2049, 2))
  assert.equal(beforeAttached, false, 'what comes too early is kept')
  replicated.attach({ status: () => new Promise(() => {}) } as unknown as ReplicaProcess)
  replicated.take(News.Entry, beginning(1, 2049, 2))
  replicated.take(News.Entry, beginning(2, 1024, 1))
  assert.deepEqual(replicated.leader, { term: 2049, leader: 1, isSelf: false })
  replicated.take(News.Entry, beginning(3, 3072, 1))
  assert.deepEqual(replicated.leader, { term: 3072, leader: 0, isSelf: true })
})

for (const [what, kind] of [
  ['snapshot', News.SnapshotWanted],
  ['restore', News.Restore],
] as const)
  test(`a machine whose ${what}() throws stops its replica, and its callers are told`, async () => {
    const broken = new RangeError('there is no state')
    const replicated = replicatedOf({
      ...counter,
      [what]: () => {
        throw broken
      },
    })
    const bytes = packChunks(
      takeSnapshot(new Applier({ machine: counter, codec: structured, sessionMs: 1000, onAnswer: () => {} })),
    )
    const restore = { number: 1, index: 0, term: 1, leader: 1, configuration: { number: 1, voters: [] }, bytes }
    let isOffered = false
    replicated.attach({
      ...{
        expect: () => {},
        unexpect: () => {},
        pass: () => undefined,
        propose: () => {},
        leave: async () => {},
        close: async () => {},
      },
      takeRestore: () => restore,
      offerSnapshot: () => {
        isOffered = true
      },
    } as unknown as ReplicaProcess)
    const pending = replicated.propose('anything')
    assert.equal(replicated.take(kind, new Uint8Array(Float64Array.of(1).buffer)), true)
    const isToldWhy = { code: 'ERR_AETHER_CONSENSUS_MACHINE', cause: broken, message: /there is no state; mend it/ }
    await assert.rejects(pending, { ...isToldWhy, outcome: 'not-applied' })
    await assert.rejects(
      replicated.query(() => 0),
      isToldWhy,
    )
    assert.equal(isOffered, false)
  })
