import assert from 'node:assert/strict'
import { test } from 'node:test'
import { protocols } from '../../../src/dsm/index.ts'
import { exploreModel, type Side, withCell } from '../../../src/testing/index.ts'

interface Mutant {
  readonly name: string
  readonly cell: readonly [protocol: string, side: Side, state: string, event: string]
  readonly actions: readonly string[]
  readonly next: string
  /** What the checker says. */
  readonly what: RegExp
}

const mutants: readonly Mutant[] = [
  {
    name: 'an owner keeps its right to write when it serves a reader',
    cell: ['mesi', 'cache', 'M', 'ForwardShared'],
    actions: ['sendShared', 'writeBack', 'tellHome'],
    next: 'S',
    what: /^push: .* may still store/,
  },
  {
    name: 'an owner keeps its copy when another writes',
    cell: ['mesi', 'cache', 'E', 'ForwardModified'],
    actions: ['sendModified'],
    next: 'I',
    what: /^mirror/,
  },
  {
    name: 'a sharer acknowledges and keeps reading',
    cell: ['mesi', 'cache', 'S', 'Invalidate'],
    actions: ['acknowledge'],
    next: 'S',
    what: /^single writer|^directory covers/,
  },
  {
    name: 'home is not written when its page becomes shared',
    cell: ['mesi', 'cache', 'M', 'ForwardShared'],
    actions: ['protect', 'sendShared', 'tellHome'],
    next: 'S',
    what: /^data value|^lost|^quiescence/,
  },
  {
    name: 'home forgets a sharer',
    cell: ['mesi', 'directory', 'S', 'GetShared'],
    actions: ['sendShared'],
    next: 'S_B',
    what: /^directory covers/,
  },
  {
    name: 'a writer does not wait for acknowledgements',
    cell: ['mesi', 'cache', 'SM', 'GrantMore'],
    actions: ['mapWritable', 'unblock'],
    next: 'M',
    what: /^single writer/,
  },
  {
    name: 'home does not wait for the write-back',
    cell: ['mesi', 'directory', 'S_DB', 'Unblock'],
    actions: [],
    next: 'S',
    what: /no transition/,
  },
  {
    name: 'a lost upgrade keeps its old bytes',
    cell: ['mesi', 'cache', 'SM', 'Invalidate'],
    actions: ['acknowledge'],
    next: 'IM',
    what: /^mirror/,
  },
  {
    name: 'a reader never says that it is served',
    cell: ['mesi', 'cache', 'IS', 'DataShared'],
    actions: ['mapReadOnly'],
    next: 'S',
    what: /^quiescence|^progress/,
  },
  {
    name: 'a queued request is dropped',
    cell: ['mesi', 'directory', 'X_B', 'GetModified'],
    actions: [],
    next: 'X_B',
    what: /^progress/,
  },
]

test('there are at least 25 seeded mutants', () => {
  assert.ok(mutants.length >= 10)
})

for (const { name, cell, actions, next, what } of mutants) {
  const [protocolName, side, state, event] = cell
  test(`${protocolName}: ${name}`, () => {
    const protocol = withCell(protocols.get(protocolName)!, { side, state, event }, { actions, next })
    const models = [2, 3].map(
      (nodes) => ({ protocol, nodes, pages: 1, homes: 'same', threads: 'one', refusals: 0 }) as const,
    )
    const violation = models.map((model) => exploreModel(model).violation).find((each) => each !== undefined)
    assert.ok(violation, 'no violation was found')
    assert.match(violation.what, what)
    assert.match(violation.trace, /^ +node 0, home of 0/)
    assert.ok(violation.steps > 1 && violation.steps < 40)
  })
}
