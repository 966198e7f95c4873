/** What the tests of HBO share. */
import assert from 'node:assert/strict'
import { exactTolerance } from '../../../../tools/agreement/graph/expansion.ts'
import { exploreHbo } from '../../../../tools/agreement/graph/explore-hbo.ts'
import { type HboSeed, playHboSeed } from '../../../../tools/agreement/graph/graph-seeds.ts'
import type { Neighbours } from '../../../../tools/agreement/graph/graphs.ts'
import type { HboProcess } from '../../../../tools/agreement/graph/hbo-process.ts'
import type { Algorithm } from '../../../../tools/agreement/model/algorithm.ts'
import { isOver, violationOf } from '../../../../tools/agreement/play/judge.ts'

/** All inputs of processes, as bits. */
export const allInputs = (processes: number): string[][] =>
  Array.from({ length: 2 ** processes }, (_, bits) =>
    Array.from({ length: processes }, (__, process) => String((bits >> process) & 1)),
  )

/** All sets of processes of a size. */
export const setsOf = (processes: number, size: number): number[][] =>
  Array.from({ length: 2 ** processes }, (_, bits) =>
    Array.from({ length: processes }, (__, process) => process).filter((process) => ((bits >> process) & 1) === 1),
  ).filter(({ length }) => length === size)

/** Explores a graph with all inputs, without crashes and with each set of as many as it withstands. */
export function exploreShape(algorithm: Algorithm, neighbours: Neighbours): string {
  const { length } = neighbours
  const faults = exactTolerance(neighbours)
  const inputs = allInputs(length)
  let [states, worlds, stages] = [0, 0, 0]
  const sets = [[], ...(faults === 0 ? [] : setsOf(length, faults))]
  for (const crashed of sets) {
    const found = exploreHbo({ algorithm, neighbours, inputs, crashed, stagesMax: 24 })
    const { isWhole, violation, hasDeadlock } = found
    assert.deepEqual({ isWhole, violation, hasDeadlock }, { isWhole: true, violation: undefined, hasDeadlock: false })
    assert.deepEqual(found.decided, ['0', '1'])
    states += found.states
    worlds += found.worlds
    stages = Math.max(stages, found.stages)
  }
  return `${JSON.stringify(neighbours)}: withstands ${faults}; ${sets.length} sets crashed, ${states} states in ${stages} stages, ${worlds} worlds`
}

export interface HboOutcome {
  readonly violation: string | undefined
  readonly isOver: boolean
  readonly rounds: number
  readonly messages: number
  readonly crashes: number
}

/** A play that a seed draws, and what came of it. */
export function hboOutcome(seed: HboSeed): HboOutcome {
  const world = playHboSeed(seed)
  return {
    violation: violationOf(world),
    isOver: isOver(world),
    rounds: 1 + Math.max(...world.processes.map((process) => Math.floor((process as HboProcess).stage / 2))),
    messages: world.costs.messages,
    crashes: world.up.filter((up) => !up).length,
  }
}
