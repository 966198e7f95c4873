import assert from 'node:assert/strict'
import { test } from 'node:test'
import { protocols } from '../../../src/dsm/index.ts'
import { comparePlays, exploreModel, recordPlays } from '../../../tools/modelcheck/index.ts'
import { protocolPage } from '../../../tools/protocol-pages/index.ts'

const protocol = protocols.get('single')!

for (const nodes of [2, 3]) {
  test(`every interleaving of ${nodes} nodes holds the invariants`, () => {
    const model = { protocol, nodes, pages: 1, homes: 'same', threads: 'many', refusals: 1 } as const
    const { violation, exhaustive } = exploreModel(model)
    assert.equal(violation, undefined, `${violation?.what}\n${violation?.trace}`)
    assert.ok(exhaustive)
  })
}

test('each cell is reached by a play, and the page shows it', () => {
  const { plays, missing } = recordPlays(protocol)
  assert.deepEqual(missing, [])
  assert.deepEqual(comparePlays(protocol, plays), { differences: [], unplayed: [] })
  assert.match(protocolPage(protocol), /^\| +\| ForwardModified \| unmap, sendModified \| `I` \|$/m)
})
