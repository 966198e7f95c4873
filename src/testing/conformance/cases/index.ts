import type { ConformanceCase } from '../case.ts'
import { atomicCases } from './atomics.ts'
import { errorCases } from './errors.ts'
import { eventCases } from './events.ts'
import { memoryCases } from './memory.ts'
import { oneSidedCases } from './one-sided.ts'
import { queueCases } from './queues.ts'
import { transitionCases } from './transitions.ts'
import { twoSidedCases } from './two-sided.ts'

/** Every case, in the order in which they build on each other. */
export const conformanceCases: readonly ConformanceCase[] = [
  ...memoryCases,
  ...transitionCases,
  ...queueCases,
  ...oneSidedCases,
  ...twoSidedCases,
  ...atomicCases,
  ...eventCases,
  ...errorCases,
]
