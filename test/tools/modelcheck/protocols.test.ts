import assert from 'node:assert/strict'
import { test } from 'node:test'
import { protocols } from '../../../src/dsm/index.ts'
import { exploreModel, type Model } from '../../../tools/modelcheck/index.ts'

/** What is quick; `npm run modelcheck` goes further. */
const models: readonly Omit<Model, 'protocol'>[] = [
  { nodes: 2, pages: 1, homes: 'same', threads: 'one', refusals: 1 },
  { nodes: 2, pages: 1, homes: 'same', threads: 'many', refusals: 1 },
  { nodes: 3, pages: 1, homes: 'same', threads: 'one', refusals: 0 },
]

/**
 * Token counting has millions of states with three nodes: here it is looked at from near, by `npm run modelcheck` from
 * afar.
 */
const statesMax = 20_000
const isQuick = (name: string, nodes: number): boolean => name !== 'token' || nodes === 2

for (const protocol of protocols.values()) {
  for (const model of models) {
    test(`${protocol.name} holds its invariants: ${model.nodes} nodes, ${model.threads} thread(s)`, () => {
      const { violation, exhaustive, states } = exploreModel(
        { ...model, protocol },
        isQuick(protocol.name, model.nodes) ? {} : { statesMax },
      )
      assert.equal(violation, undefined, `${violation?.what}\n${violation?.trace}`)
      assert.ok(exhaustive || !isQuick(protocol.name, model.nodes), `there are more than ${states} states`)
      assert.ok(states > 300, `only ${states} states were visited`)
    })
  }
}
