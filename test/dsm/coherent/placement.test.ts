import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { evaluatePlacement, homeFunction, NO_HOME } from '../../../src/dsm/coherent/placement.ts'
import { checkPlacement, type Placement } from '../../../src/dsm/placement.ts'

function homes(placement: Placement, pages: number, ranks: number): number[] {
  const homeOf = homeFunction(evaluatePlacement(placement, pages, ranks), pages, ranks)
  return Array.from({ length: pages }, (_, page) => homeOf(page))
}

const pagesAndRanks = [fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 64 })] as const

test('every page has one home among the ranks: contiguous and even by block, in turn when cyclic', () => {
  fc.assert(
    fc.property(...pagesAndRanks, (pages, ranks) => {
      const [block, cyclic] = [homes('block', pages, ranks), homes('cyclic', pages, ranks)]
      assert.deepEqual(
        block,
        block.slice().sort((a, b) => a - b),
      )
      for (const each of [block, cyclic]) {
        assert.ok(each.every((home) => Number.isInteger(home) && home >= 0 && home < ranks))
        const counts = Array.from({ length: ranks }, (_, rank) => each.filter((home) => home === rank).length)
        assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, counts.join())
      }
    }),
    { numRuns: 50 },
  )
})

test('runs of pages are dealt out in turn; runs of one are cyclic', () => {
  assert.deepEqual(homes({ blockCyclic: 2 }, 9, 3), [0, 0, 1, 1, 2, 2, 0, 0, 1])
  fc.assert(
    fc.property(...pagesAndRanks, (pages, ranks) =>
      assert.deepEqual(homes({ blockCyclic: 1 }, pages, ranks), homes('cyclic', pages, ranks)),
    ),
    { numRuns: 20 },
  )
})

test('what a program says for each page is taken, from an array as from a function, and is the same agreement', () => {
  const said = [2, 0, 0, 1]
  assert.deepEqual(homes(said, 4, 3), said)
  assert.deepEqual(
    homes((page, ranks) => (page * page) % ranks, 5, 3),
    [0, 1, 1, 0, 1],
  )
  const agreement = (placement: Placement): string => JSON.stringify(evaluatePlacement(placement, 4, 3).agreed)
  assert.equal(
    agreement(said),
    agreement((page) => said[page]!),
  )
  assert.notEqual(agreement(said), agreement([2, 0, 1, 1]))
  assert.ok(agreement(said).length < 200)
})

test('nobody knows the home of a page before it is touched, where that decides', () => {
  assert.deepEqual(homes('first-touch', 3, 2), [NO_HOME, NO_HOME, NO_HOME])
})

test('what is no placement is an argument error that says what is', () => {
  const wrong = { code: 'ERR_AETHER_INVALID_ARGUMENT' }
  for (const placement of ['scattered', 7, null, {}, { blockCyclic: 0 }, { blockCyclic: 1.5 }, { blockCyclic: '2' }])
    assert.throws(() => checkPlacement(placement), wrong, JSON.stringify(placement))
  for (const said of [[0], [0, 1, 2, 0], [0, 1, 3], [0, -1, 1], [0, 0.5, 1], [0, Number.NaN, 0]])
    assert.throws(() => evaluatePlacement(said, 3, 3), wrong, JSON.stringify(said))
  assert.throws(() => evaluatePlacement((page) => page, 4, 3), {
    ...wrong,
    message: /a rank from 0 to 2 for page 3, not 3/,
  })
})
