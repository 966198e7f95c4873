import type { Protocol } from 'aether-dsm/internal/dsm'
import { type PlanOptions, planSimulation } from './plan.ts'
import { type SimulationResult, simulate } from './simulate.ts'

/** A failing run with as few hazards as it takes: those of the seed by their index, and what came of the run. */
export interface Shortened {
  readonly hazards: readonly number[]
  readonly result: SimulationResult
}

/**
 * Leave out one hazard after the other, as long as something is violated without it. Chance elsewhere does not change
 * with that.
 */
export function shorten(seed: number, options: PlanOptions = {}, protocol?: Protocol): Shortened {
  let hazards: readonly number[] = options.hazards ?? planSimulation(seed, options).hazards.map((_, index) => index)
  let result = simulate(planSimulation(seed, { ...options, hazards }), protocol)
  for (let again = true; again; ) {
    again = false
    for (const hazard of hazards) {
      const fewer = hazards.filter((each) => each !== hazard)
      const without = simulate(planSimulation(seed, { ...options, hazards: fewer }), protocol)
      if (without.violation === undefined) continue
      hazards = fewer
      result = without
      again = true
      break
    }
  }
  return { hazards, result }
}
