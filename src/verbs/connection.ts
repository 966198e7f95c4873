import { checkOptions, checkWhole, type OptionNames } from '../native/index.ts'
import {
  Access,
  type AddressVector,
  type DeviceAttributes,
  type Gid,
  type LinkLayer,
  type QueuePairAttributes,
  QueuePairState,
  type QueuePairType,
} from '../providers/index.ts'
import { checkGid } from './field-checks.ts'
import { DEFAULT_QUEUE_KEY } from './prepared-request.ts'

/** What one end tells the other before they connect, over any channel: {@link QueuePair.endpoint}. */
export interface RemoteEndpoint {
  readonly gid: Gid
  readonly queuePairNumber: number
  /** The packet sequence number of the first packet this end sends. */
  readonly psn: number
  /** Local identifier, InfiniBand only. */
  readonly localIdentifier?: number
  /** READs and atomics that this end can have under way at once. Default: the other end assumes its own limit. */
  readonly initiatorDepth?: number
  /** READs and atomics that this end can serve at once. Default: the other end assumes its own limit. */
  readonly responderResources?: number
}

export interface ConnectOptions {
  /** What the peer may do through this queue pair. Default: all remote rights. Memory has rights of its own. */
  readonly access?: number
  /** Exponent of the acknowledgement timeout, 4.096 µs × 2^timeout. Default 14 (67 ms). 0 waits forever. */
  readonly timeout?: number
  /** Retries without an acknowledgement, 0 to 7. Default 6, because rxe treats 7 as forever. */
  readonly retryCount?: number
  /** Retries when the receiver is not ready, 0 to 7. Default 7, which means forever. */
  readonly rnrRetry?: number
  /** Code 0 to 31 of the delay before the sender retries when no receive is posted. Default 12 (0.64 ms). */
  readonly minRnrTimer?: number
  readonly pathMtu?: number
  /** READs and atomics that this end has under way at once. Default: as many as the device can and the peer serves. */
  readonly maxReadAtomic?: number
  /** READs and atomics that this end serves at once. Default: as many as the device can and the peer asks for. */
  readonly maxDestinationReadAtomic?: number
}

const remoteNames: OptionNames<RemoteEndpoint> = {
  gid: true,
  queuePairNumber: true,
  psn: true,
  localIdentifier: true,
  initiatorDepth: true,
  responderResources: true,
}

const connectNames: OptionNames<ConnectOptions & { readonly signal?: AbortSignal }> = {
  access: true,
  timeout: true,
  retryCount: true,
  rnrRetry: true,
  minRnrTimer: true,
  pathMtu: true,
  maxReadAtomic: true,
  maxDestinationReadAtomic: true,
  signal: true,
}

/** @throws ArgumentError unless it is what the peer's endpoint says. */
export function checkRemote(call: string, argument: string, remote: RemoteEndpoint): void {
  checkOptions(call, remote, remoteNames, argument)
  const { gid, queuePairNumber, psn, ...others } = (remote ?? {}) as RemoteEndpoint
  checkGid(`${argument}.gid`, gid)
  checkWhole(`${argument}.queuePairNumber`, queuePairNumber, 0, 0xffffff)
  checkWhole(`${argument}.psn`, psn, 0, 0xffffff)
  for (const [name, value] of Object.entries(others))
    if (value !== undefined) checkWhole(`${argument}.${name}`, value, 0, 0xffffffff)
}

/** @throws ArgumentError */
export function checkConnect(call: string, remote: RemoteEndpoint, options: ConnectOptions): void {
  checkRemote(call, 'remote', remote)
  checkOptions(call, options, connectNames)
  for (const [name, value] of Object.entries(options))
    if (name !== 'signal' && value !== undefined) checkWhole(`options.${name}`, value, 0, 0xffffffff)
}

const DEFAULT_TIMEOUT = 14
const DEFAULT_RETRY_COUNT = 6
const DEFAULT_RNR_RETRY = 7
const DEFAULT_MIN_RNR_TIMER = 12
const DEFAULT_PATH_MTU = 1024

const LINK_TIMEOUTS: Readonly<Record<LinkLayer, number>> = {
  'shared-memory': 0,
  ethernet: 17,
  infiniband: 17,
  tcp: 19,
  iwarp: 19,
}

/**
 * The `timeout` of a link between long-lived ends, with the default of six retries. In shared memory there is none: the
 * peer may still be starting, and its process reports its death. RDMA networks may be interrupted for 3.8 s (an adapter
 * may take up to four times that). Over TCP it is 15 s. There the end of a process is reported at once, but a process
 * that is stopped has no adapter that acknowledges for it.
 */
export function linkTimeout(linkLayer: LinkLayer): number {
  return LINK_TIMEOUTS[linkLayer]
}

/** Types whose queue pairs send to one peer that they are connected to. */
function isConnected(type: QueuePairType): boolean {
  return type === 'rc' || type === 'uc' || type === 'xrc-send' || type === 'xrc-receive'
}

/** The attributes for RESET -> INIT. */
export function initAttributes(type: QueuePairType, port: number): QueuePairAttributes {
  const common = { state: QueuePairState.Init, partitionKeyIndex: 0, port }
  if (type === 'ud') return { ...common, queueKey: DEFAULT_QUEUE_KEY }
  if (type === 'dci') return common
  return { ...common, access: Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic }
}

/** The attributes for INIT -> RTR. */
export function receiveAttributes(
  type: QueuePairType,
  remote: RemoteEndpoint | undefined,
  device: DeviceAttributes,
): QueuePairAttributes {
  const attributes: QueuePairAttributes = { state: QueuePairState.ReadyToReceive }
  if (type === 'ud') return attributes
  attributes.pathMtu = DEFAULT_PATH_MTU
  if (remote !== undefined) attributes.addressVector = addressOf(remote)
  if (type === 'dct') attributes.minRnrTimer = DEFAULT_MIN_RNR_TIMER
  if (remote !== undefined && isConnected(type)) {
    attributes.destinationQueuePair = remote.queuePairNumber
    attributes.receivePsn = remote.psn
  }
  if (type !== 'rc' && type !== 'xrc-receive') return attributes
  const maxDestinationReadAtomic = Math.min(device.maxReadAtomic, remote?.initiatorDepth ?? device.maxReadAtomic)
  return { ...attributes, maxDestinationReadAtomic, minRnrTimer: DEFAULT_MIN_RNR_TIMER }
}

/** The attributes for RTR -> RTS. */
export function sendAttributes(
  type: QueuePairType,
  sendPsn: number,
  remote: RemoteEndpoint | undefined,
  device: DeviceAttributes,
): QueuePairAttributes {
  const attributes: QueuePairAttributes = { state: QueuePairState.ReadyToSend, sendPsn }
  if (type === 'uc' || type === 'ud') return attributes
  attributes.timeout = DEFAULT_TIMEOUT
  if (type === 'xrc-receive') return attributes
  return {
    ...attributes,
    retryCount: DEFAULT_RETRY_COUNT,
    rnrRetry: DEFAULT_RNR_RETRY,
    maxReadAtomic: Math.min(device.maxInitiatorReadAtomic, remote?.responderResources ?? device.maxInitiatorReadAtomic),
  }
}

/** The attributes of each step from RESET to RTS. */
export function connectSteps(
  type: QueuePairType,
  sendPsn: number,
  remote: RemoteEndpoint,
  { attributes: device, port }: { readonly attributes: DeviceAttributes; readonly port: number },
  options: ConnectOptions,
): readonly QueuePairAttributes[] {
  return [
    { ...initAttributes(type, port), ...pick(options, ['access']) },
    {
      ...receiveAttributes(type, remote, device),
      ...pick(options, ['minRnrTimer', 'pathMtu', 'maxDestinationReadAtomic']),
    },
    {
      ...sendAttributes(type, sendPsn, remote, device),
      ...pick(options, ['timeout', 'retryCount', 'rnrRetry', 'maxReadAtomic']),
    },
  ]
}

/** The named properties of `from` that are there. */
function pick<T extends object, K extends keyof T>(from: T, names: readonly K[]): Partial<Pick<T, K>> {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]]))) as Partial<
    Pick<T, K>
  >
}

/** The address vector of an endpoint, for a connected queue pair or an address handle. */
export function addressOf(remote: RemoteEndpoint): AddressVector {
  checkRemote('addressOf', 'remote', remote)
  const { gid, localIdentifier } = remote
  return localIdentifier === undefined ? { gid } : { gid, localIdentifier }
}
