import { checkWhole } from '../native/index.ts'
import type { ProviderCompletionQueue } from './completion-contract.ts'
import type { ProviderQueuePair } from './queue-pair-contract.ts'
import type { ProviderSharedReceiveQueue } from './shared-receive-queue.ts'

/** What an asynchronous event reports; the numbers of `enum ibv_event_type` (ibv_get_async_event(3)). */
export const AsyncEventType = {
  CompletionQueueError: 0,
  QueuePairFatal: 1,
  QueuePairRequestError: 2,
  QueuePairAccessError: 3,
  CommunicationEstablished: 4,
  SendQueueDrained: 5,
  PathMigrated: 6,
  PathMigrationError: 7,
  DeviceFatal: 8,
  PortActive: 9,
  PortError: 10,
  LocalIdentifierChange: 11,
  PartitionKeyChange: 12,
  SubnetManagerChange: 13,
  SharedReceiveQueueError: 14,
  SharedReceiveQueueLimitReached: 15,
  LastRequestReached: 16,
  ClientReregister: 17,
  GidChange: 18,
  WorkQueueFatal: 19,
} as const
export type AsyncEventType = (typeof AsyncEventType)[keyof typeof AsyncEventType]

const names = new Map<number, string>(Object.entries(AsyncEventType).map(([name, value]) => [value, name]))

/** For example `LastRequestReached`; an unknown number is printed as it is. */
export function asyncEventName(type: number): string {
  checkWhole('type', type, 0, 0xffffffff)
  return names.get(type) ?? `event ${type}`
}

/**
 * One event with the object that it is about: for a port's event the port's number, for the device's own events
 * nothing.
 */
export interface ProviderAsyncEvent {
  /** An AsyncEventType; numbers that are not listed there are passed through. */
  readonly type: number
  readonly completionQueue?: ProviderCompletionQueue
  readonly queuePair?: ProviderQueuePair
  readonly sharedReceiveQueue?: ProviderSharedReceiveQueue
  readonly port?: number
}
