import type { ConformanceCase } from '../case.ts'
import { addressSpaceCases } from './address-spaces.ts'
import { asyncEventCases } from './async-events.ts'
import { atomicCases } from './atomics.ts'
import { capabilityCases } from './capabilities.ts'
import { datagramCases } from './datagrams.ts'
import { deviceMemoryCases } from './device-memory.ts'
import { drainedCases } from './drained.ts'
import { dynamicCases } from './dynamic.ts'
import { errorCases } from './errors.ts'
import { eventCases } from './events.ts'
import { indirectKeyCases } from './indirect-keys.ts'
import { maskedAtomicCases } from './masked-atomics.ts'
import { memoryCases } from './memory.ts'
import { oneSidedCases } from './one-sided.ts'
import { parentDomainCases } from './parent-domains.ts'
import { queueCases } from './queues.ts'
import { rateLimitCases } from './rate-limits.ts'
import { reregisterCases } from './reregister.ts'
import { sharedReceiveCases } from './shared-receives.ts'
import { otherTransitionCases, transitionCases } from './transitions.ts'
import { twoSidedCases } from './two-sided.ts'
import { unreliableCases } from './unreliable.ts'
import { windowCases } from './windows.ts'
import { xrcCases } from './xrc.ts'

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
  ...unreliableCases,
  ...datagramCases,
  ...sharedReceiveCases,
  ...drainedCases,
  ...rateLimitCases,
  ...capabilityCases,
  ...asyncEventCases,
  ...xrcCases,
  ...dynamicCases,
  ...errorCases,
  ...otherTransitionCases,
]
