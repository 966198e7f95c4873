import type { VerbsDeviceFacts, VerbsPortFacts } from '../../native/index.ts'
import type { DeviceAttributes } from '../contract.ts'
import { linkLayerOf } from './port-attributes.ts'

/** By `enum ibv_atomic_cap`. */
const atomics: readonly DeviceAttributes['atomics'][] = ['none', 'device', 'global']

export function deviceAttributes(
  name: string,
  facts: VerbsDeviceFacts,
  port: VerbsPortFacts,
  completionVectors: number,
): DeviceAttributes {
  return {
    name,
    provider: 'ibverbs',
    maxQueuePairs: facts.maxQueuePairs,
    maxRequests: facts.maxRequests,
    maxSegments: facts.maxSegments,
    // No verb tells: what a queue pair got is in its capacities.
    maxInlineBytes: 0,
    maxCompletionQueues: facts.maxCompletionQueues,
    maxCompletions: facts.maxCompletions,
    maxMemoryRegions: facts.maxMemoryRegions,
    maxMemoryRegionBytes: facts.maxMemoryRegionBytes,
    maxMemoryWindows: facts.maxMemoryWindows,
    maxDeviceMemoryBytes: facts.maxDeviceMemoryBytes,
    maxMessageBytes: port.maxMessageBytes,
    maxReadAtomic: facts.maxReadAtomicTarget,
    maxInitiatorReadAtomic: facts.maxReadAtomicInitiator,
    atomics: atomics[facts.atomicCapability] ?? 'none',
    maxProtectionDomains: facts.maxProtectionDomains,
    maxSharedReceiveQueues: facts.maxSharedReceiveQueues,
    maxSharedReceiveRequests: facts.maxSharedReceiveRequests,
    maxSharedReceiveSegments: facts.maxSharedReceiveSegments,
    maxAddressHandles: facts.maxAddressHandles,
    maxMulticastGroups: facts.maxMulticastGroups,
    maxMulticastQueuePairs: facts.maxMulticastQueuePairs,
    completionVectors,
    firmwareVersion: facts.firmware,
    nodeGuid: facts.nodeGuid,
    vendorId: facts.vendorId,
    portCount: facts.portCount,
    linkLayer: linkLayerOf(port),
  }
}
