import { UnsupportedError } from '../../native/index.ts'
import { Access, type Device, VerbsError } from '../../verbs/index.ts'

/** What a device can do, by name. */
export type Capabilities = Readonly<Record<string, boolean>>

/** Each makes one object and gives it back. */
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
 * Found by doing: the object is made, not yet used, on a device opened without options. No is `UnsupportedError`, and
 * EPERM where an option or a privilege is needed; an error of another kind (no memory left to lock, say) is thrown.
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
