/**
 * Litmus tests: real processes store to and load from a few shared locations, a hundred thousand times, and every
 * outcome is counted.
 *
 * ```ts
 * for (const { shape, axis, outcomes, forbidden } of await runLitmus({ rounds: 1000 }))
 *   console.log(shape, axis.coherence, forbidden, outcomes)
 * ```
 *
 * What is allowed is not written down but computed: every interleaving of a shape gives the outcomes of sequential
 * consistency, and of each location by itself those of coherence.
 */
export type { LitmusMemory, OpenMemory } from './litmus-memory.ts'
export { allowedOutcomes, serialOutcomes } from './model.ts'
export { formatOutcome, satisfies } from './outcome.ts'
export { type Access, type Axis, accesses } from './plan.ts'
export {
  axesFor,
  type LitmusOptions,
  type LitmusResult,
  litmusKinds,
  runLitmus,
} from './run-litmus.ts'
export { parseShape } from './shape.ts'
export { shapes } from './shapes.ts'
