/**
 * The record of what each cell of the tables does: that it is current, that it reaches every cell, and that no change
 * of a cell escapes it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { protocols } from '../../../src/dsm/index.ts'
import {
  cellText,
  comparePlays,
  flipsOf,
  formatPlays,
  type Play,
  parsePlays,
  recordedPlays,
  recordPlays,
  withCell,
} from '../../../tools/modelcheck/index.ts'
import { drawn } from '../../support/drawn.ts'

/** `npm run modelcheck -- --flips` looks at all of them. */
const EVERY = 13

const recordOf = (name: string): readonly Play[] => recordedPlays(name)!
const mesi = protocols.get('mesi')!

for (const [name, protocol] of protocols) {
  test(`${name}: every cell has a play, and each ends as recorded`, () => {
    assert.deepEqual(comparePlays(protocol, recordOf(name)), { differences: [], unplayed: [] })
  })
}

for (const name of drawn([...protocols.keys()], 1)) {
  const protocol = protocols.get(name)!
  test(`${name}: recording once more changes nothing`, () => {
    assert.equal(formatPlays(recordPlays(protocol, recordOf(name)).plays), formatPlays(recordOf(name)))
  })

  test(`${name}: any cell flipped ends one of its plays otherwise (every ${EVERY}th)`, () => {
    const flips = flipsOf(protocol).filter((_, index) => index % EVERY === 3)
    const unnoticed = flips.filter(({ cell, protocol: flipped }) => {
      const { differences } = comparePlays(flipped, recordOf(name), (cells) => cells.includes(cellText(cell)))
      return differences.length === 0
    })
    assert.deepEqual(
      unnoticed.map(({ name: flip }) => flip),
      [],
    )
    assert.ok(flips.length > 50)
  })
}

test('what a cell does otherwise is told with a way to it, what was recorded and what comes of it now', () => {
  const cell = { side: 'cache', state: 'S', event: 'Invalidate' } as const
  const { differences } = comparePlays(withCell(mesi, cell, { actions: ['unmap'], next: 'I' }), recordOf('mesi'))
  const [first] = differences
  assert.equal(first!.cell, 'cache S/Invalidate')
  assert.ok(first!.steps < 20)
  assert.ok(first!.recorded.includes('cache S/Invalidate -> I: unmap, acknowledge'))
  assert.ok(first!.now.includes('cache S/Invalidate -> I: unmap'))
  assert.match(first!.trace, /^ +node 0, home of 0 +node 1/)
  assert.match(first!.trace, /copy 0: S -> I/)
  // Others are cut off behind it.
  assert.deepEqual([first!.isCutOff, differences.at(-1)!.isCutOff], [false, true])
})

test('an action that has no place in a cell is told, even where nothing comes of it', () => {
  const cell = { side: 'directory', state: 'U', event: 'GetShared' } as const
  const idle = withCell(mesi, cell, { actions: ['clearOwner', 'setOwner', 'sendExclusive'], next: 'X_B' })
  const { differences } = comparePlays(idle, recordOf('mesi'))
  assert.ok(differences.every(({ cell: told }) => told === 'directory U/GetShared'))
  assert.ok(differences.length > 0)
})

test('a cell without a play is told', () => {
  const plays = recordOf('mesi').filter(
    ({ outcome }) => !outcome.some((line) => line.startsWith('cache S/Invalidate ')),
  )
  assert.ok(comparePlays(mesi, plays).unplayed.includes('cache S/Invalidate'))
})

test('plays are read as they are written, and what is none is refused', () => {
  const plays = recordOf('token')
  const text = formatPlays(plays)
  assert.deepEqual(parsePlays(text), plays)
  assert.ok(text.split('\n').every((line) => line.length <= 120))
  assert.throws(() => parsePlays('2 nodes: 1 dance'), /'1 dance' is nothing that can happen/)
  assert.throws(() => parsePlays('cache I/Load'), /does not begin a play/)
})
