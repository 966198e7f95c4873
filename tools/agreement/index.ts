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
 */
export { algorithms } from './algorithms.ts'
export type { Algorithm } from './model/algorithm.ts'
export { sequenceChart } from './picture/sequence-chart.ts'
export { beyondOf, playBeyond } from './play/beyond.ts'
export { playSeed } from './play/seeds.ts'
export { playTimely } from './play/timely.ts'
export { AgreementWorld, type WorldEvent } from './play/world.ts'
