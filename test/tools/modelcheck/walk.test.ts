import assert from 'node:assert/strict'
import { test } from 'node:test'
import { protocols } from '../../../src/dsm/index.ts'
import { exploreModel, type Model, walkModel, withCell } from '../../../tools/modelcheck/index.ts'

const token = protocols.get('token')!
const model: Model = { protocol: token, nodes: 3, pages: 1, homes: 'same', threads: 'many', refusals: 1 }

test('the same seed walks the same ways, another seed others; no invariant is broken on them', () => {
  const walks = [7, 7, 8].map((seed) => walkModel(model, { steps: 5_000, seed }))
  const ways = walks.map((walk) => JSON.stringify([...walk.ways]))
  assert.equal(ways[0], ways[1])
  assert.notEqual(ways[0], ways[2])
  assert.deepEqual(
    walks.map(({ violation }) => violation),
    [undefined, undefined, undefined],
  )
})

test('a way to a cell takes it with its last action, and an exploration may begin there', () => {
  const { ways } = walkModel(model, { steps: 5_000 })
  const [cell, way] = [...ways].find(([name]) => name === 'cache IM/AnsweredShort')!
  const before = exploreModel(model, { after: way.slice(0, -1), statesMax: 1 })
  const behind = exploreModel(model, { after: way, statesMax: 1 })
  assert.equal(before.visited.includes(cell), false)
  assert.equal(behind.visited.includes(cell), true)
})

test('a mistake is met on a walk, and behind a way, with a trace from the start', () => {
  const cell = { side: 'cache', state: 'SM', event: 'ForwardModified' } as const
  const protocol = withCell(token, cell, { actions: ['answerAll'], next: 'SM' })
  const { violation } = walkModel({ ...model, protocol }, { steps: 50_000 })
  assert.match(violation!.what, /^tokens: node \d has none of page 0, but goes by bytes/)
  assert.match(violation!.trace, /^ +node 0, home of 0/)

  const way = walkModel(model, { steps: 50_000 }).ways.get('cache SM/ForwardModified')!
  const explored = exploreModel({ ...model, protocol }, { after: way.slice(0, -1), statesMax: 1_000 }).violation
  assert.match(explored!.what, /^tokens|^mirror/)
  assert.ok(explored!.steps >= way.length)
})
