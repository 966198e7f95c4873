import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exactTolerance, largestUnrepresentative, representedBy } from '../../../../tools/agreement/graph/expansion.ts'
import { emptyGraph, graphNamed, type Neighbours, ringGraph } from '../../../../tools/agreement/graph/graphs.ts'
import { hbo, hboOf } from '../../../../tools/agreement/graph/hbo.ts'
import { RoundsExhaustedError } from '../../../../tools/agreement/graph/hbo-process.ts'
import { playRandomly } from '../../../../tools/agreement/graph/random-play.ts'
import { isOver, violationOf } from '../../../../tools/agreement/play/judge.ts'
import { playTimely } from '../../../../tools/agreement/play/timely.ts'
import { AgreementWorld } from '../../../../tools/agreement/play/world.ts'
import { allInputs, hboOutcome, setsOf } from './hbo-support.ts'

const graphs: readonly (readonly [name: string, processes: number])[] = [
  ['complete', 4],
  ['ring', 5],
  ['ring', 8],
  ['hypercube', 8],
  ['random-3', 8],
  ['margulis', 9],
  ['none', 5],
]

const worldOn = (neighbours: Neighbours, inputs: readonly string[]): AgreementWorld => {
  const { length } = neighbours
  return new AgreementWorld({ algorithm: hbo, setting: { processes: length, memories: length, neighbours }, inputs })
}

test('the common case: equal inputs are decided after six delays, two for claims and one for messages in each phase', () => {
  for (const [name, processes] of graphs) {
    const neighbours = graphNamed(name, processes)
    const world = worldOn(
      neighbours,
      neighbours.map(() => '1'),
    )
    playTimely(world, 100)
    assert.deepEqual(
      world.decisions,
      neighbours.map(() => ['1']),
    )
    assert.ok(world.decidedAt.every((at) => at === hbo.commonCase.delays))
    const objects = neighbours.reduce((sum, each) => sum + each.length + 1, 0)
    assert.deepEqual(world.costs, {
      messages: 2 * processes ** 2 + processes * (processes - 1),
      writes: 0,
      reads: 0,
      claims: 2 * objects,
      permissions: 0,
      signatures: hbo.commonCase.signatures,
    })
  }
})

test('a setting is refused with the reason', () => {
  assert.equal(hbo.refuse({ processes: 3, memories: 3 }), undefined)
  assert.match(hbo.refuse({ processes: 3, memories: 2 })!, /each process has a memory/)
  assert.match(hbo.refuse({ processes: 2, memories: 2, neighbours: [[1], []] })!, /not the other way round/)
  assert.match(hbo.refuse({ processes: 31, memories: 31 })!, /at most 30/)
})

test('it withstands what its graph does; without a graph, all share memory', () => {
  const boundOf = (processes: number, neighbours?: Neighbours): number =>
    hbo.bound({ processes, memories: processes, ...(neighbours === undefined ? {} : { neighbours }) }).processes
  assert.equal(boundOf(6), 5)
  assert.equal(boundOf(6, emptyGraph(6)), 2)
  assert.equal(boundOf(12, ringGraph(12)), 7)
})

test('a process has no access to the objects of one that is not its neighbour', () => {
  const world = worldOn(ringGraph(4), ['0', '0', '1', '1'])
  const claim = { do: 'claim', register: { region: 'reports/0', index: 0 }, value: '1' } as const
  assert.deepEqual(
    [0, 1, 2, 3].map((process) => world.memories[0]!.perform(process, claim).ok),
    [true, true, false, true],
  )
  const read = { do: 'read', registers: [claim.register] } as const
  assert.equal(world.memories[0]!.perform(2, read).ok, false)
})

test('beyond the rounds that it has registers for, a process fails with an error that says so', () => {
  const algorithm = hboOf({ rounds: 1 })
  const world = new AgreementWorld({
    algorithm,
    setting: { processes: 2, memories: 2, neighbours: [[], []] },
    inputs: ['0', '1'],
  })
  assert.throws(
    () => playTimely(world, 100),
    (error: unknown) =>
      error instanceof RoundsExhaustedError && error.rounds === 1 && /more rounds/.test(error.message),
  )
})

test('seeds: all correct processes decide within a few rounds, and agree, with as many crashes as the graph withstands', () => {
  const rounds: number[] = []
  let [undecided, crashes] = [0, 0]
  for (const [name, processes] of graphs)
    for (let seed = 1; seed <= 60; seed += 1) {
      const played = hboOutcome({ algorithm: hbo, neighbours: graphNamed(name, processes, seed), seed })
      assert.equal(played.violation, undefined, `${name} ${processes}, seed ${seed}`)
      // A round is two phases with a message from all to all; and each tells all of its decision, once.
      assert.ok(played.messages <= 2 * processes ** 2 * played.rounds + processes * (processes - 1))
      rounds.push(played.rounds)
      crashes += played.crashes
      if (!played.isOver) undecided += 1
    }
  console.log(`${rounds.length} seeds, ${crashes} crashes, at most ${Math.max(...rounds)} rounds`)
  assert.equal(undecided, 0)
  assert.ok(crashes > rounds.length / 2)
  assert.ok(Math.max(...rounds) <= 40)
})

test('seeds: where the correct processes represent no majority from the start, no one decides', () => {
  for (const [name, processes] of graphs) {
    const neighbours = graphNamed(name, processes)
    const correct = largestUnrepresentative(neighbours)
    if (correct.length === 0) continue
    for (let seed = 1; seed <= 20; seed += 1) {
      const world = worldOn(
        neighbours,
        neighbours.map((_, process) => String((process + seed) % 2)),
      )
      for (let process = 0; process < processes; process += 1)
        if (!correct.includes(process)) world.perform({ do: 'crash', process })
      playRandomly(world, { seed, stepsMax: 20_000 })
      assert.ok(!isOver(world))
      assert.deepEqual(world.decisions.flat(), [])
    }
  }
})

test('seeds: crashes beyond the bound in the middle of a play may stop it, but never make two decide differently', () => {
  let stopped = 0
  for (const [name, processes] of graphs) {
    const neighbours = graphNamed(name, processes)
    const faults = exactTolerance(neighbours)
    const bad = setsOf(processes, processes - faults - 1).filter(
      (set) => 2 * representedBy(neighbours, set).length <= processes,
    )
    if (faults === processes - 1) continue
    for (let seed = 1; seed <= 20; seed += 1) {
      const correct = bad[seed % bad.length]!
      const inputs = allInputs(processes)[(seed * 37) % 2 ** processes]!
      const world = worldOn(neighbours, inputs)
      const crashes = [...neighbours.keys()]
        .filter((process) => !correct.includes(process))
        .map((process) => ({ process, step: (seed * (process + 3)) % (4 * processes), acts: seed % processes }))
      playRandomly(world, { seed, stepsMax: 20_000, crashes })
      assert.equal(violationOf(world), undefined)
      if (!isOver(world)) stopped += 1
    }
  }
  console.log(`${stopped} plays were stopped by too many crashes`)
  assert.ok(stopped > 0)
})
