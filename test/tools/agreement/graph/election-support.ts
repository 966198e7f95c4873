/** What the tests of leader elections share. */
import { Random } from '../../../../src/runtime/index.ts'
import { type ElectionSeed, playElectionSeed } from '../../../../tools/agreement/graph/graph-seeds.ts'
import { type Pace, timelyPace } from '../../../../tools/agreement/graph/paced-play.ts'

/** What is wrong with an election that a seed draws, if anything is. */
export const electionFault = (seed: ElectionSeed): string | undefined => playElectionSeed(seed).violation

/** A number that looks random, of what a pace is told. */
const mixed = (...numbers: readonly number[]): number =>
  new Random(numbers.reduce((sum, each) => Math.imul(sum, 31) + Math.round(each * 8), 17)).below(1_000_000)

/** Operations and steps are in time; each message takes up to `most` delays. */
export const slowLinks =
  (most: number): Pace =>
  (pending) =>
    pending.kind === 'message' ? 1 + (mixed(pending.since, pending.process) % most) : timelyPace(pending)

/** No message ever arrives. */
export const deadLinks: Pace = (pending) => (pending.kind === 'message' ? Infinity : timelyPace(pending))

/** Each process is slow in its turn: it takes ten times as long then. */
export const slowInTurns =
  (processes: number): Pace =>
  (pending) =>
    (Math.floor(pending.since / 100) % processes === pending.process ? 10 : 1) * timelyPace(pending)

/** Only one process is in time. All others are the slower the longer it goes on. */
export const oneTimely =
  (timely: number): Pace =>
  (pending) =>
    pending.process === timely ? timelyPace(pending) : timelyPace(pending) + 1 + pending.since / 12
