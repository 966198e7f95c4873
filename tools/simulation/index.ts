/**
 * Whole clusters of coherent memory in virtual time: the engine and the mesh of the agents over simulated devices,
 * programs that load, store and count on a few pages, and whatever may go wrong, all drawn from one seed.
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
