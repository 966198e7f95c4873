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
import type { CompletionBatch } from './completion-batch.ts'
import type { EncodedRequest } from './encoded-request.ts'
import type { Gid } from './gid.ts'
import type {
  Advice,
  AdvisedRange,
  AllocateOptions,
  BufferOrigin,
  MemoryWindowType,
  ProviderDeviceMemory,
  ProviderIndirectKey,
  ProviderMemoryRegion,
  ProviderMemoryWindow,
  ProviderThreadDomain,
} from './memory-contract.ts'
import type { PairCapabilities } from './pair-capabilities.ts'
import type { ProviderPending } from './pending.ts'
import type { GidEntry, LinkLayer, PortAttributes } from './port.ts'
import type { QueuePairState, QueuePairType } from './queue-pair-state.ts'
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

export interface ProviderCompletionChannel {
  /** Readable while an event is waiting. */
  readonly descriptor: number
  /** Take all waiting events, and call `fired` once per queue that had one. Returns their number. Never blocks. */
  drain(fired: (queue: ProviderCompletionQueue) => void): number
  /**
   * Call `ready` once on the event loop when the descriptor is readable. Returns a function that cancels it. Until then
   * `keepAlive` keeps the event loop alive.
   */
  whenReadable(ready: () => void, keepAlive: boolean): () => void
  destroy(): void
}

export interface ProviderCompletionQueue {
  /** At least what was requested. */
  readonly depth: number
  /** True after an overrun: completions were lost, and the queue pairs that feed the queue are in the error state. */
  readonly overrun: boolean
  /** Fill `batch` from row 0. Returns the number of rows. A failed request is a row too. */
  poll(batch: CompletionBatch): number
  /**
   * Raise one event for the next completion that arrives from now on. With `solicitedOnly`, only for one that the
   * sender marked as solicited, or that failed. One-shot.
   */
  arm(solicitedOnly: boolean): void
  /**
   * Resize to at least `depth`; waiting completions stay. EINVAL if more than that are waiting, or if the device cannot
   * hold `depth`.
   */
  resize(depth: number): void
  destroy(): void
}

export interface ProviderQueuePairOptions {
  readonly type: QueuePairType
  /** Undefined for types that do not send: `xrc-receive`, `dct`. */
  readonly sendQueue: ProviderCompletionQueue | undefined
  /** Undefined for types that do not receive: `xrc-send`, `xrc-receive`, `dci`. */
  readonly receiveQueue: ProviderCompletionQueue | undefined
  /** Where receives come from; `dct` must have one. */
  readonly sharedReceiveQueue: ProviderSharedReceiveQueue | undefined
  /** `xrc-receive` only. */
  readonly xrcDomain: ProviderXrcDomain | undefined
  /** `dct` only: the key that senders must name. */
  readonly dcAccessKey: bigint | undefined
  readonly maxSendRequests: number
  readonly maxReceiveRequests: number
  readonly maxSendSegments: number
  readonly maxReceiveSegments: number
  readonly maxInlineBytes: number
  /** Every send request makes a completion. */
  readonly signalAll: boolean
}

/**
 * What `modify` takes and `query` returns; a present property is a set bit of the attribute mask. Units are those of
 * ibv_modify_qp(3).
 */
export interface QueuePairAttributes {
  state?: QueuePairState
  currentState?: QueuePairState
  sqdNotify?: boolean
  access?: number
  partitionKeyIndex?: number
  port?: number
  queueKey?: number
  addressVector?: AddressVector
  /** In bytes: 256, 512, 1024, 2048 or 4096. */
  pathMtu?: number
  /** Exponent 0..31: 4.096 µs × 2^timeout; 0 waits for ever. */
  timeout?: number
  /** 0..7. */
  retryCount?: number
  /** 0..7; 7 retries for ever. */
  rnrRetry?: number
  receivePsn?: number
  sendPsn?: number
  maxReadAtomic?: number
  maxDestinationReadAtomic?: number
  /** The code 0..31 of the table in ibv_modify_qp(3): 1 is 0.01 ms, 12 is 0.64 ms, 0 is 655.36 ms. */
  minRnrTimer?: number
  destinationQueuePair?: number
  alternatePath?: AddressVector
  pathMigrationState?: number
}

/** The capacities granted, at least what was requested. */
export interface QueuePairCapacities {
  readonly maxSendRequests: number
  readonly maxReceiveRequests: number
  readonly maxSendSegments: number
  readonly maxReceiveSegments: number
  readonly maxInlineBytes: number
}

/** A TCP connection whose ends have introduced themselves by MPA. */
export interface AdoptedStream {
  /** The queue pair takes a duplicate. */
  readonly descriptor: number
  readonly isCaller: boolean
  readonly crc: boolean
  /** READs of the peer that may be under way here, and of this end there. */
  readonly ird: number
  readonly ord: number
  /** What both have agreed that the caller sends first, even if it has nothing to say: a message without bytes. */
  readonly ready: 'none' | 'write' | 'read' | 'send'
  /** MPA's reply of the end that was called, sent before all else; empty at the other one. */
  readonly reply: Uint8Array
}

export interface ProviderQueuePair {
  readonly number: number
  readonly type: QueuePairType
  readonly capacities: QueuePairCapacities
  /** Final once it is connected. */
  readonly capabilities: PairCapabilities
  readonly state: QueuePairState
  /** All or nothing: if it throws, nothing has changed. */
  modify(attributes: QueuePairAttributes): void
  /**
   * The same off the event loop, as far as there is anything to wait for. A `modify` or `destroy` in the meantime waits
   * for it to end, and it then rejects with VerbsError ECANCELED.
   */
  modifyAsync(attributes: QueuePairAttributes): Promise<void>
  query(): QueuePairAttributes
  /**
   * Returns 0 or an errno: EINVAL (state, opcode, segments, inline), ENOMEM (queue full), EOPNOTSUPP (the device does
   * not support the opcode).
   */
  postSend(request: EncodedRequest): number
  /**
   * Post the first `count` of `requests` in one call. Returns how many were taken; if not all, `lastErrno` says why.
   */
  postSendList(requests: readonly EncodedRequest[], count: number): number
  postReceive(request: EncodedRequest): number
  postReceiveList(requests: readonly EncodedRequest[], count: number): number
  readonly lastErrno: number
  /**
   * The most bytes per second that it sends from now on; 0 for no limit. In RTS only. Missing where no device sends: on
   * shm the processor that posts copies.
   */
  setRateLimit?(bytesPerSecond: number): void
  /** The limit in force; 0 for none. */
  readonly rateLimit?: number
  /** Devices that speak iWARP over TCP: lead a queue pair from INIT to RTS over a connection with any peer of iWARP. */
  adoptStream?(stream: AdoptedStream): void
  /** Also receive datagrams sent to `gid`: ibv_attach_mcast(3). `ud` only, else EINVAL. */
  attachMulticast(gid: Gid, localIdentifier: number): void
  detachMulticast(gid: Gid, localIdentifier: number): void
  /** EBUSY while attached to a multicast group. */
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
