import {
  Access,
  type DeviceAttributes,
  type Gid,
  type QueuePairAttributes,
  QueuePairState,
  type QueuePairType,
} from '../providers/index.ts'

/** What one end tells the other before they connect, over any channel. */
export interface RemoteEndpoint {
  readonly gid: Gid
  readonly queuePairNumber: number
  /** The first packet sequence number that this end sends with. */
  readonly psn: number
  /** Local identifier, InfiniBand only. */
  readonly localIdentifier?: number
}

export interface ConnectOptions {
  /** What the peer may do through this queue pair; default all remote rights. Memory has rights of its own. */
  readonly access?: number
  /** Exponent: 4.096 µs × 2^timeout; default 14 (67 ms). 0 waits for ever. */
  readonly timeout?: number
  /** 0..7; default 6, because rxe takes 7 for ever. */
  readonly retryCount?: number
  /** 0..7; default 7: for ever. */
  readonly rnrRetry?: number
  /** Code 0..31; default 12 (0.64 ms). */
  readonly minRnrTimer?: number
  readonly pathMtu?: number
}

const DEFAULT_TIMEOUT = 14
const DEFAULT_RETRY_COUNT = 6
const DEFAULT_RNR_RETRY = 7
const DEFAULT_MIN_RNR_TIMER = 12
const DEFAULT_PATH_MTU = 1024
const DEFAULT_QUEUE_KEY = 0x11111111

/** RESET -> INIT. */
export function initAttributes(type: QueuePairType): QueuePairAttributes {
  const common = { state: QueuePairState.Init, partitionKeyIndex: 0, port: 1 }
  if (type === 'ud') return { ...common, queueKey: DEFAULT_QUEUE_KEY }
  return { ...common, access: Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic }
}

/** INIT -> RTR. */
export function receiveAttributes(
  type: QueuePairType,
  remote: RemoteEndpoint | undefined,
  device: DeviceAttributes,
): QueuePairAttributes {
  const attributes: QueuePairAttributes = { state: QueuePairState.ReadyToReceive }
  if (type === 'ud') return attributes
  attributes.pathMtu = DEFAULT_PATH_MTU
  if (remote !== undefined) {
    const { localIdentifier } = remote
    attributes.addressVector = { gid: remote.gid, ...(localIdentifier === undefined ? {} : { localIdentifier }) }
    attributes.destinationQueuePair = remote.queuePairNumber
    attributes.receivePsn = remote.psn
  }
  if (type === 'uc') return attributes
  return { ...attributes, maxDestinationReadAtomic: device.maxReadAtomic, minRnrTimer: DEFAULT_MIN_RNR_TIMER }
}

/** RTR -> RTS. */
export function sendAttributes(type: QueuePairType, sendPsn: number, device: DeviceAttributes): QueuePairAttributes {
  const attributes: QueuePairAttributes = { state: QueuePairState.ReadyToSend, sendPsn }
  if (type !== 'rc') return attributes
  return {
    ...attributes,
    timeout: DEFAULT_TIMEOUT,
    retryCount: DEFAULT_RETRY_COUNT,
    rnrRetry: DEFAULT_RNR_RETRY,
    maxReadAtomic: device.maxReadAtomic,
  }
}
