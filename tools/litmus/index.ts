/**
 * Litmus tests: real processes store to and load from a few shared locations, a hundred thousand times, and every
 * outcome is counted.
 *
 * ```ts
 * for (const { shape, axis, outcomes, forbidden } of await runLitmus({ rounds: 1000 }))
 *   console.log(shape, axis.coherence, forbidden, outcomes)
 * ```
 *
 * The allowed outcomes are computed, not listed. The interleavings of a whole shape give the outcomes of sequential
 * consistency; the interleavings of each location give those of coherence.
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
