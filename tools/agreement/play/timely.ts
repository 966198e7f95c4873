import { isOver } from './judge.ts'
import type { Action, World } from './world.ts'

/** When an action is due where everything takes one delay; undefined where it can never happen. */
function dueAt(world: World, action: Action): number {
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

/** All that can happen by itself: nobody crashes and nobody is suspected. */
export function possible(world: World): Action[] {
  const actions: Action[] = []
  const { processes, memories } = world.scene.setting
  for (let process = 0; process < processes; process += 1) {
    if (world.up[process] && !world.begun[process]) actions.push({ do: 'begin', process })
    for (let memory = 0; memory < memories; memory += 1) {
      const channel = world.channel(process, memory)
      if (world.memoryUp[memory] && world.operations[channel]!.length > 0) actions.push({ do: 'execute', process, memory })
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

/** Plays on with every message and half of every operation taking one delay, until all have decided or time is up. */
export function playTimely(world: World, untilDelays: number, disturb?: (world: World) => void): void {
  while (!isOver(world)) {
    disturb?.(world)
    let next: Action | undefined
    let at = Infinity
    for (const action of possible(world)) {
      const due = dueAt(world, action)
      if (due < at) [next, at] = [action, due]
    }
    if (next === undefined || at > untilDelays) return
    world.now = Math.max(world.now, at)
    world.perform(next)
  }
}
