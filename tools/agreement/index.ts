/**
 * Algorithms of agreement over messages and memories, for those who study and compare them. Not in the package itself,
 * as no program needs them to run: what replicates a program's state is `aether-dsm/consensus`.
 *
 * - `model/`: what a process sees. It takes steps, sends messages, and has memories with permissions.
 * - `paxos/`: one proposer, whose agents are memories with permissions, disks, processes, or all of them.
 * - `byzantine/`: registers that outlive memories, broadcast without equivocation, and what is built on them.
 * - `graph/`: what shared memory between neighbours gives: Hybrid Ben-Or, and leaders without messages.
 * - `play/`: a world that does what it is told, and who tells it: a clock, a seed, or every order there is.
 * - `picture/`: what happened, to look at.
 * - `real/`: processes and memories that are processes of this machine, and may be killed.
 */
export { algorithms, graphAlgorithms } from './algorithms.ts'
export { ElectionPlay } from './graph/election-play.ts'
export {
  exactTolerance,
  representedBy,
  sharedMemoryCut,
  toleranceByExpansion,
  vertexExpansion,
} from './graph/expansion.ts'
export { playElectionSeed, playHboSeed } from './graph/graph-seeds.ts'
export { graphNamed, type Neighbours } from './graph/graphs.ts'
export { hbo } from './graph/hbo.ts'
export { omegaFairLossy } from './graph/omega.ts'
export { playPaced, timelyPace } from './graph/paced-play.ts'
export type { Algorithm, Setting } from './model/algorithm.ts'
export type { TimeUnit } from './picture/event-text.ts'
export { sequenceChart } from './picture/sequence-chart.ts'
export { spaceTimePage } from './picture/space-time-page.ts'
export { type SpaceTimePlay, spaceTimeSvg } from './picture/space-time-svg.ts'
export { beyondOf, playBeyond } from './play/beyond.ts'
export { playSeed } from './play/seeds.ts'
export { playTimely, type TimelyCrash } from './play/timely.ts'
export { AgreementWorld, type Scene, type WorldEvent } from './play/world.ts'
export { AgreementCrew } from './real/agreement-crew.ts'
export { liesOf } from './real/lies.ts'
export { playReal } from './real/play-real.ts'
