import { Random } from 'aether-dsm/internal/runtime'
import { isOver } from '../play/judge.ts'
import { drawSpeeds } from '../play/speeds.ts'
import { possible } from '../play/timely.ts'
import type { Action, AgreementWorld } from '../play/world.ts'

/** A crash in the middle of a step: of what a process does in it, only the first acts are under way afterwards. */
export interface CrashInStep {
  readonly process: number
  /** In which of its steps, counted from 0; or in the one in which it decides. */
  readonly step: number | 'decision'
  /** How many of its messages, and then of its operations, are still sent. */
  readonly acts: number
}

export interface RandomPlay {
  readonly seed: number
  readonly stepsMax: number
  readonly crashes?: readonly CrashInStep[]
  /** How often a message is lost, of a hundred. */
  readonly lossPercent?: number
}

const SPEEDS_LAST_STEPS = 150
const DRAWS_MAX = 30

/**
 * Plays on in an order that the seed draws, until all have decided, nothing can happen, or `stepsMax` is reached. Time
 * stands still: a delay is as long as it takes until an action is drawn. Returns the steps that were taken.
 */
export function playRandomly(
  world: AgreementWorld,
  { seed, stepsMax, crashes = [], lossPercent = 0 }: RandomPlay,
): number {
  const random = new Random(seed)
  world.coin = () => random.below(2) === 1
  const stepsOf = world.processes.map(() => 0)
  let speeds: number[] = []
  for (let step = 0; step < stepsMax; step += 1) {
    if (isOver(world)) return step
    if (step % SPEEDS_LAST_STEPS === 0) speeds = drawSpeeds(random, world.processes.length)
    const action = drawAction(world, random, speeds)
    if (action === undefined) return step
    if (action.do === 'deliver' && random.below(100) < lossPercent) {
      world.perform({ do: 'drop', message: action.message })
      continue
    }
    const process = world.stepperOf(action)
    const crash = process === undefined ? undefined : crashes.find((each) => each.process === process)
    if (process === undefined || crash === undefined) {
      world.perform(action)
      continue
    }
    performAndCrash(world, action, crash, stepsOf[process]!)
    stepsOf[process]! += 1
  }
  return stepsMax
}

/** Takes a step of a process that crashes in the middle of it, if it is that one. What it has decided then counts. */
function performAndCrash(
  world: AgreementWorld,
  action: Action,
  { process, step, acts }: CrashInStep,
  stepsBefore: number,
): void {
  const { operations, decisions } = world
  const messages = world.messages.filter((_, message) => action.do !== 'deliver' || message !== action.message)
  world.perform(action)
  const isHere = step === 'decision' ? world.decisions[process] !== decisions[process] : step === stepsBefore
  if (!isHere) return
  const sent = world.messages.slice(messages.length)
  world.messages = [...messages, ...sent.slice(0, acts)]
  let left = Math.max(0, acts - sent.length)
  world.operations = world.operations.map((under, channel) => {
    const before = operations[channel]!.length
    const kept = Math.min(left, Math.max(0, under.length - before))
    left -= kept
    return under.slice(0, before + kept)
  })
  world.perform({ do: 'crash', process })
}

function drawAction(world: AgreementWorld, random: Random, speeds: readonly number[]): Action | undefined {
  const actions = possible(world)
  if (actions.length === 0) return undefined
  for (let draw = 0; draw < DRAWS_MAX; draw += 1) {
    const action = actions[random.below(actions.length)]!
    const process = action.do === 'execute' ? action.process : world.stepperOf(action)
    if (process === undefined || random.below(100) < speeds[process]!) return action
  }
  return actions[random.below(actions.length)]
}

/** Crashes as a random source draws them: of different processes, each in one of its first steps or as it decides. */
export function drawCrashes(random: Random, processes: number, count: number, stepsMax: number): CrashInStep[] {
  const left = Array.from({ length: processes }, (_, process) => process)
  return Array.from({ length: count }, () => ({
    process: left.splice(random.below(left.length), 1)[0]!,
    step: random.below(3) === 0 ? 'decision' : random.below(stepsMax),
    acts: random.below(2 * processes),
  }))
}
