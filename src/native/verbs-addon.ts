/**
 * The verbs part of the addon: calls of libibverbs and of the tcp device, no policy. It exists only if the addon was
 * compiled with `<infiniband/verbs.h>`. {@link VerbsAddon.load} opens the library itself.
 *
 * Objects are named by tokens, numbers that mean an object of this JavaScript environment while it lives. Afterwards
 * they mean nothing, so a stale one throws ArgumentError. Failing calls throw SystemError with the verb as `syscall`.
 * Calls that may fail in normal work return an errno.
 */
export type VerbsToken = number

export interface OpenedVerbsDevice {
  readonly handle: VerbsToken
  /** Readable while an asynchronous event waits. */
  readonly asyncDescriptor: number
  readonly completionVectors: number
}

export interface VerbsDeviceFacts {
  readonly firmware: string
  readonly nodeGuid: string
  readonly vendorId: number
  readonly vendorPartId: number
  readonly hardwareVersion: number
  /** `enum ibv_transport_type`: 0 InfiniBand and RoCE, 1 iWARP. */
  readonly transport: number
  readonly nodeType: number
  readonly maxMemoryRegionBytes: number
  readonly pageSizes: number
  readonly maxQueuePairs: number
  readonly maxRequests: number
  readonly capabilities: number
  readonly maxSegments: number
  readonly maxReadSegments: number
  readonly maxCompletionQueues: number
  readonly maxCompletions: number
  readonly maxMemoryRegions: number
  readonly maxProtectionDomains: number
  readonly maxReadAtomicTarget: number
  readonly maxReadAtomicInitiator: number
  readonly atomicCapability: number
  readonly maxMemoryWindows: number
  readonly maxMulticastGroups: number
  readonly maxMulticastQueuePairs: number
  readonly maxAddressHandles: number
  readonly maxSharedReceiveQueues: number
  readonly maxSharedReceiveRequests: number
  readonly maxSharedReceiveSegments: number
  readonly maxPartitionKeys: number
  readonly portCount: number
  readonly onDemandCapabilities: number
  readonly maxDeviceMemoryBytes: number
  readonly maxPacingKilobitsPerSecond: number
}

export interface VerbsPortFacts {
  readonly state: number
  /** Bytes. */
  readonly maxMtu: number
  readonly activeMtu: number
  readonly gidTableLength: number
  readonly capabilities: number
  readonly maxMessageBytes: number
  readonly partitionKeyTableLength: number
  readonly localIdentifier: number
  readonly subnetManagerLocalIdentifier: number
  readonly localIdentifierMask: number
  readonly activeWidth: number
  readonly activeSpeed: number
  readonly physicalState: number
  /** 0 unspecified, 1 InfiniBand, 2 Ethernet. */
  readonly linkLayer: number
}

export interface VerbsGidEntry {
  readonly index: number
  readonly gid: bigint
  /** 0 InfiniBand, 1 RoCE v1, 2 RoCE v2, -1 if the library does not say. */
  readonly type: number
  /** Empty if there is none. */
  readonly interfaceName: string
}

export interface VerbsMemoryFacts {
  readonly handle: VerbsToken
  readonly localKey: number
  readonly remoteKey: number
}

export interface VerbsPairFacts {
  readonly handle: VerbsToken
  readonly number: number
  readonly maxSendRequests: number
  readonly maxReceiveRequests: number
  readonly maxSendSegments: number
  readonly maxReceiveSegments: number
  readonly maxInlineBytes: number
}

/**
 * Where each attribute of a queue pair lies in the words of `modifyQueuePair` and `queryQueuePair`;
 * native/verbs-attributes.h has the same list.
 */
export const AttributeWord = {
  state: 0,
  currentState: 1,
  sqdNotify: 2,
  access: 3,
  partitionKeyIndex: 4,
  port: 5,
  queueKey: 6,
  pathMtu: 7,
  timeout: 8,
  retryCount: 9,
  rnrRetry: 10,
  receivePsn: 11,
  sendPsn: 12,
  maxReadAtomic: 13,
  maxDestinationReadAtomic: 14,
  minRnrTimer: 15,
  destinationQueuePair: 16,
  pathMigrationState: 17,
  alternatePort: 18,
  alternateTimeout: 19,
  alternatePartitionKeyIndex: 20,
  addressVector: 21,
  alternatePath: 35,
  /** In a query only: 1 while a queue pair in SQD still has to send. */
  sendQueueDraining: 49,
} as const
export const ATTRIBUTE_WORDS = 50

/**
 * Where each field of an address vector lies, counted from the vector's first word. The gid is four words, most
 * significant first.
 */
export const VectorWord = {
  gid: 0,
  localIdentifier: 4,
  sourceGidIndex: 5,
  hopLimit: 6,
  serviceLevel: 7,
  isGlobal: 8,
  flowLabel: 9,
  trafficClass: 10,
  port: 11,
  sourcePathBits: 12,
  staticRate: 13,
} as const
export const VECTOR_WORDS = 14

/** Where each option lies in the words of `createQueuePair`. */
export const PairWord = {
  type: 0,
  maxSendRequests: 1,
  maxReceiveRequests: 2,
  maxSendSegments: 3,
  maxReceiveSegments: 4,
  maxInlineBytes: 5,
  signalAll: 6,
  /** 64 bits, of a dynamically connected target. */
  targetKey: 7,
} as const
export const PAIR_WORDS = 8

/** Words of one asynchronous event: its number (`enum ibv_event_type`), the token it is about or 0, the port or 0. */
export const ASYNC_EVENT_WORDS = 3

/** A post returns errno × this number + how many requests were taken. */
export const POST_ERRNO_UNIT: number = 2 ** 20

export interface VerbsAddon {
  /** Open libibverbs, once for each process. Returns an empty text, or why it cannot be opened. */
  load(): string
  /** The numbers that the header and the encoding of requests gave the addon, under the names used here. */
  layout(): Readonly<Record<string, number>>
  /** ibv_get_device_list(3). Empty if the kernel has no RDMA. */
  deviceNames(): string[]
  /** ibv_open_device(3). The descriptor of its asynchronous events does not block. */
  openDevice(name: string): OpenedVerbsDevice
  /** The names of the devices that speak iWARP over TCP; they need no library. */
  tcpDeviceNames(): string[]
  /**
   * Open one. Without a key (of 16 bytes) only processes of this machine connect to it. It listens at ports from the
   * first to the last; 0 and 0 are any.
   */
  openTcpDevice(name: string, key: Uint8Array, firstPort: number, lastPort: number): OpenedVerbsDevice
  /**
   * Destroy what the token names: ibv_close_device, ibv_dealloc_pd, ibv_dereg_mr, … Returns 0 or the errno: EBUSY while
   * an object of this environment uses it.
   */
  destroy(handle: VerbsToken): number
  /** ibv_query_device_ex(3). */
  queryDevice(device: VerbsToken): VerbsDeviceFacts
  /** ibv_query_port(3). */
  queryPort(device: VerbsToken, port: number): VerbsPortFacts
  /** ibv_query_gid_table(3), the entries of one port; ibv_query_gid(3) one by one if the library lacks it. */
  queryGids(device: VerbsToken, port: number, tableLength: number): VerbsGidEntry[]
  /** ibv_alloc_pd(3). */
  allocateDomain(device: VerbsToken): VerbsToken
  /** ibv_get_async_event(3), acknowledged, for as many events as wait and fit. Returns how many. Never blocks. */
  readAsyncEvents(device: VerbsToken, out: Float64Array): number
  /**
   * ibv_reg_mr(3). The buffer is referenced until the region is destroyed; do not transfer (detach) it in the meantime.
   */
  registerMemory(domain: VerbsToken, buffer: ArrayBufferView | ArrayBufferLike, access: number): VerbsMemoryFacts
  /**
   * As `registerMemory`, on another thread. The thread first takes `reserveBytes` of the memory object behind `buffer`
   * (fallocate; descriptor -1: none) and locks it (mlock). Before `done` resolves, only `destroy` and `giveUp` take
   * `handle`; `done` then rejects with ECANCELED.
   */
  registerMemoryAsync(
    domain: VerbsToken,
    buffer: ArrayBufferView | ArrayBufferLike,
    access: number,
    descriptor: number,
    reserveBytes: number,
    lock: boolean,
  ): { readonly handle: VerbsToken; readonly done: Promise<Omit<VerbsMemoryFacts, 'handle'>> }
  /**
   * Give up the memory of that handle. It is deregistered as soon as its registration has ended, or with `wait` at
   * once, waiting for that. Returns 0 or the errno. It is not an error if the memory is gone.
   */
  giveUp(handle: VerbsToken, wait: boolean): number
  /** ibv_reg_mr(3) of the whole address space, paged on demand. */
  registerImplicit(domain: VerbsToken, access: number): VerbsMemoryFacts
  /** ibv_exp_reg_mr of MLNX_OFED 3 and 4, all of the physical memory; EOPNOTSUPP if the library lacks it. */
  registerPhysical(domain: VerbsToken, access: number): VerbsMemoryFacts
  /** ibv_reg_dm_mr(3), zero-based. */
  registerDeviceMemory(
    domain: VerbsToken,
    memory: VerbsToken,
    offset: number,
    length: number,
    access: number,
  ): VerbsMemoryFacts
  /** ibv_rereg_mr(3). Pass 0, undefined or -1 for what stays the same. */
  reregisterMemory(
    memory: VerbsToken,
    domain: VerbsToken | 0,
    buffer: ArrayBufferView | undefined,
    access: number,
  ): VerbsMemoryFacts
  /** ibv_advise_mr(3); `ranges` are triples of address, length and key. Returns 0 or the errno. */
  advise(domain: VerbsToken, advice: number, flush: boolean, ranges: Float64Array): number
  /** ibv_alloc_dm(3). */
  allocateDeviceMemory(device: VerbsToken, length: number, alignmentExponent: number): VerbsToken
  /** ibv_memcpy_to_dm(3). Returns 0 or the errno: EFAULT beyond the end. */
  copyToDeviceMemory(memory: VerbsToken, offset: number, bytes: Uint8Array): number
  copyFromDeviceMemory(memory: VerbsToken, offset: number, bytes: Uint8Array): number
  /** ibv_alloc_td(3). */
  allocateThreadDomain(device: VerbsToken): VerbsToken
  /** ibv_alloc_parent_domain(3). */
  allocateParentDomain(domain: VerbsToken, threadDomain: VerbsToken | 0): VerbsToken
  /** ibv_open_xrcd(3); an empty path opens a domain without a file. */
  openXrcDomain(device: VerbsToken, path: string, create: boolean, exclusive: boolean): VerbsToken
  /** ibv_alloc_mw(3). */
  allocateWindow(domain: VerbsToken, type: number): { readonly handle: VerbsToken; readonly remoteKey: number }
  /** ibv_bind_mw(3); `fields` are id, flags, address, length and access. Returns 0 or the errno. */
  bindWindow(pair: VerbsToken, window: VerbsToken, memory: VerbsToken | 0, fields: Float64Array): number
  /** The library's key of a window of type 1. */
  windowKey(window: VerbsToken): number
  /** mlx5dv_create_mkey(3), indirect. Absent if the addon was built without `<infiniband/mlx5dv.h>`. */
  createIndirectKey?(domain: VerbsToken, maxPieces: number): VerbsMemoryFacts
  /** ibv_create_ah(3); `vector` is laid out as in VectorWord. */
  createAddressHandle(domain: VerbsToken, vector: Float64Array): VerbsToken
  /** ibv_attach_mcast(3); `gid` is four words. Returns 0 or the errno. */
  attachMulticast(pair: VerbsToken, gid: Float64Array, localIdentifier: number): number
  detachMulticast(pair: VerbsToken, gid: Float64Array, localIdentifier: number): number
  /** ibv_create_srq(3), or ibv_create_srq_ex(3) for XRC if a domain and a completion queue are given. */
  createSharedReceiveQueue(
    domain: VerbsToken,
    xrcDomain: VerbsToken | 0,
    completionQueue: VerbsToken | 0,
    maxRequests: number,
    maxSegments: number,
  ): { readonly handle: VerbsToken; readonly number: number }
  /** ibv_query_srq(3). */
  querySharedReceiveQueue(queue: VerbsToken): {
    readonly maxRequests: number
    readonly maxSegments: number
    readonly limit: number
  }
  /** ibv_modify_srq(3); -1 leaves one of the two as it is. Returns 0 or the errno. */
  modifySharedReceiveQueue(queue: VerbsToken, maxRequests: number, limit: number): number
  /** ibv_post_srq_recv(3), as `postReceive`. */
  postSharedReceive(queue: VerbsToken, requests: ArrayBuffer, count?: number, stride?: number): number
  /** ibv_create_comp_channel(3). The descriptor does not block. */
  createChannel(device: VerbsToken): { readonly handle: VerbsToken; readonly descriptor: number }
  /**
   * ibv_get_cq_event(3), acknowledged, for as many events as wait and fit. Writes tokens of the queues and returns how
   * many. Never blocks.
   */
  drainChannel(channel: VerbsToken, out: Float64Array): number
  /** ibv_create_cq(3); `channel` is 0 for none. */
  createCompletionQueue(
    device: VerbsToken,
    depth: number,
    channel: VerbsToken | 0,
    vector: number,
  ): { readonly handle: VerbsToken; readonly depth: number }
  /** ibv_resize_cq(3). Returns the new depth. */
  resizeCompletionQueue(queue: VerbsToken, depth: number): number
  /** ibv_req_notify_cq(3). Returns 0 or the errno. */
  armCompletionQueue(queue: VerbsToken, solicitedOnly: boolean): number
  /** ibv_poll_cq(3) into the buffer of a CompletionBatch. Returns how many rows, or a negative errno. */
  pollCompletions(queue: VerbsToken, batch: ArrayBuffer): number
  /**
   * ibv_create_qp(3), or ibv_create_qp_ex(3) for XRC. `options` are laid out as in PairWord, with 0 for absent objects.
   */
  createQueuePair(
    domain: VerbsToken,
    sendQueue: VerbsToken | 0,
    receiveQueue: VerbsToken | 0,
    sharedReceiveQueue: VerbsToken | 0,
    xrcDomain: VerbsToken | 0,
    options: Float64Array,
  ): VerbsPairFacts
  /** ibv_open_qp(3) of an XRC receive queue pair. */
  openQueuePair(domain: VerbsToken, xrcDomain: VerbsToken, number: number): VerbsPairFacts
  /**
   * ibv_modify_qp(3). `attributes` are laid out as in AttributeWord; only those in `mask` count. Returns 0 or the
   * errno.
   */
  modifyQueuePair(pair: VerbsToken, mask: number, attributes: Float64Array): number
  /**
   * Lead a queue pair of a tcp device from INIT to RTS over a TCP connection with a peer that is not Aether. It takes a
   * duplicate of the descriptor. `ready`: what the caller sends first, as they agreed: 0 nothing, or of no bytes 1 a
   * WRITE, 2 a READ, 3 a SEND. `reply`: MPA's reply of the end that was called; empty otherwise. Returns 0 or the
   * errno.
   */
  adoptTcpStream(
    pair: VerbsToken,
    descriptor: number,
    isCaller: boolean,
    crc: boolean,
    ird: number,
    ord: number,
    ready: number,
    reply: Uint8Array,
  ): number
  /** ibv_modify_qp_rate_limit(3), in bytes per second; 0 takes the limit away. Returns 0 or the errno. */
  setRateLimit(pair: VerbsToken, bytesPerSecond: number): number
  /** The limit in bytes per second, 0 for none: of a tcp device as its socket tells it, else what was set. */
  queryRateLimit(pair: VerbsToken): number
  /**
   * As `modifyQueuePair`, on another thread; rejects with the errno. A `modifyQueuePair` or `destroy` of the same queue
   * pair in the meantime waits for its end, and this call rejects with ECANCELED. A second asynchronous one is refused
   * with EBUSY.
   */
  modifyQueuePairAsync(pair: VerbsToken, mask: number, attributes: Float64Array): Promise<void>
  /** ibv_query_qp(3). Returns 0 or the errno. */
  queryQueuePair(pair: VerbsToken, mask: number, attributes: Float64Array): number
  /**
   * ibv_post_send(3) of `count` encoded requests, `stride` slots apart, in one chain. The addresses of inline segments
   * are offsets into `staging`. Without the last three arguments, `requests` is a single request without inline data;
   * each argument takes time. Returns errno × POST_ERRNO_UNIT + how many were taken.
   */
  postSend(pair: VerbsToken, requests: ArrayBuffer, count?: number, stride?: number, staging?: Uint8Array): number
  /** ibv_post_recv(3), likewise. */
  postReceive(pair: VerbsToken, requests: ArrayBuffer, count?: number, stride?: number): number
}
