import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { SpaceSaving } from '../../../src/dsm/coherent/space-saving.ts'

const streams = fc.oneof(
  fc.array(fc.nat(40), { maxLength: 600 }),
  // Few that come often among many that come once.
  fc.array(fc.oneof(fc.nat(4), fc.nat(100_000)), { maxLength: 600 }),
)

function played(stream: readonly number[], countersMax: number): { ranking: SpaceSaving; real: Map<number, number> } {
  const ranking = new SpaceSaving(countersMax)
  const real = new Map<number, number>()
  for (const key of stream) {
    ranking.add(key)
    real.set(key, (real.get(key) ?? 0) + 1)
  }
  return { ranking, real }
}

describe('a ranking in bounded memory', () => {
  test('counts nothing too low, too high by its error at most, and that is a K-th of all at most', () => {
    fc.assert(
      fc.property(streams, fc.integer({ min: 1, max: 20 }), (stream, countersMax) => {
        const { ranking, real } = played(stream, countersMax)
        const all = ranking.top(Number.POSITIVE_INFINITY)
        assert.ok(all.length <= countersMax)
        for (const { key, count, error } of all) {
          const truth = real.get(key) ?? 0
          assert.ok(count - error <= truth && truth <= count, `${key}: ${truth} is not in ${count - error} to ${count}`)
          assert.ok(error <= stream.length / countersMax)
        }
        // Theorem: the counts add up to all that came.
        assert.equal(
          all.reduce((sum, { count }) => sum + count, 0),
          stream.length,
        )
      }),
    )
  })

  test('misses no key that came more often than a K-th of all', () => {
    fc.assert(
      fc.property(streams, fc.integer({ min: 1, max: 20 }), (stream, countersMax) => {
        const { ranking, real } = played(stream, countersMax)
        for (const [key, count] of real)
          if (count > stream.length / countersMax)
            assert.ok(ranking.get(key) !== undefined, `${key} came ${count} times`)
      }),
    )
  })

  test('is exact while there are counters for all', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9), { maxLength: 200 }), (stream) => {
        const { ranking, real } = played(stream, 10)
        const wanted = [...real].map(([key, count]) => ({ key, count, error: 0 }))
        assert.deepEqual(ranking.top(3), wanted.sort((a, b) => b.count - a.count || a.key - b.key).slice(0, 3))
      }),
    )
  })
})
