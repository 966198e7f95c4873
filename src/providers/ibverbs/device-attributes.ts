import type { VerbsDeviceFacts, VerbsPortFacts } from '../../native/index.ts'
import type { DeviceAttributes } from '../contract.ts'
import type { PairCapabilities } from '../pair-capabilities.ts'
import { linkLayerOf } from './port-attributes.ts'

/** By `enum ibv_atomic_cap`. */
const atomics: readonly DeviceAttributes['atomics'][] = ['none', 'device', 'global']

/** What queue pairs of the device can at most. */
export function deviceCapabilities({ atomics, linkLayer }: DeviceAttributes): PairCapabilities {
  const isIwarp = linkLayer === 'iwarp'
  return {
    ordered: true,
    permissions: true,
    atomics: atomics !== 'none',
    // iWARP has neither immediate values of its own, nor an acknowledgement of what has been placed.
    immediate: !isIwarp,
    remoteCompletion: !isIwarp,
    loadStore: false,
  }
}

export function deviceAttributes(
  opened: Pick<DeviceAttributes, 'name' | 'provider' | 'completionVectors'>,
  facts: VerbsDeviceFacts,
  port: VerbsPortFacts,
  probeMaxInlineBytes: () => number,
): DeviceAttributes {
  let maxInlineBytes: number | undefined
  return {
    ...opened,
    maxQueuePairs: facts.maxQueuePairs,
    maxRequests: facts.maxRequests,
    maxSegments: facts.maxSegments,
    /** Found out on the first read: that takes some queue pairs. */
    get maxInlineBytes() {
      maxInlineBytes ??= probeMaxInlineBytes()
      return maxInlineBytes
    },
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
    firmwareVersion: facts.firmware,
    nodeGuid: facts.nodeGuid,
    vendorId: facts.vendorId,
    portCount: facts.portCount,
    linkLayer: linkLayerOf(port),
  }
}
