import { UsageError } from 'aether-dsm/internal/cli'
import {
  AgreementWorld,
  type Algorithm,
  playSeed,
  playTimely,
  type Scene,
  type TimelyCrash,
  type TimeUnit,
  type WorldEvent,
} from '../../agreement/index.ts'

/** How long a play may take. */
export const DELAYS_MAX = 2000

/** What each process proposes. */
export const inputsOf = (processes: number): string[] =>
  Array.from({ length: processes }, (_, process) => `v${process}`)

/** What there is to show of a world, or of real processes. */
interface ShownWorld
  extends Pick<AgreementWorld, 'costs' | 'decisions' | 'decidedAt'>,
    Pick<AgreementWorld, 'isCorrect'> {
  readonly scene: Pick<Scene, 'algorithm' | 'setting' | 'inputs'>
}

/** A play that is over, to be shown. */
export interface PlayedWorld {
  readonly world: ShownWorld
  readonly events: readonly WorldEvent[]
  /** Of all times; delays if it is left out. */
  readonly unit?: TimeUnit
  /** False where a seed draws the order, and time stands still. */
  readonly isTimed: boolean
  /** Processes that did not keep to the algorithm, with what they did. */
  readonly liars: readonly string[]
  /** What else there is to say, a line each. */
  readonly notes: readonly string[]
  /** What must not be; undefined if nothing is wrong. */
  readonly violation: string | undefined
}

export interface TimelyPlay {
  readonly algorithm: Algorithm
  readonly processes: number
  readonly memories: number
  readonly kills: readonly TimelyCrash[]
}

/** @throws UsageError where the algorithm refuses the setting. */
export function timelyPlay({ algorithm, processes, memories, kills }: TimelyPlay): PlayedWorld {
  const setting = { processes, memories }
  const refusal = algorithm.refuse(setting)
  if (refusal !== undefined) throw new UsageError(`${algorithm.name}: ${refusal}`, 'agreement')
  const events: WorldEvent[] = []
  const watch = (event: WorldEvent): number => events.push(event)
  const world = new AgreementWorld({ algorithm, setting, inputs: inputsOf(processes), watch })
  playTimely(world, DELAYS_MAX, kills)
  return { world, events, isTimed: true, liars: [], notes: [], violation: undecidedText(world) }
}

export function seedPlay(algorithm: Algorithm, seed: number): PlayedWorld {
  const events: WorldEvent[] = []
  const { world, violation, liars } = playSeed(algorithm, seed, { watch: (event) => events.push(event) })
  return { world, events, isTimed: false, liars, notes: [], violation: violation ?? undecidedText(world) }
}

/** Which processes did not decide, though they are up and correct. */
export function undecidedText(world: AgreementWorld): string | undefined {
  const undecided = world.processes.filter(
    (_, process) => world.up[process] && world.isCorrect(process) && world.decisions[process]!.length === 0,
  )
  return undecided.length === 0
    ? undefined
    : `${undecided.length} of ${world.processes.length} processes did not decide`
}
