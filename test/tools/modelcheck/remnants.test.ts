import assert from 'node:assert/strict'
import { test } from 'node:test'
import { protocols } from '../../../src/dsm/index.ts'
import { exploreModel, type Model } from '../../../tools/modelcheck/index.ts'

for (const protocol of protocols.values()) {
  for (const threads of ['one', 'many'] as const) {
    test(`${protocol.name}: without remnants fewer states are visited, and every cell all the same (2 nodes, ${threads})`, () => {
      const model: Model = { protocol, nodes: 2, pages: 1, homes: 'same', threads, refusals: 1 }
      const [all, without] = [true, false].map((remnants) => exploreModel(model, { remnants }))
      assert.ok(all!.exhaustive && without!.exhaustive)
      assert.ok(without!.states < all!.states, `${without!.states} of ${all!.states}`)
      assert.deepEqual([...without!.visited].sort(), [...all!.visited].sort())
      assert.deepEqual([all!.violation, without!.violation], [undefined, undefined])
    })
  }
}
