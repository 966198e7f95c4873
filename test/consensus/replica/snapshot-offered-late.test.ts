import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { foundingConfiguration } from '../../../src/consensus/index.ts'
import type { Journal, SnapshotHead } from '../../../src/consensus/replica/journal.ts'
import { Replica } from '../../../src/consensus/replica/replica.ts'
import { defaultSettings } from '../../../src/consensus/replica/settings.ts'
import { Random, Timers } from '../../../src/runtime/index.ts'

const TURNS_MAX = 10_000
const TURN_NS = 1_000_000

/** A disk that has everything as soon as it is asked. */
class QuickJournal implements Journal {
  readonly heads: SnapshotHead[] = []
  records = 0

  promise(): void {
    this.records += 1
  }

  append(): void {
    this.records += 1
  }

  snapshot(head: SnapshotHead): void {
    this.records += 1
    this.heads.push(head)
  }

  flush(): void {
    return
  }
}

test('a snapshot has the term that its last entry was of, though another has begun before it is offered', () => {
  const journal = new QuickJournal()
  const timers = new Timers()
  let nowNs = 0
  let isResponsive = true
  const replica = new Replica({
    ...{ device: 'shm0', id: 1, protocol: 'velos', votersWanted: 1, clockMs: () => 0 },
    settings: { ...defaultSettings, journalBytes: 1 },
    founding: foundingConfiguration([1]),
    durability: { journal, recovered: { promise: 0, decided: 0, snapshot: undefined, entries: [] } },
    runtime: { now: () => nowNs, timers, random: new Random(1) },
    events: {
      decided: () => undefined,
      say: () => undefined,
      proposeAgain: () => undefined,
      snapshotWanted: () => undefined,
      restore: () => undefined,
      readable: () => undefined,
      isResponsive: () => isResponsive,
      deviates: () => undefined,
      mayTake: () => true,
    },
  })
  const until = (isSo: () => boolean): void => {
    for (let turn = 0; turn < TURNS_MAX; turn += 1) {
      if (isSo()) return
      nowNs += TURN_NS
      timers.runDue(nowNs)
      while (replica.turn());
      replica.synced(journal.records)
    }
    assert.fail('it does not come to that')
  }
  until(() => replica.isLeader)
  const before = replica.taken
  replica.propose(new Uint8Array(8))
  until(() => replica.taken > before)
  const { taken: index, term, configuration } = replica
  replica.addToSnapshot(new Uint8Array(8), index, true)
  isResponsive = false
  until(() => !replica.isLeader)
  isResponsive = true
  until(() => replica.isLeader && replica.term > term)
  while (replica.offerSnapshot(index, new Uint8Array(8)));
  assert.deepEqual(journal.heads, [{ index, term, configuration }])
  replica.close()
})
