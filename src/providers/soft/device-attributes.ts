import type { DeviceAttributes } from '../contract.ts'
import {
  DEVICE_MEMORY_BYTES,
  MANY,
  MAX_COMPLETIONS,
  MAX_INLINE_BYTES,
  MAX_KEYS,
  MAX_MESSAGE_BYTES,
  MAX_MULTICAST_GROUPS,
  MAX_READ_ATOMIC,
  MAX_REQUESTS,
  MAX_SEGMENTS,
} from './limits.ts'

/** What media differ in. */
type MediumAttributes = Pick<
  DeviceAttributes,
  'name' | 'provider' | 'maxQueuePairs' | 'maxCompletionQueues' | 'atomics' | 'linkLayer'
>

export function deviceAttributes(medium: MediumAttributes): DeviceAttributes {
  const { maxQueuePairs } = medium
  return {
    ...medium,
    maxRequests: MAX_REQUESTS,
    maxSegments: MAX_SEGMENTS,
    maxInlineBytes: MAX_INLINE_BYTES,
    maxCompletions: MAX_COMPLETIONS,
    maxMemoryRegions: MAX_KEYS,
    maxMemoryRegionBytes: 2 ** 32,
    maxMemoryWindows: MAX_KEYS,
    maxDeviceMemoryBytes: DEVICE_MEMORY_BYTES,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    maxReadAtomic: MAX_READ_ATOMIC,
    maxInitiatorReadAtomic: MAX_READ_ATOMIC,
    maxProtectionDomains: MANY,
    maxSharedReceiveQueues: maxQueuePairs,
    maxSharedReceiveRequests: MAX_REQUESTS,
    maxSharedReceiveSegments: MAX_SEGMENTS,
    maxAddressHandles: MANY,
    maxMulticastGroups: MAX_MULTICAST_GROUPS,
    maxMulticastQueuePairs: maxQueuePairs,
    completionVectors: 1,
    firmwareVersion: '',
    nodeGuid: '',
    vendorId: 0,
    portCount: 1,
  }
}
