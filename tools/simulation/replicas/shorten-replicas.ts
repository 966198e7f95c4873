import type { ReplicaPlan } from './replica-plan.ts'
import { simulateReplicas } from './simulate-replicas.ts'

/** A failing plan without the hazards, strikes and joins that it fails without, and what it violates. */
export function shortenReplicas(failing: ReplicaPlan): {
  readonly plan: ReplicaPlan
  readonly violation: string | undefined
} {
  let plan = failing
  let violation = simulateReplicas(plan).violation
  for (const part of ['hazards', 'strikes', 'joins'] as const)
    for (let index = plan[part].length - 1; index >= 0 && violation !== undefined; index -= 1) {
      const fewer = { ...plan, [part]: plan[part].filter((_, at) => at !== index) }
      const without = simulateReplicas(fewer).violation
      if (without !== undefined) [plan, violation] = [fewer, without]
    }
  return { plan, violation }
}
