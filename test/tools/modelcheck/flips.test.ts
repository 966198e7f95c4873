import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Protocol, protocols } from '../../../src/dsm/index.ts'
import {
  cellText,
  checkFlips,
  type ExploreResult,
  equivalentFlips,
  exploreModel,
  type Flip,
  flipsOf,
  type Model,
  type ModelAction,
  walkModel,
  whyEquivalent,
} from '../../../tools/modelcheck/index.ts'
import { drawn } from '../../support/drawn.ts'

/** All of them are many minutes (`npm run modelcheck -- --flips --far`); every so-manieth is a test. */
const EVERY = 97

const flipsByProtocol = new Map<Protocol, readonly Flip[]>()

/** Made once of each protocol: they are many. */
function liveFlips(protocol: Protocol): readonly Flip[] {
  const made = flipsByProtocol.get(protocol) ?? flipsOf(protocol).filter(({ cell }) => cell.event !== 'Refused')
  flipsByProtocol.set(protocol, made)
  return made
}

function explore(protocol: Protocol, nodes: number): ExploreResult {
  const threads = nodes === 2 ? 'many' : 'one'
  return exploreModel({ protocol, nodes, pages: 1, homes: 'same', threads, refusals: 1 }, { statesMax: 400_000 })
}

/** A violation, or other cells that nothing leads to any more. */
function isNoticed(flip: Flip, nodes: number, visited: readonly string[]): boolean {
  if (!visited.includes(cellText(flip.cell))) return false
  const result = explore(flip.protocol, nodes)
  const dead = result.unvisited.filter((cell) => visited.includes(cell) && cell !== cellText(flip.cell))
  return result.violation !== undefined || dead.length > 0
}

const threeNodes: Omit<Model, 'protocol'> = { nodes: 3, pages: 1, homes: 'same', threads: 'many', refusals: 2 }

/** A violation in what is sure to happen behind a way to the cell, or close behind it whatever happens. */
function isNoticedBehind(flip: Flip, way: readonly ModelAction[] | undefined): boolean {
  if (way === undefined) return false
  const model: Model = { ...threeNodes, protocol: flip.protocol }
  return [
    { quiet: true, after: way, statesMax: 20_000 },
    { after: way.slice(0, -1), statesMax: 10_000 },
  ].some((options) => exploreModel(model, options).violation !== undefined)
}

/** Those whose unnoticed flips have all been explained. */
const swept = [...new Set(equivalentFlips.flatMap(({ of }) => of))]

for (const name of drawn(swept, 1)) {
  const protocol = protocols.get(name)!
  test(`${name}: a mistake in any one cell is noticed, or known to change nothing (every ${EVERY}th)`, () => {
    const { visited } = explore(protocol, 2)
    // Some cells need longer: these are left to the command.
    const { ways } = walkModel({ ...threeNodes, protocol }, { steps: 60_000 })
    const sample = liveFlips(protocol)
      .filter((_, index) => index % EVERY === 7)
      .filter(({ cell }) => visited.includes(cellText(cell)) || ways.has(cellText(cell)))
    const left = sample
      .filter(({ name }) => whyEquivalent(protocol.name, name) === undefined)
      .filter((flip) => !isNoticed(flip, 2, visited) && !isNoticedBehind(flip, ways.get(cellText(flip.cell))))
    // Three nodes that count tokens have too many states to look at all of them.
    const whole = protocol.tokens === undefined && left.length > 0 ? explore(protocol, 3).visited : []
    const unnoticed = left.filter((flip) => !isNoticed(flip, 3, whole))
    assert.deepEqual(
      unnoticed.map(({ name }) => name),
      [],
    )
    assert.ok(sample.length >= 8)
  })
}

/** Those whose example is explored, which takes long. */
const explored = drawn(
  equivalentFlips.map((_, index) => index),
  1,
)
for (const [index, { of, flips, why }] of equivalentFlips.entries()) {
  test(`explained: ${flips.source}`, () => {
    assert.ok(why.length > 10)
    for (const name of of) {
      const matching = liveFlips(protocols.get(name)!).filter((flip) => flips.test(flip.name))
      assert.ok(matching.length > 0, `no flip of ${name} matches`)
      if (name === of.at(-1) && explored.includes(index))
        assert.equal(explore(matching.at(-1)!.protocol, 2).violation, undefined)
    }
  })
}

test('a flip differs from its protocol in one cell only', () => {
  const protocol = protocols.get('mesi')!
  const flips = flipsOf(protocol)
  assert.equal(new Set(flips.map(({ name }) => name)).size, flips.length)
  for (const flip of flips.slice(0, 50)) {
    const { side, state, event } = flip.cell
    const restored = structuredClone(flip.protocol) as unknown as Record<
      string,
      { states: Record<string, { on: object }> }
    >
    const original = protocol[side].states[state]!.on as Readonly<Record<string, unknown>>
    assert.notDeepEqual(restored, protocol)
    Object.assign(restored[side]!.states[state]!.on, { [event]: original[event] })
    assert.deepEqual(restored, protocol)
  }
})

test('a flip is put down to what notices it first; where no invariant does, the record does', async () => {
  const only = (...cells: readonly string[]) => ({
    threads: 1,
    only: ({ name }: Flip) => cells.some((cell) => name.startsWith(cell)),
  })
  const near = await checkFlips(
    protocols.get('mesi')!,
    only('cache S/Invalidate without', 'directory X_B/Unblock -> X_P'),
  )
  assert.deepEqual([near.flips, near.beyond, near.found.safety + near.found.progress, near.recordOnly], [3, 0, 3, []])

  const idle = await checkFlips(protocols.get('mesi')!, only('cache I/Evict -> IS', 'directory U/PutStale'))
  const { safety, progress, dead, deeds, words } = idle.found
  assert.deepEqual([safety, progress, dead, words, idle.unnoticed], [0, 0, 0, 1, []])
  assert.equal(deeds, idle.flips - words)
  assert.equal(idle.beyond, idle.flips - words)
  assert.match(idle.recordOnly.find(({ net }) => net === 'words')!.why!, /^The copy is forgotten/)
})
