import { UnsupportedError } from '../../native/index.ts'
import { Access, type Device, VerbsError } from '../../verbs/index.ts'

/** What a device can do, by name. */
export type Capabilities = Readonly<Record<string, boolean>>

/** Each probe creates one object and closes it. */
const probes: Readonly<Record<string, (device: Device) => void>> = {
  rc: (device) => makePair(device, 'rc'),
  uc: (device) => makePair(device, 'uc'),
  ud: (device) => makePair(device, 'ud'),
  xrc: (device) => device.openXrcDomain().close(),
  dc: (device) => makePair(device, 'dci'),
  'shared receive queues': (device) => inDomain(device, (domain) => domain.createSharedReceiveQueue().close()),
  'memory windows': (device) => inDomain(device, (domain) => domain.createMemoryWindow(2).close()),
  'device memory': (device) => device.allocateDeviceMemory(64).close(),
  'on-demand paging': (device) => inDomain(device, (domain) => domain.registerImplicit(Access.LocalWrite).close()),
  'physical memory': (device) => inDomain(device, (domain) => domain.registerPhysical(Access.LocalWrite).close()),
  'indirect keys': (device) => inDomain(device, (domain) => domain.createIndirectKey({ maxPieces: 1 }).close()),
  'thread domains': (device) => device.createThreadDomain().close(),
}

/**
 * What the device can do, found out by creating each kind of object on a device that was opened without options. An
 * `UnsupportedError` means no, and so does EPERM, if an option or a privilege is needed. Other errors are thrown, for
 * example if no memory is left to lock.
 */
export function probeCapabilities(device: Device): Capabilities {
  return Object.fromEntries(Object.entries(probes).map(([name, probe]) => [name, isOffered(probe, device)]))
}

function isOffered(probe: (device: Device) => void, device: Device): boolean {
  try {
    probe(device)
    return true
  } catch (error) {
    if (error instanceof UnsupportedError) return false
    if (error instanceof VerbsError && error.errnoName === 'EPERM') return false
    throw error
  }
}

function inDomain(device: Device, body: (domain: ReturnType<Device['createProtectionDomain']>) => void): void {
  const domain = device.createProtectionDomain()
  try {
    body(domain)
  } finally {
    domain.close()
  }
}

function makePair(device: Device, type: 'rc' | 'uc' | 'ud' | 'dci'): void {
  inDomain(device, (domain) => {
    const queue = device.createCompletionQueue({ depth: 4 })
    try {
      const queues = type === 'dci' ? { sendQueue: queue } : { sendQueue: queue, receiveQueue: queue }
      domain.createQueuePair({ type, ...queues, maxSendRequests: 1, maxReceiveRequests: 1 }).close()
    } finally {
      queue.close()
    }
  })
}
