import {
  ATTRIBUTE_WORDS,
  PARAMETER_WORDS,
  ParameterWord,
  type RdmacmAddon,
  type RdmacmAddress,
  type RdmacmFacts,
  type RdmacmToken,
  SystemError,
} from '../../native/index.ts'
import { decodeAttributes, Errno } from '../../providers/index.ts'
import type { QueuePairAttributes, QueuePairState } from '../../verbs/index.ts'
import { type ConnectionAddress, checkAddress, checkGroup, connectionAddress, formatAddress } from '../address.ts'
import type {
  ConnectionEvent,
  ConnectionIdentifier,
  ConnectionOffer,
  ConnectionParameters,
  LocalEndpoint,
  PortSpace,
} from '../carrier.ts'
import { checkTimeout } from '../deadline.ts'
import { ConnectionError, type ConnectionStage, RejectStatus } from '../errors.ts'
import { checkBacklog, checkedParameters, checkTransition } from '../identifier-arguments.ts'
import { checkedPrivateData } from '../private-data.ts'

const NO_LISTENER: ConnectionEvent = {
  type: 'rejected',
  status: RejectStatus.InvalidServiceId,
  privateData: new Uint8Array(0),
}

/** The event channel that an identifier belongs to. */
interface IdentifierOwner {
  readonly addon: RdmacmAddon
  /** Destroy the identifier of this token. */
  remove(token: RdmacmToken): void
}

/**
 * A struct rdma_cm_id whose queue pair others manage. librdmacm is told the queue pair number and returns the
 * attributes of its transitions.
 */
export class RdmacmIdentifier implements ConnectionIdentifier {
  onEvent: (event: ConnectionEvent) => void = () => undefined
  readonly portSpace: PortSpace
  readonly #channel: IdentifierOwner
  readonly #addon: RdmacmAddon
  readonly #token: RdmacmToken
  readonly #groups = new Map<string, ConnectionAddress>()
  #destroyed = false
  #lastFacts: RdmacmFacts | undefined

  constructor(channel: IdentifierOwner, token: RdmacmToken, portSpace: PortSpace) {
    this.#channel = channel
    this.#addon = channel.addon
    this.#token = token
    this.portSpace = portSpace
  }

  get deviceName(): string | undefined {
    const { device } = this.#facts()
    return device === '' ? undefined : device
  }

  get local(): ConnectionAddress | undefined {
    return addressOf(this.#facts().local)
  }

  get remote(): ConnectionAddress | undefined {
    return addressOf(this.#facts().remote)
  }

  /** After `destroy`, as they were: a connection that ended in the turn that made it still has its addresses. */
  #facts(): RdmacmFacts {
    return this.#lastFacts ?? this.#addon.describe(this.#token)
  }

  /** @internal A request has come to this listener. */
  requested(identifier: RdmacmIdentifier, offer: ConnectionOffer): void {
    this.onEvent({ type: 'connect-request', identifier, offer })
  }

  listen(local: ConnectionAddress, backlog: number): Promise<void> {
    return new Promise((done) => {
      checkAddress('local', local)
      checkBacklog(backlog)
      this.#try('listen', `cannot listen at ${formatAddress(local)}`, () => {
        this.#addon.bind(this.#token, local.address, local.port)
        this.#addon.listen(this.#token, backlog)
      })
      done()
    })
  }

  resolveAddress(source: ConnectionAddress | undefined, destination: ConnectionAddress, timeoutMs: number): void {
    if (source !== undefined) checkAddress('source', source)
    checkAddress('destination', destination)
    checkTimeout('timeoutMs', timeoutMs)
    this.#try('address', `no way to ${formatAddress(destination)}`, () => {
      if (source !== undefined) this.#addon.bind(this.#token, source.address, source.port)
      this.#addon.resolveAddress(this.#token, destination.address, destination.port, timeoutMs)
    })
  }

  resolveRoute(timeoutMs: number): void {
    checkTimeout('timeoutMs', timeoutMs)
    this.#try('route', 'no route', () => this.#addon.resolveRoute(this.#token, timeoutMs))
  }

  connect(parameters: ConnectionParameters): void {
    const checked = checkedParameters(parameters, this.portSpace, 'connect')
    const words = encodeParameters(checked)
    try {
      this.#try('connect', 'the request cannot be sent', () =>
        this.#addon.connect(this.#token, words, checked.privateData),
      )
    } catch (error) {
      if (!(error instanceof ConnectionError) || error.status !== -Errno.ECONNREFUSED) throw error
      // Over iWARP the call itself connects by TCP, and so finds out that no program listens there.
      queueMicrotask(() => {
        if (!this.#destroyed) this.onEvent(NO_LISTENER)
      })
    }
  }

  accept(parameters: ConnectionParameters): void {
    const checked = checkedParameters(parameters, this.portSpace, 'accept')
    const words = encodeParameters(checked)
    this.#try('accept', 'the request cannot be answered', () =>
      this.#addon.accept(this.#token, words, checked.privateData),
    )
  }

  reject(privateData: Uint8Array): void {
    const data = checkedPrivateData(privateData, this.portSpace, 'reject')
    this.#try('accept', 'the request cannot be rejected', () => this.#addon.reject(this.#token, data))
  }

  establish(): void {
    this.#try('connect', 'the connection cannot be established', () => this.#addon.establish(this.#token))
  }

  /** Tell the peer, unless it was faster or is gone. */
  disconnect(): void {
    try {
      this.#addon.disconnect(this.#token)
    } catch (error) {
      if (!(error instanceof SystemError)) throw error
    }
  }

  queuePairAttributes(state: QueuePairState, endpoint: LocalEndpoint): QueuePairAttributes {
    checkTransition(state, endpoint)
    const words = new Float64Array(ATTRIBUTE_WORDS)
    const mask = this.#try('connect', 'the queue pair cannot change its state', () =>
      this.#addon.queuePairAttributes(this.#token, state, words),
    )
    return { ...decodeAttributes(words, mask), state }
  }

  joinMulticast(group: ConnectionAddress): void {
    checkGroup(group)
    this.#try('multicast', `cannot join ${group.address}`, () =>
      this.#addon.joinMulticast(this.#token, group.address, group.port),
    )
    this.#groups.set(formatAddress(group), group)
  }

  leaveMulticast(group: ConnectionAddress): void {
    checkGroup(group)
    if (!this.#groups.delete(formatAddress(group))) return
    this.#try('multicast', `cannot leave ${group.address}`, () =>
      this.#addon.leaveMulticast(this.#token, group.address, group.port),
    )
  }

  destroy(): void {
    if (this.#destroyed) return
    this.#lastFacts = this.#facts()
    this.#destroyed = true
    try {
      // librdmacm keeps what it knows of a group until that is left, also when the identifier goes.
      for (const group of [...this.#groups.values()]) this.leaveMulticast(group)
    } finally {
      this.#channel.remove(this.#token)
    }
  }

  #try<T>(stage: ConnectionStage, what: string, call: () => T): T {
    try {
      return call()
    } catch (cause) {
      if (!(cause instanceof SystemError)) throw cause
      throw new ConnectionError(stage, -cause.errno, `${what}: ${cause.syscall}: ${cause.errnoName}${advice(cause)}`, {
        cause,
      })
    }
  }
}

function advice({ errnoName }: SystemError): string {
  switch (errnoName) {
    case 'EADDRINUSE':
      return '; another process listens there: choose another port, or pass 0 for a free one'
    case 'EADDRNOTAVAIL':
    case 'ENODEV':
      return "; that address does not belong to an RDMA device: 'rdma link' shows the network interfaces that have one"
    default:
      return ''
  }
}

function addressOf({ address, port }: RdmacmAddress): ConnectionAddress | undefined {
  return address === '' ? undefined : connectionAddress(address, port)
}

function encodeParameters(parameters: ConnectionParameters): Float64Array {
  const words = new Float64Array(PARAMETER_WORDS)
  words[ParameterWord.responderResources] = parameters.responderResources
  words[ParameterWord.initiatorDepth] = parameters.initiatorDepth
  words[ParameterWord.flowControl] = parameters.flowControl ? 1 : 0
  words[ParameterWord.retryCount] = parameters.retryCount
  words[ParameterWord.rnrRetryCount] = parameters.rnrRetryCount
  words[ParameterWord.sharedReceive] = parameters.sharedReceive ? 1 : 0
  words[ParameterWord.queuePairNumber] = parameters.endpoint.queuePairNumber
  return words
}
