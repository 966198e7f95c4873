import { Random } from 'aether-dsm/internal/runtime'
import { Alternator, Silent, Tamperer, TwoFaced } from '../byzantine/liars.ts'
import type { Algorithm, Setting } from '../model/algorithm.ts'
import type { Process } from '../model/process.ts'
import { isOver, violationOf } from './judge.ts'
import { drawSpeeds } from './speeds.ts'
import { follow, playTimely, possible } from './timely.ts'
import { type Action, AgreementWorld, type WorldEvent } from './world.ts'

/** How long a play that has become timely may take until all have decided, in delays. */
const PATIENCE = 4000

/** Only crashes. */
const NO_LIE = 'no one lies'

export interface SeedOptions {
  /** Told what happens, for a picture. */
  readonly watch?: (event: WorldEvent) => void
  /** What the process does that lies; `no one lies` for none. What is drawn, if it is left out. */
  readonly lie?: string
}

export interface SeedOutcome {
  readonly seed: number
  /** What went wrong; undefined if nothing did. */
  readonly violation: string | undefined
  /** The processes that did not keep to the algorithm, each with what it did. */
  readonly liars: readonly string[]
  readonly world: AgreementWorld
}

/**
 * A play that the seed draws: orders, crashes of processes and memories up to what the algorithm withstands, false
 * suspicions, and processes that lie. Then everything becomes timely, and all that are correct have to decide.
 */
export function playSeed(algorithm: Algorithm, seed: number, { watch, lie }: SeedOptions = {}): SeedOutcome {
  const random = new Random(seed)
  const setting = drawSetting(algorithm, random)
  const bound = algorithm.bound(setting)
  const faults = lie === undefined ? random.below(bound.processes + 1) : bound.processes
  const liars = algorithm.failures === 'byzantine' ? drawLiars(algorithm, setting, faults, random, lie) : []
  const inputs = Array.from({ length: setting.processes }, () => 'abc'[random.below(3)]!)
  const world = new AgreementWorld({
    algorithm,
    setting,
    inputs,
    ...(watch === undefined ? {} : { watch }),
    others: Object.fromEntries(liars.map(({ process, create }) => [process, create])),
  })
  let memoriesLeft = random.below(Math.min(bound.memories, (bound.together ?? Infinity) - faults) + 1)
  let crashesLeft = faults - liars.length
  world.coin = () => random.below(2) === 1
  for (let part = 1 + random.below(40); part > 0; part -= 1) {
    playPart(world, random)
    const process = random.below(setting.processes)
    // A process is mostly told that it leads itself: that is what disturbs the others.
    const leader = random.below(4) > 0 ? process : random.below(setting.processes)
    if (random.below(3) > 0 && world.begun[process] && world.up[process]) world.perform({ do: 'lead', process, leader })
    const memory = random.below(Math.max(1, setting.memories))
    if (memoriesLeft > 0 && world.memoryUp[memory] && random.below(4) === 0) {
      world.perform({ do: 'crash-memory', memory })
      memoriesLeft -= 1
    }
    const victim = random.below(setting.processes)
    if (crashesLeft > 0 && world.up[victim] && world.isCorrect(victim) && random.below(6) === 0) {
      crash(world, victim, random)
      crashesLeft -= 1
    }
  }
  finish(world)
  // What a liar broadcasts may be delivered, or not.
  const mustEnd = algorithm.task !== 'broadcast' || world.isCorrect(0)
  const violation =
    violationOf(world) ??
    (isOver(world) || !mustEnd || (!world.up[0] && algorithm.task === 'broadcast')
      ? undefined
      : 'not all decide, though everything is timely')
  return {
    seed,
    violation,
    liars: liars.map(({ process, what }) => `${process} ${what}`),
    world,
  }
}

/** How likely a process has waited too long, of a hundred. */
const IMPATIENCE = [0, 2, 30]

/** Some steps in any order. Each process and memory is fast or slow. */
function playPart(world: AgreementWorld, random: Random): void {
  const { processes, memories } = world.scene.setting
  const speeds = drawSpeeds(random, processes)
  const memorySpeeds = drawSpeeds(random, memories)
  const impatience = IMPATIENCE[random.below(IMPATIENCE.length)]!
  const speedOf = (action: Action): number => {
    if (action.do === 'execute') return memorySpeeds[action.memory]!
    if (action.do === 'timer' && world.timers[action.timer]!.at - world.now > 1) return impatience
    return speeds[world.stepperOf(action)!]!
  }
  for (let draws = random.below(random.below(8) === 0 ? 400 : 40); draws > 0 && !isOver(world); draws -= 1) {
    const actions = possible(world)
    const action = actions[random.below(actions.length)]
    if (action !== undefined && random.below(100) < speedOf(action)) world.perform(action)
  }
}

/** Of what it was sending, some is lost. */
function crash(world: AgreementWorld, process: number, random: Random): void {
  world.perform({ do: 'crash', process })
  for (let message = world.messages.length - 1; message >= 0; message -= 1)
    if (world.messages[message]!.from === process && random.below(2) === 0) world.perform({ do: 'drop', message })
}

/** From now on everything is timely, and everyone takes the same correct process for the leader. */
function finish(world: AgreementWorld): void {
  world.begun.forEach((isBegun, process) => {
    if (world.up[process] && !isBegun) world.perform({ do: 'begin', process })
  })
  follow(world)
  playTimely(world, world.now + PATIENCE)
}

function drawSetting(algorithm: Algorithm, random: Random): Setting {
  if (algorithm.failures === 'byzantine') return { processes: 3, memories: [1, 3, 3][random.below(3)]! }
  return { processes: 2 + random.below(3), memories: 1 + random.below(5) }
}

interface Liar {
  readonly process: number
  readonly what: string
  readonly create: (setting: Setting) => Process
}

function drawLiars(algorithm: Algorithm, setting: Setting, most: number, random: Random, lie?: string): Liar[] {
  const left = Array.from({ length: setting.processes }, (_, process) => process)
  const count = lie === undefined ? random.below(most + 1) : lie === NO_LIE ? 0 : Math.min(1, most)
  return Array.from({ length: count }, () => {
    const process = left.splice(random.below(left.length), 1)[0]!
    const create = (): Process => algorithm.create(process, setting)
    const kinds: Omit<Liar, 'process'>[] = [
      { what: 'is silent', create: () => new Silent() },
      { what: 'tampers', create: () => new Tamperer(create(), random) },
      { what: 'is two-faced', create: () => new TwoFaced(create, ['a', 'b']) },
      { what: 'alternates between two faces', create: () => new Alternator(create, ['a', 'b'], random) },
      ...Object.entries(algorithm.traitors ?? {}).map(([what, traitor]) => ({
        what,
        create: () => traitor(process, setting),
      })),
    ]
    const chosen = kinds.find(({ what }) => what === lie) ?? kinds[random.below(kinds.length)]!
    return { process, ...chosen }
  })
}
