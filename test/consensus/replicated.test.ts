import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Group } from '../../src/cluster/index.ts'
import { structured } from '../../src/codecs/index.ts'
import { ENTRY_HEAD_BYTES, News } from '../../src/consensus/agent/agent-contract.ts'
import type { ReplicaProcess } from '../../src/consensus/agent/replica-process.ts'
import { Applier } from '../../src/consensus/machine/applier.ts'
import type { StateParts } from '../../src/consensus/machine/machine.ts'
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

function replicatedOf(machine: Machine, stateParts?: () => StateParts): Replicated<Machine> {
  return new Replicated<Machine>({
    group: { rank: 0, closed: false } as Group,
    name: 'test',
    machine,
    codec: structured,
    answerCodec: undefined,
    sessionMs: 1000,
    cellBytes: 512,
    stateParts,
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

/** A machine whose state is given in parts, and the replica's thread, which notes what it is handed. */
function takingOf(parts: () => Partial<StateParts>): {
  readonly replicated: Replicated<Machine>
  readonly said: string[]
  readonly begun: StateParts[]
} {
  const said: string[] = []
  const begun: StateParts[] = []
  const stateParts = (): StateParts => {
    said.push('begun')
    const state = { next: () => undefined, isGivenUp: false, end: () => said.push('ended'), ...parts() }
    begun.push(state)
    return state
  }
  const replicated = replicatedOf(counter, stateParts)
  let copies = 2
  replicated.attach({
    ...{ expect: () => {}, unexpect: () => {}, leave: async () => {}, close: async () => {}, checked: () => {} },
    status: () => new Promise(() => {}),
    addToSnapshot: async (part: Uint8Array, index: number, isFirst: boolean) => {
      said.push(`${isFirst ? 'first' : 'part'} at ${index}: ${part.length > 2 ** 20}`)
    },
    offerSnapshot: async (index: number) => {
      copies -= 1
      said.push(`offered at ${index}`)
      return copies > 0
    },
  } as unknown as ReplicaProcess)
  return { replicated, said, begun }
}

const want = (replicated: Replicated<Machine>): boolean => replicated.take(News.SnapshotWanted, new Uint8Array())
const turns = async (count: number): Promise<void> => {
  for (let left = count; left > 0; left -= 1) await new Promise(setImmediate)
}

test('a snapshot is handed over in parts while entries are applied, and one that is wanted meanwhile is this one', async () => {
  let left = 3
  const { replicated, said } = takingOf(() => ({ next: () => (left-- > 0 ? [new Uint8Array(2 ** 20)] : undefined) }))
  replicated.take(News.Entry, beginning(1, 1024, 2))
  want(replicated)
  replicated.take(News.Entry, beginning(2, 1025, 2))
  want(replicated)
  await turns(20)
  assert.deepEqual(said, [
    'begun',
    'first at 1: true',
    'part at 1: true',
    'part at 1: true',
    'offered at 1',
    'offered at 1',
  ])
  want(replicated)
  await turns(5)
  assert.deepEqual(said.slice(6), ['begun', 'offered at 2'])
  await replicated.close()
})

test('a snapshot that is given up begins again, at a later entry', async () => {
  const { replicated, said, begun } = takingOf(() => ({ next: () => [new Uint8Array(2 ** 20)] }))
  want(replicated)
  await turns(4)
  assert.equal(said[1], 'first at 0: true')
  replicated.take(News.Entry, beginning(1, 1024, 2))
  Object.assign(begun[0]!, { isGivenUp: true })
  await turns(4)
  assert.ok(said.includes('first at 1: true'))
  Object.assign(begun[1]!, { next: () => undefined })
  await turns(6)
  assert.equal(said.at(-1), 'offered at 1')
  await replicated.close()
})

test('a snapshot that is being taken when its replica is closed is ended', async () => {
  const { replicated, said } = takingOf(() => ({ next: () => [] }))
  want(replicated)
  await turns(3)
  await replicated.close()
  await turns(3)
  assert.deepEqual(said, ['begun', 'ended'])
})

test('a machine that throws in the middle of its state stops its replica', async () => {
  let left = 2
  const broken = new RangeError('there is no more')
  const next = (): Uint8Array[] => {
    if (left-- > 0) return []
    throw broken
  }
  const { replicated } = takingOf(() => ({ next }))
  want(replicated)
  await turns(6)
  assert.equal(replicated.closed, true)
  await assert.rejects(
    replicated.query(() => 0),
    { code: 'ERR_AETHER_CONSENSUS_MACHINE', cause: broken },
  )
})
