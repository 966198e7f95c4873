import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mesi, type Protocol, protocols } from '../../../src/dsm/index.ts'
import { exploreCoherence } from '../../../src/testing/coherence-explorer.ts'

/** The protocol with one cell of a table replaced. */
function mutate(
  side: 'cache' | 'directory',
  state: string,
  event: string,
  actions: readonly string[],
  next: string,
): Protocol {
  const copy = structuredClone(mesi) as unknown as Record<
    'cache' | 'directory',
    { states: Record<string, { on: Record<string, unknown> }> }
  >
  const row = copy[side].states[state]
  assert.ok(row?.on[event], `${side} ${state} ${event} is not in the table`)
  row.on[event] = { actions, next }
  return copy as unknown as Protocol
}

for (const protocol of protocols.values()) {
  describe(`${protocol.name}, explored`, () => {
    for (const nodes of [2, 3]) {
      it(`holds its invariants for ${nodes} nodes and one page in every interleaving`, () => {
        const { violation, states, transitions, depth } = exploreCoherence({ protocol, nodes })
        assert.equal(violation, undefined, JSON.stringify(violation, null, 1))
        assert.ok(states > 50, `only ${states} states were visited`)
        console.log(`${protocol.name}, ${nodes} nodes: ${states} states, ${transitions} transitions, depth ${depth}`)
      })
    }
  })
}

describe('a mesi with a mistake is found out', () => {
  const mistakes: ReadonlyArray<[string, Protocol, RegExp]> = [
    [
      'an owner keeps its right to write when it serves a reader',
      mutate('cache', 'M', 'ForwardShared', ['sendShared', 'writeBack', 'tellHome'], 'S'),
      /single writer|mirror/,
    ],
    [
      'an owner keeps its copy when another writes',
      mutate('cache', 'M', 'ForwardModified', ['sendModified'], 'I'),
      /single writer|mirror|data value/,
    ],
    [
      'a sharer acknowledges and keeps reading',
      mutate('cache', 'S', 'Invalidate', ['acknowledge'], 'I'),
      /single writer|data value/,
    ],
    [
      'home is not written when its page becomes shared',
      mutate('cache', 'M', 'ForwardShared', ['protect', 'sendShared', 'tellHome'], 'S'),
      /data value/,
    ],
    [
      'home forgets a sharer',
      mutate('directory', 'S', 'GetShared', ['sendShared'], 'S_B'),
      /single writer|data value|no transition/,
    ],
    [
      'a writer does not wait for acknowledgements',
      mutate('cache', 'IM', 'GrantMore', ['mapWritable', 'unblock'], 'M'),
      /single writer|no transition/,
    ],
    [
      'home does not wait for the write-back',
      mutate('directory', 'S_DB', 'Unblock', [], 'S'),
      /data value|no transition/,
    ],
    [
      'a lost upgrade keeps its old bytes',
      mutate('cache', 'SM', 'Invalidate', ['acknowledge'], 'IM'),
      /single writer|data value|no transition/,
    ],
    [
      'a reader never says that it is served',
      mutate('cache', 'IS', 'DataShared', ['mapReadOnly'], 'S'),
      /progress|quiescence/,
    ],
    ['a queued request is dropped', mutate('directory', 'X_B', 'GetModified', [], 'X_B'), /progress|quiescence/],
  ]
  for (const [name, protocol, what] of mistakes) {
    it(name, () => {
      const { violation } = exploreCoherence({ protocol, nodes: 3 })
      assert.ok(violation, 'no violation was found')
      assert.match(violation.what, what)
      assert.ok(violation.trace.length > 0)
    })
  }
})
