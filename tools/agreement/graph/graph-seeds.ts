import { Random } from 'aether-dsm/internal/runtime'
import type { Algorithm } from '../model/algorithm.ts'
import { AgreementWorld, type WorldEvent } from '../play/world.ts'
import { ElectionPlay } from './election-play.ts'
import type { Neighbours } from './graphs.ts'
import { type Pace, playPaced, timelyPace } from './paced-play.ts'
import { type CrashInStep, drawCrashes, playRandomly } from './random-play.ts'

export interface HboSeed {
  readonly algorithm: Algorithm
  readonly neighbours: Neighbours
  readonly seed: number
  /** Instead of crashes that are drawn. */
  readonly crashes?: readonly CrashInStep[]
  /** Told what happens, for a picture. */
  readonly watch?: (event: WorldEvent) => void
}

const STEPS_MAX = 60_000

/** A play in an order that the seed draws, with crashes in the middle of steps, at most as many as are withstood. */
export function playHboSeed({ algorithm, neighbours, seed, crashes, watch }: HboSeed): AgreementWorld {
  const processes = neighbours.length
  const setting = { processes, memories: processes, neighbours }
  const random = new Random(seed)
  const inputs = neighbours.map(() => String(random.below(2)))
  const world = new AgreementWorld({ algorithm, setting, inputs, ...(watch === undefined ? {} : { watch }) })
  const drawn = drawCrashes(random, processes, random.below(algorithm.bound(setting).processes + 1), 8 * processes)
  playRandomly(world, { seed, stepsMax: STEPS_MAX, crashes: crashes ?? drawn })
  return world
}

export interface ElectionSeed {
  readonly algorithm: Algorithm
  readonly seed: number
  readonly lossPercent: number
  /** How many processes there are; the seed draws it if it is left out. */
  readonly processes?: number
  /** How it goes on after the disorder. */
  readonly pace?: Pace
  readonly stableAt?: number
  readonly leniently?: boolean
  /** Told what happens, for a picture. */
  readonly watch?: (event: WorldEvent) => void
}

export interface ElectionOutcome {
  readonly play: ElectionPlay
  /** What is wrong; undefined if nothing is. */
  readonly violation: string | undefined
}

const CHAOS_STEPS = 600
/** How long an election that has to be over is watched, in delays. */
const WATCHED = 300

/**
 * Any order with crashes and lost messages at first, and timers that run as they like. Then everything is in time, and
 * the election has to be over by `stableAt`.
 */
export function playElectionSeed({
  algorithm,
  seed,
  lossPercent,
  processes,
  pace = timelyPace,
  stableAt = 1500,
  leniently = false,
  watch,
}: ElectionSeed): ElectionOutcome {
  const random = new Random(seed)
  const drawn = 2 + random.below(4)
  const count = processes ?? drawn
  const play = new ElectionPlay(algorithm, count, watch)
  const crashes = drawCrashes(random, count, random.below(count), 60)
  playRandomly(play.world, { seed, stepsMax: random.below(CHAOS_STEPS), crashes, lossPercent })
  playPaced(play.world, stableAt, pace)
  return { play, violation: play.instability(stableAt + WATCHED, pace, leniently) }
}
