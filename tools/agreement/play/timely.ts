import { isOver } from './judge.ts'
import type { Action, AgreementWorld, FirstDecision } from './world.ts'

/** When an action is due where everything takes one delay. */
function dueAt(world: AgreementWorld, action: Action): number {
  switch (action.do) {
    case 'deliver':
      return world.messages[action.message]!.sentAt + 1
    case 'execute':
      return world.operations[world.channel(action.process, action.memory)]![0]!.sentAt + 1
    case 'answer':
      return world.answers[world.channel(action.process, action.memory)]![0]!.executedAt + 1
    case 'timer':
      return world.timers[action.timer]!.at
    default:
      return world.now
  }
}

/** All that can happen by itself, without a crash or a suspicion. */
export function possible(world: AgreementWorld): Action[] {
  const actions: Action[] = []
  const { processes, memories } = world.scene.setting
  for (let process = 0; process < processes; process += 1) {
    if (world.up[process] && !world.begun[process]) actions.push({ do: 'begin', process })
    for (let memory = 0; memory < memories; memory += 1) {
      const channel = world.channel(process, memory)
      if (world.memoryUp[memory] && world.operations[channel]!.length > 0)
        actions.push({ do: 'execute', process, memory })
      if (world.up[process] && world.memoryUp[memory] && world.answers[channel]!.length > 0)
        actions.push({ do: 'answer', process, memory })
    }
  }
  world.messages.forEach(({ to }, message) => {
    if (world.up[to] && world.begun[to]) actions.push({ do: 'deliver', message })
  })
  world.timers.forEach(({ process }, timer) => {
    if (world.up[process]) actions.push({ do: 'timer', timer })
  })
  return actions
}

/** What is due first of all that may happen, and when. */
export function nextDue(
  world: AgreementWorld,
  may: (action: Action) => boolean = () => true,
): { readonly action: Action | undefined; readonly at: number } {
  let [next, at]: [Action | undefined, number] = [undefined, Infinity]
  for (const action of possible(world)) {
    const when = dueAt(world, action)
    if (when < at && may(action)) [next, at] = [action, when]
  }
  return { action: next, at }
}

/** A process or a memory crashes after as many delays. */
export interface TimelyCrash {
  readonly process?: number
  readonly memory?: number
  readonly at: number
}

/** How long it takes until a leader that has crashed is followed by another. */
const DETECTION = 5

/**
 * Plays on with every message and half of every operation taking one delay, until all have decided or time is up. A
 * leader that crashes is followed by the first process that is up, where the algorithm has to be told.
 */
export function playTimely(
  world: AgreementWorld,
  untilDelays: number,
  crashes: readonly TimelyCrash[] = [],
): FirstDecision | undefined {
  const isLed = world.scene.algorithm.onGraph !== true
  const due = crashes.flatMap((crash) => [
    { ...crash, leads: false },
    ...(isLed && crash.process !== undefined ? [{ ...crash, at: crash.at + DETECTION, leads: true }] : []),
  ])
  due.sort((one, other) => one.at - other.at)
  while (!isOver(world)) {
    const { action: next, at } = nextDue(world)
    const crash = due[0]
    if (crash !== undefined && crash.at <= at) {
      due.shift()
      world.now = Math.max(world.now, crash.at)
      if (crash.leads) follow(world)
      else if (crash.process !== undefined) world.perform({ do: 'crash', process: crash.process })
      else world.perform({ do: 'crash-memory', memory: crash.memory! })
      continue
    }
    if (next === undefined || at > untilDelays) break
    world.now = Math.max(world.now, at)
    world.perform(next)
  }
  return world.first
}

/** Everyone takes the first correct process that is up for the leader. */
export function follow(world: AgreementWorld): void {
  const leader = world.up.findIndex((isUp, process) => isUp && world.isCorrect(process))
  if (leader < 0) return
  world.up.forEach((isUp, process) => {
    if (isUp) world.perform({ do: 'lead', process, leader })
  })
}
