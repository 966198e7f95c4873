import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { structured } from '../../../src/codecs/index.ts'
import { Applier } from '../../../src/consensus/machine/applier.ts'
import type { ReplicatedMachine, StateParts } from '../../../src/consensus/machine/machine.ts'
import { packChunks, restoreSnapshot, takeSnapshot, unpackChunks } from '../../../src/consensus/machine/snapshot.ts'
import { SnapshotTaking } from '../../../src/consensus/machine/snapshot-taking.ts'

const chunk = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value)

/** A machine whose state is those chunks. */
function applierOf(chunks: readonly Uint8Array[]): Applier<unknown, unknown> {
  const machine: ReplicatedMachine<unknown, unknown> = {
    apply: () => 0,
    snapshot: () => chunks,
    restore: (given) => {
      restored = given.map((each) => Uint8Array.from(each))
    },
  }
  return new Applier({ machine, codec: structured, sessionMs: 1000, onAnswer: () => {} })
}
let restored: readonly Uint8Array[] = []

/** All of its parts, and how often there was none yet. */
function all(taking: SnapshotTaking<unknown, unknown>): { readonly parts: Uint8Array[]; readonly later: number } {
  const parts: Uint8Array[] = []
  let later = 0
  for (let part = taking.next(); part !== undefined; part = taking.next()) {
    if (part === 'later') later += 1
    else parts.push(part)
  }
  return { parts: [taking.first, ...parts], later }
}

for (const [what, chunks] of [
  ['nothing', []],
  ['empty chunks', [chunk(0, 1), chunk(0, 1)]],
  ['a few bytes', [chunk(7, 1), chunk(0, 2), chunk(100, 3)]],
  ['several parts', Array.from({ length: 70 }, (_, at) => chunk(65_536, at))],
  ['long chunks', [chunk(3_000_000, 1), chunk(5, 2), chunk(2_000_000, 3)]],
] as const)
  test(`parts of a snapshot are those of one that is taken at once: ${what}`, () => {
    const applier = applierOf(chunks)
    const { parts } = all(new SnapshotTaking(applier, undefined))
    assert.ok(Buffer.concat(parts).equals(packChunks(takeSnapshot(applier))))
    restoreSnapshot(applierOf([]), unpackChunks(Buffer.concat(parts)))
    assert.deepEqual(restored, chunks)
    // None is much longer than a chunk and a MiB.
    const longest = Math.max(0, ...chunks.map(({ length }) => length))
    for (const { length } of parts) assert.ok(length <= longest + 2 ** 20 + 1024, `${length} bytes in a part`)
  })

test('a machine that gives its state in parts is asked for one at a time', () => {
  const given = [[chunk(5, 1)], [], [chunk(700_000, 2), chunk(700_000, 3)], [chunk(1, 4)]]
  let [asked, ends] = [0, 0]
  const state: StateParts = {
    next: () => given[asked++],
    isGivenUp: false,
    end: () => {
      ends += 1
    },
  }
  const applier = applierOf([])
  const taking = new SnapshotTaking(applier, () => state)
  assert.equal(asked, 0)
  assert.deepEqual([taking.next(), taking.next()], ['later', 'later'])
  assert.equal(asked, 2)
  const { parts, later } = all(taking)
  assert.deepEqual([parts.length, later], [3, 1])
  restoreSnapshot(applierOf([]), unpackChunks(Buffer.concat(parts)))
  assert.deepEqual(restored, given.flat())
  taking.end()
  assert.equal(ends, 1)
})
