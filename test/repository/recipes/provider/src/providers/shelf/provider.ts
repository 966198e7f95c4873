import { UnsupportedError } from '../../native/index.ts'
import type { ProviderCompletionQueue } from '../completion-contract.ts'
import type { Provider, ProviderDevice, ProviderMemoryRegion, ProviderProtectionDomain } from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import { makeSoon } from '../pending.ts'
import { checkNewQueue, checkResize } from '../soft/completion-queue-rules.ts'
import { deviceAttributes } from '../soft/device-attributes.ts'
import { checkAccess } from '../soft/memory-access.ts'
import { OnlyPort } from '../soft/only-port.ts'

const NAME = 'shelf0'
const GID = 1n

/** The first step of a provider: memory lies on it, and nothing moves. */
export const shelfProvider: Provider = {
  name: 'shelf',
  deviceNames: () => [NAME],
  open: (name) => (name === NAME ? shelfDevice() : undefined),
}

function shelfDevice(): ProviderDevice {
  const port = new OnlyPort('a shelf', 'shared-memory', 'shared-memory', GID)
  return {
    attributes: deviceAttributes({
      name: NAME,
      provider: 'shelf',
      maxQueuePairs: 0,
      maxCompletionQueues: 1 << 16,
      atomics: 'none',
      linkLayer: 'shared-memory',
    }),
    portNumber: 1,
    gid: GID,
    asyncDescriptor: -1,
    queryPort: (number) => port.query(number, true, 0),
    gids: (number) => port.gids(number),
    createProtectionDomain: shelfDomain,
    createCompletionChannel: () => unsupported('ibv_create_comp_channel'),
    createCompletionQueue: (depth, _channel, vector) => shelfQueue(depth, vector),
    allocateDeviceMemory: () => unsupported('ibv_alloc_dm'),
    createThreadDomain: () => unsupported('ibv_alloc_td'),
    openXrcDomain: () => unsupported('ibv_open_xrcd'),
    drainEvents: () => 0,
    whenEvent: () => () => undefined,
    progress() {},
    destroy() {},
  }
}

function shelfDomain(): ProviderProtectionDomain {
  const memories = new Set<ProviderMemoryRegion>()
  const put = (bytes: Uint8Array, access: number): ProviderMemoryRegion => {
    checkAccess('ibv_reg_mr', access)
    const region = shelfMemory(bytes, access, () => memories.delete(region))
    memories.add(region)
    return region
  }
  const allocate = (lengthBytes: number, access: number): ProviderMemoryRegion =>
    put(new Uint8Array(lengthBytes), access)
  return {
    allocate,
    register: put,
    allocateAsync: (lengthBytes, access) => makeSoon('ibv_reg_mr', () => allocate(lengthBytes, access)),
    registerAsync: (buffer, access) => makeSoon('ibv_reg_mr', () => put(buffer, access)),
    registerDeviceMemory: () => unsupported('ibv_reg_dm_mr'),
    registerImplicit: () => unsupported('ibv_reg_mr'),
    registerPhysical: () => unsupported('ibv_exp_reg_mr'),
    advise: () => unsupported('ibv_advise_mr'),
    createMemoryWindow: () => unsupported('ibv_alloc_mw'),
    createIndirectKey: () => unsupported('mlx5dv_create_mkey'),
    createParentDomain: () => unsupported('ibv_alloc_parent_domain'),
    createQueuePair: () => unsupported('ibv_create_qp'),
    openQueuePair: () => unsupported('ibv_open_qp'),
    createSharedReceiveQueue: () => unsupported('ibv_create_srq'),
    createAddressHandle: () => unsupported('ibv_create_ah'),
    destroy() {
      if (memories.size === 0) return
      throw new VerbsError('ibv_dealloc_pd', Errno.EBUSY, `still in use by ${memories.size} memory regions`)
    },
  }
}

let lastKey = 0

function shelfMemory(bytes: Uint8Array, access: number, destroy: () => void): ProviderMemoryRegion {
  lastKey += 1
  return {
    token: lastKey,
    bytes,
    address: 0,
    length: bytes.length,
    localKey: lastKey,
    remoteKey: lastKey,
    access,
    reregister: () => unsupported('ibv_rereg_mr'),
    destroy,
  }
}

function shelfQueue(depth: number, vector: number): ProviderCompletionQueue {
  checkNewQueue(depth, vector)
  return {
    depth,
    overrun: false,
    poll: () => 0,
    arm() {},
    resize: (wanted) => checkResize(wanted, 0),
    destroy() {},
  }
}

function unsupported(verb: string): never {
  throw new UnsupportedError(`${verb}: a shelf does not do it; use another device`)
}
