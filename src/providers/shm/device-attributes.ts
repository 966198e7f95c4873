import type { DeviceAttributes } from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { Gid } from '../gid.ts'
import type { PairCapabilities } from '../pair-capabilities.ts'
import type { GidEntry, PortAttributes } from '../port.ts'
import { DEVICE_MEMORY_BYTES } from '../soft/device-memory.ts'
import { MAX_MULTICAST_GROUPS } from '../soft/memberships.ts'
import { MAX_READ_ATOMIC } from '../soft/queue-pair-attributes.ts'
import {
  MAX_COMPLETION_QUEUES,
  MAX_COMPLETIONS,
  MAX_INLINE_BYTES,
  MAX_KEYS,
  MAX_MESSAGE_BYTES,
  MAX_QUEUE_PAIRS,
  MAX_REGION_BYTES,
  MAX_REQUESTS,
  MAX_SEGMENTS,
} from './layout.ts'

/** A datagram is at most one packet of the largest MTU. */
export const MAX_DATAGRAM_BYTES = 4096
/**
 * Address handles and protection domains are plain objects of this process. The limit only tells a leak from a plan.
 */
const MANY: number = 1 << 16

/** The initiator's processor writes, and may be stopped in the middle of it, so rights are advisory. */
export const shmCapabilities: PairCapabilities = {
  ordered: true,
  permissions: false,
  atomics: true,
  immediate: true,
  remoteCompletion: true,
  loadStore: true,
}

export function deviceAttributes(name: string): DeviceAttributes {
  return {
    name,
    provider: 'shm',
    maxQueuePairs: MAX_QUEUE_PAIRS,
    maxRequests: MAX_REQUESTS,
    maxSegments: MAX_SEGMENTS,
    maxInlineBytes: MAX_INLINE_BYTES,
    maxCompletionQueues: MAX_COMPLETION_QUEUES,
    maxCompletions: MAX_COMPLETIONS,
    maxMemoryRegions: MAX_KEYS,
    maxMemoryRegionBytes: MAX_REGION_BYTES,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    maxReadAtomic: MAX_READ_ATOMIC,
    maxInitiatorReadAtomic: MAX_READ_ATOMIC,
    atomics: 'global',
    maxProtectionDomains: MANY,
    maxSharedReceiveQueues: MAX_QUEUE_PAIRS,
    maxSharedReceiveRequests: MAX_REQUESTS,
    maxSharedReceiveSegments: MAX_SEGMENTS,
    maxAddressHandles: MANY,
    maxMulticastGroups: MAX_MULTICAST_GROUPS,
    maxMulticastQueuePairs: MAX_QUEUE_PAIRS,
    maxMemoryWindows: MAX_KEYS,
    maxDeviceMemoryBytes: DEVICE_MEMORY_BYTES,
    completionVectors: 1,
    firmwareVersion: '',
    nodeGuid: '',
    vendorId: 0,
    portCount: 1,
    linkLayer: 'shared-memory',
  }
}

export function checkPort(verb: string, port: number): void {
  if (port !== 1) throw new VerbsError(verb, Errno.EINVAL, `the shm device has port 1 only, not ${port}`)
}

/** The one port is up as long as the process lives. Memory has no lanes, so its speed has no meaning. */
export function portAttributes(port: number): PortAttributes {
  checkPort('ibv_query_port', port)
  return {
    port,
    state: 'active',
    linkLayer: 'shared-memory',
    maxMtu: MAX_DATAGRAM_BYTES,
    activeMtu: MAX_DATAGRAM_BYTES,
    gidCount: 1,
    partitionKeyCount: 1,
    localIdentifier: 0,
    subnetManagerLocalIdentifier: 0,
    localIdentifierMaskControl: 0,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    gigabitsPerSecond: 0,
    physicalState: 'LinkUp',
  }
}

export function gidEntries(port: number, gid: Gid): readonly GidEntry[] {
  checkPort('ibv_query_gid_table', port)
  return [{ index: 0, gid, type: 'shared-memory' }]
}

/** EINVAL if no completion queue can be that deep. */
export function checkDepth(verb: string, depth: number): void {
  if (depth > MAX_COMPLETIONS)
    throw new VerbsError(verb, Errno.EINVAL, `a queue holds at most ${MAX_COMPLETIONS} completions, not ${depth}`)
}
