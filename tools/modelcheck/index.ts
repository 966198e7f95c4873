/**
 * A model checker for coherence protocols. It tries every interleaving of accesses, evictions and messages of a few
 * nodes and pages, breadth first. It runs the agent's own coherence node.
 *
 * ```ts
 * import { exploreModel } from 'aether-dsm/testing'
 *
 * const result = exploreModel({ protocol: mesi, nodes: 2, pages: 1, homes: 'same', threads: 'many', refusals: 1 })
 * console.log(result.states, result.violation?.trace)
 * ```
 */

export { comparePlays, type PlayDifference, type PlaysComparison } from './compare-plays.ts'
export { type CellName, cellsOf, cellText, type Side } from './coverage.ts'
export { type EquivalentFlips, equivalentFlips, whyEquivalent } from './equivalent-flips.ts'
export { type ExploreOptions, type ExploreResult, exploreModel } from './explorer.ts'
export { checkFlips, type FlipNet, type FlipOptions, type FlipReport, flipNets } from './flip-check.ts'
export { type Flip, flipsOf, withCell } from './flips.ts'
export type { Homes, Model, Threads } from './model.ts'
export { type CheckOptions, type CheckTask, planChecks } from './plan.ts'
export { formatPlays, type Play, parsePlays } from './play.ts'
export { type PlaysFound, recordPlays } from './record-plays.ts'
export { recordedPlays } from './recorded-plays.ts'
export { collisionOdds } from './state-set.ts'
export { type RunTasksOptions, runTasks, type Task, type TaskResult } from './tasks.ts'
export { type WalkOptions, type WalkResult, walkModel } from './walk.ts'
export type { Action as ModelAction } from './world.ts'
