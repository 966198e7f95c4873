/** What `verbs/` needs of a provider's queue pairs. Part of the seam; the rules of `contract.ts` apply. */
import type { AddressVector } from './address.ts'
import type { ProviderCompletionQueue } from './completion-contract.ts'
import type { EncodedRequest } from './encoded-request.ts'
import type { Gid } from './gid.ts'
import type { PairCapabilities } from './pair-capabilities.ts'
import type { QueuePairState, QueuePairType } from './queue-pair-state.ts'
import type { ProviderSharedReceiveQueue } from './shared-receive-queue.ts'
import type { ProviderXrcDomain } from './xrc-domain.ts'

export interface ProviderQueuePairOptions extends QueuePairCapacities {
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
