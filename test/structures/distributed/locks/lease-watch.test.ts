import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LeaseWatch } from '../../../../src/structures/distributed/locks/lease-watch.ts'

const LEASE_MS = 1000

/** Looks at a word, and whether its lease is over then. */
type Look = readonly [word: bigint, nowMs: number, isOver: boolean]

const tables: Readonly<Record<string, readonly Look[]>> = {
  'the same word for a lease and a tenth more': [
    [1n, 0, false],
    [1n, 1000, false],
    [1n, 1100, false],
    [1n, 1101, true],
    [1n, 5000, true],
  ],
  'a clock that begins late': [
    [1n, 70_000, false],
    [1n, 71_100, false],
    [1n, 71_101, true],
  ],
  'a word that is renewed': [
    [1n, 0, false],
    [2n, 1101, false],
    [2n, 2201, false],
    [2n, 2202, true],
    [3n, 2203, false],
  ],
  'a word that comes again after another': [
    [1n, 0, false],
    [2n, 600, false],
    [1n, 1200, false],
    [1n, 2301, true],
  ],
  'looks so far apart that the renewals may have come round': [
    [1n, 0, false],
    [1n, 999_999, true],
    [1n, 1_999_999, false],
    [1n, 2_001_099, false],
    [1n, 2_001_100, true],
  ],
}

for (const [what, looks] of Object.entries(tables))
  test(`the lease is over or not: ${what}`, () => {
    const watch = new LeaseWatch(LEASE_MS)
    assert.equal(watch.isOver, false)
    for (const [word, nowMs, isOver] of looks) {
      watch.look(word, nowMs)
      assert.equal(watch.isOver, isOver, `${word} at ${nowMs} ms`)
    }
  })
