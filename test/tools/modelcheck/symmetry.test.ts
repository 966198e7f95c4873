import assert from 'node:assert/strict'
import { test } from 'node:test'
import { protocols } from '../../../src/dsm/index.ts'
import { exploreModel, type Model } from '../../../tools/modelcheck/index.ts'
import { symmetriesOf } from '../../../tools/modelcheck/symmetry.ts'

const mesi = protocols.get('mesi')!
const model: Model = { protocol: mesi, nodes: 3, pages: 1, homes: 'same', threads: 'one', refusals: 0 }

test('homes stay homes: nodes that are home of nothing change places, pages with them', () => {
  assert.equal(symmetriesOf({ ...model, nodes: 2 }).length, 0)
  assert.deepEqual(symmetriesOf(model), [{ nodes: [0, 2, 1], pages: [0] }])
  assert.equal(symmetriesOf({ ...model, pages: 2 }).length, 3)
  assert.deepEqual(symmetriesOf({ ...model, pages: 2, homes: 'spread' }), [{ nodes: [1, 0, 2], pages: [1, 0] }])
})

test('a reduced exploration sees every state, up to names: no fewer than half, no more than all', () => {
  const whole = exploreModel(model, { symmetry: false })
  const reduced = exploreModel(model)
  assert.deepEqual([whole.symmetry, reduced.symmetry], [1, 2])
  assert.ok(
    reduced.states >= whole.states / 2 && reduced.states < whole.states * 0.6,
    `${reduced.states} of ${whole.states}`,
  )
  assert.equal(reduced.depth, whole.depth)
  assert.deepEqual([...reduced.visited].sort(), [...whole.visited].sort())
})
