/** What the tests of HBO share. */
import assert from 'node:assert/strict'
import { Random } from '../../../../src/runtime/index.ts'
import { exactTolerance } from '../../../../tools/agreement/graph/expansion.ts'
import { exploreHbo } from '../../../../tools/agreement/graph/explore-hbo.ts'
import type { Neighbours } from '../../../../tools/agreement/graph/graphs.ts'
import type { HboProcess } from '../../../../tools/agreement/graph/hbo-process.ts'
import { type CrashInStep, drawCrashes, playRandomly } from '../../../../tools/agreement/graph/random-play.ts'
import type { Algorithm } from '../../../../tools/agreement/model/algorithm.ts'
import { isOver, violationOf } from '../../../../tools/agreement/play/judge.ts'
import { AgreementWorld } from '../../../../tools/agreement/play/world.ts'

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

export interface HboSeed {
  readonly algorithm: Algorithm
  readonly neighbours: Neighbours
  readonly seed: number
  /** Instead of crashes that are drawn. */
  readonly crashes?: readonly CrashInStep[]
}

export interface HboOutcome {
  readonly violation: string | undefined
  readonly isOver: boolean
  readonly rounds: number
  readonly messages: number
  readonly crashes: number
}

const STEPS_MAX = 60_000

/** A play in an order that the seed draws, with crashes in the middle of steps, at most as many as are withstood. */
export function playHboSeed({ algorithm, neighbours, seed, crashes }: HboSeed): HboOutcome {
  const processes = neighbours.length
  const setting = { processes, memories: processes, neighbours }
  const random = new Random(seed)
  const inputs = neighbours.map(() => String(random.below(2)))
  const world = new AgreementWorld({ algorithm, setting, inputs })
  const drawn = drawCrashes(random, processes, random.below(algorithm.bound(setting).processes + 1), 8 * processes)
  playRandomly(world, { seed, stepsMax: STEPS_MAX, crashes: crashes ?? drawn })
  return {
    violation: violationOf(world),
    isOver: isOver(world),
    rounds: 1 + Math.max(...world.processes.map((process) => Math.floor((process as HboProcess).stage / 2))),
    messages: world.costs.messages,
    crashes: world.up.filter((up) => !up).length,
  }
}
