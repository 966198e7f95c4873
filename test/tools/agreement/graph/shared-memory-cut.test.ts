import assert from 'node:assert/strict'
import { test } from 'node:test'
import { representedBy, type SharedMemoryCut, sharedMemoryCut } from '../../../../tools/agreement/graph/expansion.ts'
import { graphNamed, graphShapes, type Neighbours } from '../../../../tools/agreement/graph/graphs.ts'
import { hbo } from '../../../../tools/agreement/graph/hbo.ts'
import { violationOf } from '../../../../tools/agreement/play/judge.ts'
import { possible } from '../../../../tools/agreement/play/timely.ts'
import { AgreementWorld } from '../../../../tools/agreement/play/world.ts'

/** The least number of crashes with an SM-cut, and the cut. */
function firstCut(neighbours: Neighbours): SharedMemoryCut | undefined {
  for (let crashes = 0; crashes < neighbours.length; crashes += 1) {
    const cut = sharedMemoryCut(neighbours, crashes)
    if (cut !== undefined) return cut
  }
  return undefined
}

/** The sides of a cut take steps, with messages between processes of one side only. All others are slow. */
function playApart(neighbours: Neighbours, { one, other }: SharedMemoryCut, quorum?: number): AgreementWorld {
  const { length } = neighbours
  const setting = { processes: length, memories: length, neighbours, ...(quorum === undefined ? {} : { quorum }) }
  const inputs = neighbours.map((_, process) => (one.includes(process) ? '0' : '1'))
  const world = new AgreementWorld({ algorithm: hbo, setting, inputs })
  const sideOf = (process: number): number => [one, other].findIndex((side) => side.includes(process))
  for (;;) {
    const action = possible(world).find((each) => {
      if (each.do !== 'deliver') return sideOf((each as { readonly process: number }).process) >= 0
      const { from, to } = world.messages[each.message]!
      return sideOf(from) >= 0 && sideOf(from) === sideOf(to)
    })
    if (action === undefined) return world
    world.perform(action)
  }
}

const graphs = [
  ...[2, 3, 4, 5].flatMap((processes) => graphShapes(processes)),
  ...(['none', 'ring', 'hypercube', 'random-3', 'margulis'] as const).map((name) => graphNamed(name, 16)),
]

test('on every graph with an SM-cut: if each side were a quorum, they would decide differently', () => {
  let cuts = 0
  for (const neighbours of graphs) {
    const cut = firstCut(neighbours)
    if (cut === undefined) continue
    cuts += 1
    const quorum = Math.min(...[cut.one, cut.other].map((side) => representedBy(neighbours, side).length))
    const world = playApart(neighbours, cut, quorum)
    for (const process of cut.one) assert.deepEqual(world.decisions[process], ['0'])
    for (const process of cut.other) assert.deepEqual(world.decisions[process], ['1'])
    assert.match(violationOf(world)!, /decided 0, and process \d+ decided 1/)
  }
  console.log(`${cuts} of ${graphs.length} graphs have a cut`)
  assert.ok(cuts > 20)
})

test('the same schedule, with the quorum of HBO: one side may decide, but never both', () => {
  for (const neighbours of graphs) {
    const cut = firstCut(neighbours)
    if (cut === undefined) continue
    const world = playApart(neighbours, cut)
    assert.equal(violationOf(world), undefined)
    assert.ok([cut.one, cut.other].some((side) => side.every((process) => world.decisions[process]!.length === 0)))
  }
})
