/** HBO played in all orders of single actions, to see whether the exploration by stages leaves any out. */
import assert from 'node:assert/strict'
import { exploreHbo } from '../../../../tools/agreement/graph/explore-hbo.ts'
import type { Neighbours } from '../../../../tools/agreement/graph/graphs.ts'
import { hboOf } from '../../../../tools/agreement/graph/hbo.ts'
import type { HboProcess } from '../../../../tools/agreement/graph/hbo-process.ts'
import { possible } from '../../../../tools/agreement/play/timely.ts'
import { AgreementWorld } from '../../../../tools/agreement/play/world.ts'

const algorithm = hboOf({ rounds: 2 })

/** What each process has decided, or takes into the next round. */
const outcomeOf = (world: AgreementWorld): string =>
  (world.processes as readonly HboProcess[])
    .map(({ decided, value }) => (decided === null ? value : `decided ${decided}`))
    .join()

/** What can become of a round, by playing all orders of single actions: no order of stages, no sets of messages. */
function plainOutcomes(neighbours: Neighbours, inputs: readonly string[]): { outcomes: Set<string>; states: number } {
  const { length } = neighbours
  const outcomes = new Set<string>()
  const seen = new Set<string>()
  const processOf = (world: AgreementWorld, process: number): HboProcess => world.processes[process] as HboProcess
  const start = new AgreementWorld({ algorithm, setting: { processes: length, memories: length, neighbours }, inputs })
  for (let process = 0; process < length; process += 1) start.perform({ do: 'begin', process })
  const left = [start]
  for (let world = left.pop(); world !== undefined; world = left.pop()) {
    const here = world
    // What is said after the round, and about decisions, is left out here as well.
    here.messages = here.messages.filter(({ message }) => ((message as { stage?: number }).stage ?? 2) < 2)
    const { messages, memories, processes, operations, answers } = here
    const registers = memories.map((each) => each.registers)
    const state = JSON.stringify([
      messages.map(({ from, to, message }) => JSON.stringify([from, to, message])).sort(),
      registers,
      processes,
      // Without the steps in which they began.
      operations.map((channel) => channel.map(({ operation, tag }) => [operation, tag])),
      answers.map((channel) => channel.map(({ ok, values, tag }) => [ok, values, tag])),
    ])
    if (seen.has(state)) continue
    seen.add(state)
    const actions = possible(here).filter((action) => {
      const process =
        action.do === 'deliver' ? here.messages[action.message]!.to : (action as { process: number }).process
      return processOf(here, process).stage < 2
    })
    if (actions.length === 0) outcomes.add(outcomeOf(here))
    for (const action of actions)
      for (const side of [false, true]) {
        const next = here.fork()
        next.coin = () => side
        next.perform(action)
        left.push(next)
        if (next.flips === here.flips) break
      }
  }
  return { outcomes, states: seen.size }
}

/** The same by the exploration under test. */
function outcomesByStages(neighbours: Neighbours, inputs: readonly string[]): Set<string> {
  const outcomes = new Set<string>()
  exploreHbo({
    algorithm,
    neighbours,
    inputs: [inputs],
    stagesMax: 2,
    watch: (world) => {
      const processes = world.processes as readonly HboProcess[]
      if (processes.some(({ stage, decided }) => stage < 2 && decided === null)) return
      outcomes.add(outcomeOf(world))
    },
  })
  return outcomes
}

/** Fails unless both ways end the first round in the same states. */
export function compareWithPlain(neighbours: Neighbours, inputs: readonly string[]): string {
  const { outcomes, states } = plainOutcomes(neighbours, inputs)
  // A round that ends as it began is no new state for the exploration.
  const without = (some: Set<string>): string[] => [...some].filter((each) => each !== inputs.join()).sort()
  assert.deepEqual(without(outcomesByStages(neighbours, inputs)), without(outcomes))
  return `${JSON.stringify(neighbours)} ${inputs.join('')}: ${outcomes.size} ends, ${states} states in plain order`
}
