import { MessageChannel, MessagePort } from 'node:worker_threads'
import { ArgumentError, checkBytes, checkInstance, checkText, mustBe } from '../native/index.ts'
import { type QueuePairAttributes, QueuePairState } from '../verbs/index.ts'
import { type ConnectionAddress, checkAddress } from './address.ts'
import type {
  ConnectionEvent,
  ConnectionIdentifier,
  ConnectionOffer,
  ConnectionParameters,
  LocalEndpoint,
  PortSpace,
} from './carrier.ts'
import { checkPortSpace } from './carriers.ts'
import { ConnectionError } from './errors.ts'

/**
 * A request on its way to another thread of this process. Post it with its `port` in the transfer list, and pass it to
 * `takeRequest` there.
 */
export interface HandedRequest {
  readonly port: MessagePort
  readonly portSpace: PortSpace
  readonly deviceName: string
  readonly local: ConnectionAddress | undefined
  readonly remote: ConnectionAddress | undefined
  readonly offer: ConnectionOffer
  /** The attributes for INIT, RTR and RTS, queried before the request goes: the taker cannot wait for answers. */
  readonly attributes: readonly QueuePairAttributes[]
}

/** @throws ArgumentError unless it is what `handOver` returned, in this thread or after it was posted to it. */
export function checkHanded(handed: HandedRequest): void {
  if (typeof handed !== 'object' || handed === null)
    throw mustBe('handed', 'what handOver() returned in the thread of the listener', handed)
  const { port, portSpace, deviceName, local, remote, offer, attributes } = handed
  checkInstance('handed.port', port, MessagePort, 'that was posted with its `port` in the transfer list')
  checkPortSpace(portSpace)
  checkText('handed.deviceName', deviceName)
  if (local !== undefined) checkAddress('handed.local', local)
  if (remote !== undefined) checkAddress('handed.remote', remote)
  if (typeof offer !== 'object' || offer === null) throw mustBe('handed.offer', 'that of handOver()', offer)
  checkBytes('handed.offer.privateData', offer.privateData)
  if (!Array.isArray(attributes) || attributes.some((each) => typeof each !== 'object' || each === null))
    throw mustBe('handed.attributes', 'the array that handOver() made', attributes)
}

/** What the taker has the listener's thread do. */
type Call =
  | { readonly name: 'accept'; readonly parameters: ConnectionParameters }
  | { readonly name: 'reject'; readonly privateData: Uint8Array }
  | { readonly name: 'disconnect' }
  | { readonly name: 'destroy' }

/**
 * Stands in the attributes for the first number of the taker's own queue pair, where the carrier leaves that to the
 * queue pair. No PSN is negative.
 */
const TAKERS_PSN = -1
const NOWHERE: LocalEndpoint = { gid: 0n, queuePairNumber: 0, psn: TAKERS_PSN }
const STATES = [QueuePairState.Init, QueuePairState.ReadyToReceive, QueuePairState.ReadyToSend] as const

/**
 * The listener's side of a request that another thread answers. The connection manager's part stays here, the queue
 * pair is made there. The two talk through a port. When the other thread ends without a word, its port closes and the
 * connection ends.
 */
export class HandedOver {
  readonly handed: HandedRequest
  readonly #identifier: ConnectionIdentifier
  readonly #port: MessagePort
  readonly #settled: () => void
  readonly #ended: (() => void) | undefined
  #pending = true
  #over = false

  /** `settled` is called once it is answered or withdrawn, `ended` once nothing of it is left here. */
  constructor(
    identifier: ConnectionIdentifier,
    offer: ConnectionOffer,
    settled: () => void,
    ended: (() => void) | undefined,
  ) {
    const { port1, port2 } = new MessageChannel()
    this.#identifier = identifier
    this.#port = port1
    this.#settled = settled
    this.#ended = ended
    this.handed = {
      port: port2,
      portSpace: identifier.portSpace,
      deviceName: identifier.deviceName ?? '',
      local: identifier.local,
      remote: identifier.remote,
      offer,
      attributes: STATES.map((state) => identifier.queuePairAttributes(state, NOWHERE)),
    }
    identifier.onEvent = (event) => this.#carried(event)
    port1.on('message', (call: Call) => this.#called(call))
    port1.on('close', () => this.end())
    port1.unref()
  }

  /** True until it is answered or the peer withdraws it. */
  get pending(): boolean {
    return this.#pending
  }

  /** Give up: a peer that waits for an answer is rejected, a connected one is told. Idempotent. */
  end(privateData: Uint8Array = new Uint8Array(0)): void {
    if (this.#over) return
    try {
      if (this.#pending) this.#identifier.reject(privateData)
      else this.#identifier.disconnect()
    } catch (error) {
      // A peer that is gone already need not be told.
      if (!(error instanceof ConnectionError)) throw error
    } finally {
      this.#destroy()
    }
  }

  #carried(event: ConnectionEvent): void {
    if (this.#over) return
    // Before the answer there is only one thing that a peer can do: give up.
    this.#settle()
    this.#port.postMessage(event)
  }

  #called(call: Call): void {
    if (this.#over) return
    try {
      this.#carryOut(call)
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      this.#port.postMessage({ type: 'connect-error', status: error.status } satisfies ConnectionEvent)
    }
  }

  #carryOut(call: Call): void {
    switch (call.name) {
      case 'accept':
        this.#settle()
        this.#identifier.accept(call.parameters)
        break
      case 'reject':
        this.#settle()
        this.#identifier.reject(call.privateData)
        break
      case 'disconnect':
        this.#identifier.disconnect()
        break
      default:
        this.#destroy()
    }
  }

  #settle(): void {
    if (!this.#pending) return
    this.#pending = false
    this.#settled()
  }

  #destroy(): void {
    this.#over = true
    this.#settle()
    this.#identifier.destroy()
    this.#port.close()
    this.#ended?.()
  }
}

/** The taker's side: an identifier whose connection manager runs in the listener's thread. */
export class HandedIdentifier implements ConnectionIdentifier {
  onEvent: (event: ConnectionEvent) => void = () => undefined
  readonly portSpace: PortSpace
  readonly deviceName: string
  readonly local: ConnectionAddress | undefined
  readonly remote: ConnectionAddress | undefined
  readonly #port: MessagePort
  readonly #attributes: readonly QueuePairAttributes[]
  #destroyed = false

  constructor(handed: HandedRequest) {
    this.portSpace = handed.portSpace
    this.deviceName = handed.deviceName
    this.local = handed.local
    this.remote = handed.remote
    this.#port = handed.port
    this.#attributes = handed.attributes
    this.#port.on('message', (event: ConnectionEvent) => this.#emit(event))
    this.#port.on('close', () => this.#emit({ type: 'disconnected', lost: true }))
    this.#port.unref()
  }

  accept(parameters: ConnectionParameters): void {
    this.#call({ name: 'accept', parameters })
  }

  reject(privateData: Uint8Array): void {
    this.#call({ name: 'reject', privateData })
  }

  disconnect(): void {
    this.#call({ name: 'disconnect' })
  }

  queuePairAttributes(state: QueuePairState, endpoint: LocalEndpoint): QueuePairAttributes {
    const attributes = this.#attributes.find((each) => each.state === state)
    if (attributes === undefined)
      throw new ArgumentError(
        'state',
        'the connection manager has attributes for INIT, RTR and RTS only; ask for one of these',
      )
    return attributes.sendPsn === TAKERS_PSN ? { ...attributes, sendPsn: endpoint.psn } : attributes
  }

  destroy(): void {
    if (this.#destroyed) return
    this.#call({ name: 'destroy' })
    // The other side closes the port.
    this.#destroyed = true
  }

  listen(): Promise<void> {
    return Promise.reject(onlyAnswered())
  }

  resolveAddress(): void {
    throw onlyAnswered()
  }

  resolveRoute(): void {
    throw onlyAnswered()
  }

  connect(): void {
    throw onlyAnswered()
  }

  establish(): void {
    throw onlyAnswered()
  }

  joinMulticast(): void {
    throw onlyAnswered()
  }

  leaveMulticast(): void {
    throw onlyAnswered()
  }

  #call(call: Call): void {
    if (!this.#destroyed) this.#port.postMessage(call)
  }

  #emit(event: ConnectionEvent): void {
    if (!this.#destroyed) this.onEvent(event)
  }
}

function onlyAnswered(): ArgumentError {
  return new ArgumentError(
    'request',
    'an identifier that was handed over can only answer its request; do the rest in the thread of the listener',
  )
}
