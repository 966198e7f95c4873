import type { Opcode, QueuePairCapacities, QueuePairType, RemoteEndpoint } from '../../verbs/index.ts'

/** Numbers that name a player's objects; only that player understands them. */
export type Handle = number

export interface MemoryFacts {
  readonly handle: Handle
  readonly address: number
  readonly length: number
  readonly localKey: number
  readonly remoteKey: number
}

export interface PairFacts {
  readonly handle: Handle
  readonly number: number
  readonly endpoint: RemoteEndpoint
  readonly capacities: QueuePairCapacities
  readonly type: QueuePairType
}

export interface PairSpecification {
  readonly domain: Handle
  readonly sendQueue: Handle
  readonly receiveQueue: Handle
  /** Default `rc`. Leave out completion queues that the type does not use. */
  readonly type?: QueuePairType
  readonly sharedReceiveQueue?: Handle
  readonly xrcDomain?: Handle
  readonly dcAccessKey?: bigint
  readonly maxSendRequests?: number
  readonly maxReceiveRequests?: number
  readonly maxSendSegments?: number
  readonly maxReceiveSegments?: number
  readonly maxInlineBytes?: number
  readonly signalAll?: boolean
}

export interface SegmentSpecification {
  readonly address: number
  readonly length: number
  readonly key: number
}

/** A request as plain data. With `bytes` it is inline. */
export interface RequestSpecification {
  readonly id: number
  readonly opcode: Opcode
  readonly local?: readonly SegmentSpecification[]
  readonly bytes?: Uint8Array
  readonly remote?: { readonly address: number; readonly key: number }
  readonly immediate?: number
  readonly signaled?: boolean
  readonly solicited?: boolean
  readonly fence?: boolean
  /** For types that are not connected to one receiver. */
  readonly to?: {
    readonly addressHandle?: Handle
    readonly number: number
    readonly queueKey?: number
    readonly accessKey?: bigint
  }
  readonly compareAdd?: bigint
  readonly swap?: bigint
  /** Masked atomics. */
  readonly compareMask?: bigint
  readonly swapMask?: bigint
  readonly boundaries?: bigint
  /** LocalInvalidate, SendWithInvalidate. */
  readonly invalidate?: number
}

export interface ReceiveSpecification {
  readonly id: number
  readonly local: readonly SegmentSpecification[]
}

export interface Completion {
  readonly id: number
  readonly status: number
  readonly opcode: number
  readonly byteLength: number
  readonly immediate: number
  readonly flags: number
  readonly queuePairNumber: number
  readonly sourceQueuePair: number
}
