import type { DeviceAttributes } from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { Gid } from '../gid.ts'
import type { PairCapabilities } from '../pair-capabilities.ts'
import type { GidEntry, PortAttributes } from '../port.ts'
import { DEVICE_MEMORY_BYTES } from '../soft/device-memory.ts'
import { MAX_MULTICAST_GROUPS } from '../soft/memberships.ts'
import { MAX_READ_ATOMIC } from '../soft/queue-pair-attributes.ts'
import { MAX_KEYS } from './key-table.ts'

export const MAX_REQUESTS: number = 1 << 16
export const MAX_SEGMENTS = 32
export const MAX_INLINE_BYTES = 1024
export const MAX_MTU = 4096
const MAX_COMPLETIONS: number = 1 << 22
const MAX_MESSAGE_BYTES: number = 2 ** 31
/** Objects of this process. The limit only tells a leak from a plan. */
const MANY: number = 1 << 16

export const simCapabilities: PairCapabilities = {
  ordered: true,
  permissions: true,
  atomics: true,
  immediate: true,
  remoteCompletion: true,
  loadStore: false,
}

export function deviceAttributes(name: string, atomics: 'device' | 'global'): DeviceAttributes {
  return {
    name,
    provider: 'sim',
    maxQueuePairs: MANY,
    maxRequests: MAX_REQUESTS,
    maxSegments: MAX_SEGMENTS,
    maxInlineBytes: MAX_INLINE_BYTES,
    maxCompletionQueues: MANY,
    maxCompletions: MAX_COMPLETIONS,
    maxMemoryRegions: MAX_KEYS,
    maxMemoryRegionBytes: 2 ** 32,
    maxMemoryWindows: MAX_KEYS,
    maxDeviceMemoryBytes: DEVICE_MEMORY_BYTES,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    maxReadAtomic: MAX_READ_ATOMIC,
    maxInitiatorReadAtomic: MAX_READ_ATOMIC,
    atomics,
    maxProtectionDomains: MANY,
    maxSharedReceiveQueues: MANY,
    maxSharedReceiveRequests: MAX_REQUESTS,
    maxSharedReceiveSegments: MAX_SEGMENTS,
    maxAddressHandles: MANY,
    maxMulticastGroups: MAX_MULTICAST_GROUPS,
    maxMulticastQueuePairs: MANY,
    completionVectors: 1,
    firmwareVersion: '',
    nodeGuid: '',
    vendorId: 0,
    portCount: 1,
    linkLayer: 'ethernet',
  }
}

export function checkPort(verb: string, port: number): void {
  if (port !== 1) throw new VerbsError(verb, Errno.EINVAL, `a simulated device has port 1 only, not ${port}`)
}

export function portAttributes(port: number, up: boolean, gigabitsPerSecond: number): PortAttributes {
  checkPort('ibv_query_port', port)
  return {
    port,
    state: up ? 'active' : 'down',
    linkLayer: 'ethernet',
    maxMtu: MAX_MTU,
    activeMtu: MAX_MTU,
    gidCount: 1,
    partitionKeyCount: 1,
    localIdentifier: 0,
    subnetManagerLocalIdentifier: 0,
    localIdentifierMaskControl: 0,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    gigabitsPerSecond,
    physicalState: up ? 'LinkUp' : 'Disabled',
  }
}

export function gidEntries(port: number, gid: Gid): readonly GidEntry[] {
  checkPort('ibv_query_gid_table', port)
  return [{ index: 0, gid, type: 'roce-v2' }]
}

/** EINVAL if no completion queue can be that deep. */
export function checkDepth(verb: string, depth: number): void {
  if (depth > MAX_COMPLETIONS)
    throw new VerbsError(verb, Errno.EINVAL, `a queue holds at most ${MAX_COMPLETIONS} completions, not ${depth}`)
}
