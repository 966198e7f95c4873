import { possible } from '../play/timely.ts'
import type { Action, AgreementWorld } from '../play/world.ts'

/** What takes time, and whose it is: the receiver of a message, or the process that has begun an operation. */
interface Pending {
  readonly kind: 'begin' | 'message' | 'execute' | 'answer' | 'timer'
  readonly process: number
  /** Since when it is under way; for a timer, when it is due by its own clock. */
  readonly since: number
}

/** How long something takes, in delays. */
export type Pace = (pending: Pending) => number

/** Everything takes one delay, and timers are exact. */
export const timelyPace: Pace = ({ kind }) => (kind === 'timer' || kind === 'begin' ? 0 : 1)

/** Plays until a time, with everything taking as long as its pace says. A pace depends only on what it is told. */
export function playPaced(world: AgreementWorld, untilDelays: number, pace: Pace): void {
  for (;;) {
    let next: Action | undefined
    let at = Infinity
    for (const action of possible(world)) {
      const pending = pendingOf(world, action)
      const due = pending.since + pace(pending)
      if (due < at) [next, at] = [action, due]
    }
    if (next === undefined || at > untilDelays) break
    world.now = Math.max(world.now, at)
    world.perform(next)
  }
  world.now = Math.max(world.now, untilDelays)
}

function pendingOf(world: AgreementWorld, action: Action): Pending {
  switch (action.do) {
    case 'deliver': {
      const { to, sentAt } = world.messages[action.message]!
      return { kind: 'message', process: to, since: sentAt }
    }
    case 'execute': {
      const [first] = world.operations[world.channel(action.process, action.memory)]!
      return { kind: 'execute', process: action.process, since: first!.sentAt }
    }
    case 'answer': {
      const [first] = world.answers[world.channel(action.process, action.memory)]!
      return { kind: 'answer', process: action.process, since: first!.executedAt }
    }
    case 'timer': {
      const { process, at } = world.timers[action.timer]!
      return { kind: 'timer', process, since: at }
    }
    default:
      return { kind: 'begin', process: (action as { readonly process: number }).process, since: 0 }
  }
}
