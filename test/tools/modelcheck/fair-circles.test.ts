import assert from 'node:assert/strict'
import { test } from 'node:test'
import { protocols } from '../../../src/dsm/index.ts'
import { exploreModel, type Model, type ModelAction } from '../../../tools/modelcheck/index.ts'
import { Operation } from '../../../tools/modelcheck/input.ts'

const model: Model = {
  protocol: protocols.get('token')!,
  nodes: 3,
  pages: 1,
  homes: 'same',
  threads: 'one',
  refusals: 0,
}
const { Load, Store, RunReader, RunWriter, Evict } = Operation
const program = (node: number, input: number): ModelAction => ({ do: 'program', node, input })
const deliver = (from: number, to: number): ModelAction => ({ do: 'deliver', from, to })

/**
 * From here, three nodes may come to hold three views of who starves, as long as the end of a persistent request is
 * late; tokens go round meanwhile.
 */
const disagreement: readonly ModelAction[] = [
  program(1, Store),
  program(2, Store),
  deliver(2, 0),
  program(0, Load),
  deliver(0, 2),
  deliver(0, 2),
  program(2, RunWriter),
  program(2, Evict),
  program(2, Store),
  deliver(0, 2),
  deliver(2, 0),
  deliver(0, 2),
  deliver(1, 0),
  deliver(2, 0),
  deliver(2, 0),
  program(0, RunReader),
  program(0, Load),
]

test('tokens may go round for as long as a message is late: as each is delivered some time, that is no livelock', () => {
  const { violation, exhaustive, states } = exploreModel(model, { after: disagreement, quiet: true })
  assert.equal(violation, undefined, violation?.what)
  assert.ok(exhaustive)
  assert.ok(states > 1_000, `${states}`)
})
