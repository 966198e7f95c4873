/** The door of this room for other rooms: RDMA verbs, the objects of rdma-core. Users import `src/public/verbs.ts`. */
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
  type PairCapabilities,
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
export { addressOf, type ConnectOptions, linkTimeout, type RemoteEndpoint } from './connection.ts'
export * from './device.ts'
export * from './device-memory.ts'
export { checkAttached, detached, isDetached } from './field-checks.ts'
export * from './indirect-key.ts'
export * from './masked-atomic.ts'
export * from './memory-region.ts'
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
