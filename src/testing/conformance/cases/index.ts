import type { ConformanceCase } from '../case.ts'
import { addressSpaceCases } from './address-spaces.ts'
import { atomicCases } from './atomics.ts'
import { deviceMemoryCases } from './device-memory.ts'
import { errorCases } from './errors.ts'
import { eventCases } from './events.ts'
import { indirectKeyCases } from './indirect-keys.ts'
import { maskedAtomicCases } from './masked-atomics.ts'
import { memoryCases } from './memory.ts'
import { oneSidedCases } from './one-sided.ts'
import { parentDomainCases } from './parent-domains.ts'
import { queueCases } from './queues.ts'
import { reregisterCases } from './reregister.ts'
import { otherTransitionCases, transitionCases } from './transitions.ts'
import { twoSidedCases } from './two-sided.ts'
import { windowCases } from './windows.ts'

/** Every case, in the order in which they build on each other. */
export const conformanceCases: readonly ConformanceCase[] = [
  ...memoryCases,
  ...transitionCases,
  ...queueCases,
  ...oneSidedCases,
  ...twoSidedCases,
  ...atomicCases,
  ...maskedAtomicCases,
  ...windowCases,
  ...reregisterCases,
  ...deviceMemoryCases,
  ...addressSpaceCases,
  ...indirectKeyCases,
  ...parentDomainCases,
  ...eventCases,
  ...errorCases,
  ...otherTransitionCases,
]
