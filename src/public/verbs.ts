/**
 * RDMA verbs: devices, protection domains, memory, queues and queue pairs, with the semantics and names of rdma-core.
 * Synchronous like `ibv_*`; `await pair.read(…)` and `…Sync` are conveniences on top.
 *
 * ```ts
 * import { Access, CompletionBatch, openDevice } from 'aether-dsm/verbs'
 *
 * using device = openDevice('shm0')
 * using domain = device.createProtectionDomain()
 * using memory = domain.allocate(4096, Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite)
 * using queue = device.createCompletionQueue({ depth: 256 })
 * using pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
 * pair.connect(pair.endpoint) // a queue pair connected to itself; otherwise the peer's endpoint
 *
 * const remote = { address: memory.address + 1024, key: memory.remoteKey }
 * const write = pair.prepareWrite({ local: memory.subarray(0, 64), remote })
 * write.post(7)
 * const batch = new CompletionBatch(16)
 * queue.poll(batch) // 1: batch.id[0] is 7, batch.status[0] is CompletionStatus.Success
 * ```
 *
 * @module aether-dsm/verbs
 */
export {
  Access,
  AddressHandle,
  type AllocateOptions,
  type AsyncEvent,
  AsyncEventType,
  Attribute,
  addressOf,
  asyncEventName,
  type CompareSwapFields,
  CompletionBatch,
  CompletionChannel,
  CompletionError,
  CompletionFlag,
  CompletionOpcode,
  CompletionQueue,
  type CompletionQueueOptions,
  CompletionStatus,
  type ConnectOptions,
  DEFAULT_QUEUE_KEY,
  type Destination,
  Device,
  type DeviceAttributes,
  DeviceMemory,
  deviceNames,
  explainStatus,
  type FetchAddFields,
  formatGid,
  IndirectKey,
  MemoryRegion,
  MemorySlice,
  MemoryWindow,
  type OpenDeviceOptions,
  type OperationOptions,
  type OperationResult,
  openDevice,
  PhysicalPeer,
  type PortAttributes,
  PreparedBind,
  PreparedReceive,
  PreparedRequest,
  ProtectionDomain,
  parseGid,
  QueuePair,
  type QueuePairAttributes,
  type QueuePairCapacities,
  type QueuePairOptions,
  QueuePairState,
  QueuePairType,
  type RegionToken,
  type RemoteEndpoint,
  type RemoteTarget,
  Request,
  type Segment,
  type SendRequestFields,
  SharedReceiveQueue,
  type SharedReceiveQueueOptions,
  type SyncOptions,
  statusName,
  ThreadDomain,
  type Transition,
  TransitionError,
  transitions,
  VerbsError,
  XrcDomain,
} from '../verbs/index.ts'
