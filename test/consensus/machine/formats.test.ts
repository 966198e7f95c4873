import assert from 'node:assert/strict'
import { test } from 'node:test'
import { restoreSnapshot, takeSnapshot } from '../../../src/consensus/machine/snapshot.ts'
import { applyCommand, applyNext, journalApplier } from './journal.ts'

/** A replica of a release that knows formats up to `known`; `used`: those that came into force there. */
function replicaOf(known?: number) {
  const used: number[] = []
  const inForce = (format: number): void => void used.push(format)
  const formats = known === undefined ? undefined : { known, common: () => known, inForce }
  return { ...journalApplier({ formats }), used }
}

test('a format is in force from its entry on, and never goes back', () => {
  const { applier, used } = replicaOf(3)
  assert.equal(applier.format, 1)
  for (const format of [2, 2, 1, 3]) applyNext(applier, (writer) => writer.format(format))
  assert.deepEqual([used, applier.format], [[2, 3], 3])
})

test('a replica whose release does not know the format applies nothing from its entry on, and is told what to do', () => {
  for (const { applier, journal } of [replicaOf(), replicaOf(2)]) {
    const raise = () =>
      applyNext(applier, (writer) => {
        writer.format(3)
        writer.command({ session: 1, sequence: 1, acknowledged: 0 }, Buffer.from('{"text":"after"}'))
      })
    assert.throws(raise, { code: 'ERR_AETHER_CONSENSUS_FORMAT', message: /uses format 3 .* install the release/ })
    assert.deepEqual(journal.lines, [])
    assert.throws(raise, { code: 'ERR_AETHER_DEFECT' })
  }
})

test('a snapshot has the format, and one of the first format is as releases before it wrote them', () => {
  const before = replicaOf(2)
  applyCommand(before.applier, { session: 1, sequence: 1 })
  restoreSnapshot(replicaOf().applier, takeSnapshot(before.applier))
  applyNext(before.applier, (writer) => writer.format(2))
  const chunks = takeSnapshot(before.applier)
  const after = replicaOf(3)
  restoreSnapshot(after.applier, chunks)
  assert.deepEqual([after.used, after.applier.format, after.journal.lines.length], [[2], 2, 1])
  const old = replicaOf(1)
  assert.throws(() => restoreSnapshot(old.applier, chunks), { code: 'ERR_AETHER_CONSENSUS_FORMAT' })
  assert.deepEqual([old.applier.index, old.journal.lines, old.used], [0, [], []])
})
