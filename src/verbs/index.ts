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
 */
export {
  Access,
  type AddressVector,
  type AdvisedRange,
  type AllocateOptions,
  AsyncEventType,
  Attribute,
  type AttributeName,
  asyncEventName,
  attributeNames,
  type BufferOrigin,
  CompletionBatch,
  CompletionError,
  CompletionFlag,
  CompletionOpcode,
  CompletionStatus,
  type DeviceAttributes,
  describeAccess,
  Errno,
  explainStatus,
  findTransition,
  formatGid,
  type Gid,
  type GidEntry,
  judgeTransition,
  type LinkLayer,
  type MemoryWindowType,
  Opcode,
  type OpenDeviceOptions,
  type PortAttributes,
  parseGid,
  type QueuePairAttributes,
  type QueuePairCapacities,
  QueuePairState,
  QueuePairType,
  type SharedReceiveQueueAttributes,
  stateNames,
  statusName,
  type Transition,
  TransitionError,
  type TransitionVerdict,
  transitions,
  VerbsError,
  type XrcDomainOptions,
} from '../providers/index.ts'
export * from './address-handle.ts'
export type { AsyncEvent, EventOptions } from './async-events.ts'
export * from './completion-channel.ts'
export * from './completion-queue.ts'
export { addressOf, type ConnectOptions, type RemoteEndpoint } from './connection.ts'
export * from './device.ts'
export * from './device-memory.ts'
export * from './indirect-key.ts'
export * from './masked-atomic.ts'
export * from './memory-region.ts'
export * from './memory-slice.ts'
export { type BindFields, MemoryWindow, PreparedBind } from './memory-window.ts'
export type { OperationResult } from './operation.ts'
export * from './physical-peer.ts'
export * from './prepared-request.ts'
export * from './protection-domain.ts'
export * from './queue-pair.ts'
export type { Registrable } from './registrable.ts'
export type * from './request-fields.ts'
export * from './shared-receive-queue.ts'
export type { SwapFields, SwapResult } from './swap.ts'
export * from './thread-domain.ts'
export * from './xrc-domain.ts'
