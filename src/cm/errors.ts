import { AetherError } from '../native/index.ts'

/** What a connection was doing when it failed. */
export type ConnectionStage = 'address' | 'route' | 'connect' | 'listen' | 'accept' | 'multicast'

/** A connection, listener or multicast group could not be made, or was lost while it was being made. */
export class ConnectionError extends AetherError {
  override readonly name: string = 'ConnectionError'
  readonly stage: ConnectionStage
  /** The status of rdma_get_cm_event(3): a negative errno or a number of the transport; 0 if there is none. */
  readonly status: number

  constructor(stage: ConnectionStage, status: number, message: string, options?: ErrorOptions) {
    super('ERR_AETHER_CONNECTION', message, options)
    this.stage = stage
    this.status = status
  }
}

/** Why a connection was rejected, for the reasons that have a name here. */
export type RejectReason =
  | 'consumer'
  | 'no-listener'
  | 'no-queue-pair'
  | 'no-resources'
  | 'timeout'
  | 'unsupported'
  | 'stale-connection'
  | 'other'

/** Rejection reasons of the IBA specification, volume 1, 12.6.7.2. */
export const RejectStatus = {
  NoQueuePair: 1,
  NoResources: 3,
  Timeout: 4,
  Unsupported: 5,
  InvalidServiceId: 8,
  StaleConnection: 10,
  Consumer: 28,
} as const

const NO_LISTENER =
  'nothing listens at that address and port; shm devices need one pid namespace and one AETHER_RUNTIME_DIRECTORY, so use a tcp device between containers'

const reasons: ReadonlyMap<number, readonly [RejectReason, string]> = new Map([
  [RejectStatus.Consumer, ['consumer', 'the listening program refused it']],
  [RejectStatus.InvalidServiceId, ['no-listener', NO_LISTENER]],
  [RejectStatus.NoQueuePair, ['no-queue-pair', 'the peer has no queue pair left']],
  [RejectStatus.NoResources, ['no-resources', 'the peer has no resources left for a connection']],
  [RejectStatus.Timeout, ['timeout', 'the peer timed out']],
  [RejectStatus.Unsupported, ['unsupported', 'the peer does not support what was asked for']],
  [RejectStatus.StaleConnection, ['stale-connection', 'the peer still has an old connection of this queue pair']],
])

/** The peer, or its connection manager, rejected the connection. */
export class ConnectionRejectedError extends ConnectionError {
  override readonly name = 'ConnectionRejectedError'
  readonly reason: RejectReason
  /** What the peer passed to `reject`. It may be longer, padded with zeros. */
  readonly privateData: Uint8Array

  constructor(status: number, privateData: Uint8Array, remote: string) {
    const [reason, why] = reasons.get(status) ?? (['other', `reason ${status}`] as const)
    super('connect', status, `the connection to ${remote} was rejected: ${why}`)
    this.reason = reason
    this.privateData = privateData
  }
}
