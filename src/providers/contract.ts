/**
 * The seam: what `verbs/` needs from a provider, and nothing more.
 *
 * Rules for every provider:
 * - Everything is synchronous except what is called `…Async`.
 * - A provider makes progress inside `poll`, `postSend` and `postReceive`. So a thread that never returns to its event
 *   loop still gets its timers and learns of its peers' deaths. If the thread is idle, the provider makes progress by
 *   itself.
 * - Numbers are in host order and exact below 2^53. Failing calls throw VerbsError. Posting is hot, so it returns an
 *   errno.
 * - A provider object belongs to the JavaScript environment (thread) that made it.
 * - `destroy` refuses with EBUSY while another object uses this one, and names what is alive. The nouns above close in
 *   the right order.
 */
import type { AddressVector, ProviderAddressHandle } from './address.ts'
import type { ProviderAsyncEvent } from './async-event.ts'
import type { ProviderCompletionChannel, ProviderCompletionQueue } from './completion-contract.ts'
import type { Gid } from './gid.ts'
import type {
  Advice,
  AdvisedRange,
  AllocateOptions,
  BufferOrigin,
  MemoryWindowType,
  ProviderDeviceMemory,
  ProviderIndirectKey,
  ProviderMemoryWindow,
  ProviderThreadDomain,
} from './memory-contract.ts'
import type { ProviderPending } from './pending.ts'
import type { GidEntry, LinkLayer, PortAttributes } from './port.ts'
import type { ProviderQueuePair, ProviderQueuePairOptions } from './queue-pair-contract.ts'
import type { ProviderSharedReceiveQueue, ProviderSharedReceiveQueueOptions } from './shared-receive-queue.ts'
import type { ProviderXrcDomain, XrcDomainOptions } from './xrc-domain.ts'

/** Limits and identity, as returned by ibv_query_device(3) and ibv_query_port(3). */
export interface DeviceAttributes {
  readonly name: string
  readonly provider: string
  readonly maxQueuePairs: number
  readonly maxRequests: number
  readonly maxSegments: number
  /**
   * The most that a queue pair is given. An RDMA device does not report it. So the first read creates some queue pairs
   * to find it out.
   */
  readonly maxInlineBytes: number
  readonly maxCompletionQueues: number
  readonly maxCompletions: number
  readonly maxMemoryRegions: number
  readonly maxMemoryRegionBytes: number
  readonly maxMemoryWindows: number
  /** 0 if the device has no memory of its own to give. */
  readonly maxDeviceMemoryBytes: number
  readonly maxMessageBytes: number
  /** READs and atomics that a queue pair serves at a time, as responder (max_qp_rd_atom). */
  readonly maxReadAtomic: number
  /** READs and atomics that a queue pair has under way at a time, as initiator (max_qp_init_rd_atom). */
  readonly maxInitiatorReadAtomic: number
  /** `none`; `device`: atomic among accesses of this device; `global`: also towards the processor. */
  readonly atomics: 'none' | 'device' | 'global'
  readonly maxProtectionDomains: number
  readonly maxSharedReceiveQueues: number
  readonly maxSharedReceiveRequests: number
  readonly maxSharedReceiveSegments: number
  readonly maxAddressHandles: number
  readonly maxMulticastGroups: number
  /** Queue pairs that may be attached to one multicast group. */
  readonly maxMulticastQueuePairs: number
  /** Numbers below this may be given as a completion queue's `vector` (num_comp_vectors). */
  readonly completionVectors: number
  /** As the device reports it; empty if it has none. */
  readonly firmwareVersion: string
  /** 64 bits in hexadecimal, as `ibv_devinfo` prints it; empty if it has none. */
  readonly nodeGuid: string
  readonly vendorId: number
  readonly portCount: number
  readonly linkLayer: LinkLayer
}

/** What `reregister` changes; what is left out stays as it is. */
export interface ReregisterChanges {
  readonly access?: number
  readonly domain?: ProviderProtectionDomain
  readonly buffer?: Uint8Array
  /** The origin of `buffer`. */
  readonly origin?: BufferOrigin
}

export interface ProviderMemoryRegion {
  readonly token: number
  /**
   * Empty if the program itself cannot touch the memory: device memory, physical memory of a real device, a whole
   * address space.
   */
  readonly bytes: Uint8Array
  /** The address of the first byte in requests; 0 if the region is zero-based. */
  readonly address: number
  readonly length: number
  readonly localKey: number
  readonly remoteKey: number
  readonly access: number
  /** Where its bytes lie in a shared memory object, by a descriptor that is the region's; undefined elsewhere. */
  readonly origin?: BufferOrigin | undefined
  /**
   * ibv_rereg_mr(3). Address, length and both keys may have changed afterwards. If it throws, nothing has changed, or
   * the old registration is lost; then every further use of the region fails.
   */
  reregister(changes: ReregisterChanges): void
  /**
   * Withdraw the keys, wait for remote accesses that are under way, and free what `allocate` took. EBUSY if a peer does
   * not end its access, or while a memory window is bound to the region.
   */
  destroy(): void
}

export interface ProviderProtectionDomain {
  allocate(lengthBytes: number, access: number, options: AllocateOptions): ProviderMemoryRegion
  register(buffer: Uint8Array, access: number, origin: BufferOrigin | undefined): ProviderMemoryRegion
  /** The same two off the event loop, as far as there is anything to wait for. */
  allocateAsync(lengthBytes: number, access: number, options: AllocateOptions): ProviderPending<ProviderMemoryRegion>
  registerAsync(
    buffer: Uint8Array,
    access: number,
    origin: BufferOrigin | undefined,
  ): ProviderPending<ProviderMemoryRegion>
  /** Register `length` bytes of `memory` from `offset` on, zero-based: ibv_reg_dm_mr(3). EINVAL beyond its end. */
  registerDeviceMemory(
    memory: ProviderDeviceMemory,
    offset: number,
    length: number,
    access: number,
  ): ProviderMemoryRegion
  /**
   * Register the whole address space of this process, paged on demand: ibv_reg_mr(3) with address 0 and length
   * SIZE_MAX.
   */
  registerImplicit(access: number): ProviderMemoryRegion
  /** Register physical memory: requests name physical addresses. */
  registerPhysical(access: number): ProviderMemoryRegion
  /** ibv_advise_mr(3). `flush` waits until it is done. */
  advise(advice: Advice, flush: boolean, ranges: readonly AdvisedRange[]): void
  createMemoryWindow(type: MemoryWindowType): ProviderMemoryWindow
  /** mlx5dv_create_mkey(3), for at least `maxPieces` pieces. */
  createIndirectKey(maxPieces: number): ProviderIndirectKey
  /** A domain that shares this one's protection: ibv_alloc_parent_domain(3). */
  createParentDomain(threadDomain: ProviderThreadDomain | undefined): ProviderProtectionDomain
  createQueuePair(options: ProviderQueuePairOptions): ProviderQueuePair
  /**
   * A further handle on an `xrc-receive` queue pair, which another process may have created: ibv_open_qp(3). EINVAL if
   * there is none.
   */
  openQueuePair(domain: ProviderXrcDomain, number: number): ProviderQueuePair
  createSharedReceiveQueue(options: ProviderSharedReceiveQueueOptions): ProviderSharedReceiveQueue
  /** EINVAL if the vector cannot be used on this link layer. */
  createAddressHandle(vector: AddressVector): ProviderAddressHandle
  destroy(): void
}

export interface ProviderDevice {
  readonly attributes: DeviceAttributes
  /** The port that the device talks through; 1 unless it was opened with another. */
  readonly portNumber: number
  /** The gid that peers should use: of that port, the best by the provider's judgement. */
  readonly gid: Gid
  /** EINVAL if there is no such port. Ports count from 1. */
  queryPort(port: number): PortAttributes
  gids(port: number): readonly GidEntry[]
  createProtectionDomain(): ProviderProtectionDomain
  createCompletionChannel(): ProviderCompletionChannel
  /**
   * Allocate memory on the device, at an address that is a multiple of 2^`alignmentExponent`. ENOMEM if too little is
   * left.
   */
  allocateDeviceMemory(lengthBytes: number, alignmentExponent: number): ProviderDeviceMemory
  createThreadDomain(): ProviderThreadDomain
  /** `vector` spreads the interrupts of a device over processors; EINVAL beyond `completionVectors`. */
  createCompletionQueue(
    depth: number,
    channel: ProviderCompletionChannel | undefined,
    vector: number,
  ): ProviderCompletionQueue
  openXrcDomain(options: XrcDomainOptions): ProviderXrcDomain
  /** Readable while an asynchronous event is waiting. */
  readonly asyncDescriptor: number
  /** Take (and acknowledge) all waiting asynchronous events, oldest first. Returns their number. Never blocks. */
  drainEvents(take: (event: ProviderAsyncEvent) => void): number
  /** Like a completion channel's `whenReadable`, for asynchronous events. */
  whenEvent(ready: () => void, keepAlive: boolean): () => void
  /** Let pending work make progress now, as a poll would. */
  progress(): void
  destroy(): void
}

/** A provider: its devices by name. */
export interface Provider {
  readonly name: string
  /** The names of its devices, without opening them. */
  deviceNames(): string[]
  /** The device, or undefined if the name is not one of this provider's. */
  open(name: string, options: OpenDeviceOptions): ProviderDevice | undefined
  /** Why it has no devices, and how to fix that; undefined if it has some. */
  whyNone?(): string | undefined
}

export interface OpenDeviceOptions {
  /**
   * shm only: let other processes of this user copy from and to memory that was registered without a memory object
   * (PR_SET_PTRACER under Yama). Off by default, since it opens the whole process to them.
   */
  readonly allowProcessCopy?: boolean
  /**
   * shm only: how many bytes of "physical memory" this device has. Any process that holds a key of `registerPhysical`
   * can reach all of them by offset. Default 0: no physical memory, and no such keys.
   */
  readonly physicalBytes?: number
  /** ibverbs only: the port to talk through; default 1. */
  readonly port?: number
  /** ibverbs only: the gid to talk from, by its index in the port's table; default: the one with the best score. */
  readonly sourceGidIndex?: number
  /**
   * tcp only: what all devices that connect have in common; one that does not know it is refused. Default: the secret
   * in the file that AETHER_SECRET_FILE names. Without one, only processes of this machine connect.
   */
  readonly secret?: Uint8Array
  /** ibverbs only: which gids to prefer on Ethernet; default ipv4. */
  readonly addressFamily?: 'ipv4' | 'ipv6'
}
