/**
 * Whole clusters of coherent memory in virtual time. The engine and the mesh of the agents run over simulated devices,
 * and programs load, store and count on a few pages. Everything that goes wrong comes from one seed.
 *
 * ```ts
 * import { planSimulation, simulate } from 'aether-dsm/testing'
 *
 * const { violation, traceHash } = simulate(planSimulation(7))
 * ```
 */
export type { Observation } from './access.ts'
export type { Hazard } from './hazard.ts'
export { type PlanOptions, planSimulation, type SimulationPlan } from './plan.ts'
export { runSeeds } from './run-seeds.ts'
export { checkSequentialConsistency } from './sequential-consistency.ts'
export { shorten } from './shorten.ts'
export { type SimulationResult, simulate } from './simulate.ts'
export type { SeedReport } from './simulation-worker.ts'
