import type { Algorithm, Setting } from '../model/algorithm.ts'
import { nextDue } from './timely.ts'
import { type Action, AgreementWorld, type Scene, type WorldEvent } from './world.ts'

/**
 * All that can happen among some processes and memories, in time, while all others are slow. It goes on until the
 * correct ones of them have decided, until nothing is left, or as many delays.
 */
interface Among {
  readonly do: 'among'
  readonly processes: readonly number[]
  readonly memories: readonly number[]
  readonly delays?: number
}

/** How long some may go on among themselves, in delays. */
const PATIENCE = 400

/** An order that was thought out: single actions, and what some do among themselves. */
export interface Schedule {
  readonly name: string
  readonly setting: Setting
  readonly inputs: readonly string[]
  /** Processes that do not keep to the algorithm. */
  readonly others?: Scene['others']
  readonly steps: readonly (Action | Among)[]
}

/** Plays it to its end, and no longer. */
export function playSchedule(
  algorithm: Algorithm,
  { setting, inputs, others = {}, steps }: Schedule,
  watch?: (event: WorldEvent) => void,
): AgreementWorld {
  const world = new AgreementWorld({
    algorithm,
    setting,
    inputs: inputs.slice(0, setting.processes),
    others,
    ...(watch === undefined ? {} : { watch }),
  })
  for (const step of steps)
    if (step.do === 'among') playAmong(world, step)
    else world.perform(step)
  return world
}

function playAmong(world: AgreementWorld, { processes, memories, delays = PATIENCE }: Among): void {
  const end = world.now + delays
  const isAmong = (action: Action): boolean => {
    if (action.do === 'deliver') {
      const { from, to } = world.messages[action.message]!
      return processes.includes(from) && processes.includes(to)
    }
    if ('memory' in action && !memories.includes(action.memory)) return false
    return processes.includes(action.do === 'execute' ? action.process : world.stepperOf(action)!)
  }
  const correct = processes.filter((process) => world.isCorrect(process))
  for (;;) {
    if (correct.length > 0 && correct.every((process) => world.decisions[process]!.length > 0)) return
    const { action, at } = nextDue(world, isAmong)
    if (action === undefined || at > end) return
    world.now = Math.max(world.now, at)
    world.perform(action)
  }
}
