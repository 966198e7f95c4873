import { checkBoolean, mustBe } from '../native/index.ts'
import type { QueuePair } from '../verbs/index.ts'
import type { ConnectionOffer, ConnectionParameters, LocalEndpoint, PortSpace } from './carrier.ts'
import { checkPairOptions, type PairOptions } from './connection-pair.ts'
import { checkWaitValues, type WaitOptions } from './deadline.ts'
import { checkedPrivateData } from './private-data.ts'

/** Options that both ends of a connection share. */
export interface ConnectionOptions extends PairOptions, WaitOptions {
  /**
   * Sent with the message that makes the connection. At most 56 bytes with `connect`, 196 with `accept` (180 and 136 in
   * port space `udp`).
   */
  readonly privateData?: Uint8Array
  /**
   * READs and atomics of this end that may be under way at once. Default: the device's limit. The peer may lower it.
   */
  readonly maxReadAtomic?: number
  /**
   * READs and atomics of the peer that may be under way here at once. Default: the device's limit. The peer may ask for
   * less.
   */
  readonly maxDestinationReadAtomic?: number
  /** How often the peer retries a message when no receive was posted here, 0 to 7. Default 7, which means forever. */
  readonly rnrRetry?: number
  /**
   * How long this end waits for an acknowledgement before it retries, as an exponent 0 to 31: 4.096 µs × 2^ackTimeout.
   * 0 waits forever. Default: computed by the connection manager from the path. On RoCE that is about 2 s, so with the
   * usual retries a dead peer is reported after 15 s.
   */
  readonly ackTimeout?: number
  /**
   * How long the peer waits before it retries when no receive was posted here: the code 0 to 31 of ibv_modify_qp(3).
   */
  readonly minRnrTimer?: number
  /**
   * Service level of what this end sends, 0 to 15. It selects the lanes of an InfiniBand fabric or the priority on
   * Ethernet. Port space `tcp`. Default: what the connection manager found.
   */
  readonly serviceLevel?: number
  /**
   * Traffic class of what this end sends, 0 to 255. On RoCE it is the byte of the IP header by which routers and
   * switches classify traffic; its upper six bits are the DSCP. Port space `tcp`. Default: what the connection manager
   * found.
   */
  readonly trafficClass?: number
  /** Reported to the peer; it has no other effect. Default false. */
  readonly flowControl?: boolean
}

const DEFAULT_RNR_RETRY = 7
/** Not 7, which soft-RoCE treats as forever: a dead peer would never be reported. */
export const DEFAULT_RETRY_COUNT = 6
/** The fields of the messages are bytes, and 255 asks librdmacm for the device's own limit. */
const READ_ATOMIC_MAX = 254

/** Throw for every wrong option before any resource is taken. Return a copy of the private data. */
export function checkConnectionOptions(
  options: ConnectionOptions,
  portSpace: PortSpace,
  use: 'connect' | 'accept',
): Uint8Array {
  const privateData = checkedPrivateData(options.privateData, portSpace, use)
  checkPairOptions(options, portSpace)
  checkWaitValues(options)
  if (options.flowControl !== undefined) checkBoolean('flowControl', options.flowControl)
  checkRange('rnrRetry', options.rnrRetry, 7)
  checkRange('ackTimeout', options.ackTimeout, 31)
  checkRange('minRnrTimer', options.minRnrTimer, 31)
  checkRange('serviceLevel', options.serviceLevel, 15)
  checkRange('trafficClass', options.trafficClass, 255)
  checkRange('maxReadAtomic', options.maxReadAtomic, READ_ATOMIC_MAX)
  checkRange('maxDestinationReadAtomic', options.maxDestinationReadAtomic, READ_ATOMIC_MAX)
  return privateData
}

export function checkRange(name: string, value: number | undefined, most: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= 0 && value <= most)) return
  throw mustBe(name, `an integer from 0 to ${most}`, value)
}

/** READs and atomics that may be under way in each direction. */
export interface ReadAtomicLimits {
  readonly maxReadAtomic: number
  readonly maxDestinationReadAtomic: number
}

/** What this end asks for, within its device's limits and the peer's offer, if there is one. */
export function readAtomicLimits(
  options: ConnectionOptions,
  pair: QueuePair,
  offer: ConnectionOffer | undefined,
): ReadAtomicLimits {
  const most = Math.min(pair.domain.device.attributes.maxReadAtomic, READ_ATOMIC_MAX)
  return {
    maxReadAtomic: Math.min(options.maxReadAtomic ?? most, most, offer?.initiatorDepth ?? most),
    maxDestinationReadAtomic: Math.min(
      options.maxDestinationReadAtomic ?? most,
      most,
      offer?.responderResources ?? most,
    ),
  }
}

/** What is said beyond the options. */
interface Terms {
  readonly privateData: Uint8Array
  readonly limits: ReadAtomicLimits
  readonly retryCount: number
}

export function connectionParameters(
  options: ConnectionOptions,
  pair: QueuePair,
  { privateData, limits, retryCount }: Terms,
): ConnectionParameters {
  return {
    privateData,
    responderResources: limits.maxDestinationReadAtomic,
    initiatorDepth: limits.maxReadAtomic,
    flowControl: options.flowControl ?? false,
    retryCount,
    rnrRetryCount: options.rnrRetry ?? DEFAULT_RNR_RETRY,
    sharedReceive: pair.sharedReceiveQueue !== undefined,
    endpoint: localEndpoint(pair),
  }
}

export function localEndpoint(pair: QueuePair): LocalEndpoint {
  return { gid: pair.gid, queuePairNumber: pair.number, psn: pair.psn }
}
