import { randomInt } from 'node:crypto'
import type { Socket } from 'node:net'
import { type Gid, type QueuePairAttributes, QueuePairState } from '../../verbs/index.ts'
import { type ConnectionAddress, checkAddress, checkGroup, connectionAddress } from '../address.ts'
import type {
  ConnectionEvent,
  ConnectionIdentifier,
  ConnectionOffer,
  ConnectionParameters,
  LocalEndpoint,
  PortSpace,
} from '../carrier.ts'
import { DATAGRAM_QUEUE_KEY } from '../datagram.ts'
import { checkTimeout } from '../deadline.ts'
import { ConnectionError, RejectStatus } from '../errors.ts'
import { checkBacklog, checkedParameters, checkTransition } from '../identifier-arguments.ts'
import { checkedPrivateData, type PrivateDataUse, paddedPrivateData } from '../private-data.ts'
import { SILENCE_MS_MAX, SILENT_CALLERS_MAX } from '../silent-callers.ts'
import type { Message, MessageKind } from './message.ts'
import { MessageSocket } from './message-socket.ts'
import type { MeetingPlace, SocketPlace } from './place.ts'

/** The queue pair number in datagrams to a group (IBA specification volume 1, 10.5). */
const MULTICAST_QUEUE_PAIR = 0xffffff
const PATH_MTU = 4096
/** 4.096 µs × 2^14 = 67 ms. */
const TIMEOUT = 14
/** 0.64 ms. */
const MIN_RNR_TIMER = 12

const NO_PARAMETERS: ConnectionParameters = {
  privateData: new Uint8Array(0),
  responderResources: 0,
  initiatorDepth: 0,
  flowControl: false,
  retryCount: 0,
  rnrRetryCount: 0,
  sharedReceive: false,
  endpoint: { gid: 0n, queuePairNumber: 0, psn: 0 },
}

/** An identifier of the carriers whose ends meet at sockets: a listener, or one end of a connection with its socket. */
export class SocketIdentifier implements ConnectionIdentifier {
  onEvent: (event: ConnectionEvent) => void = () => undefined
  readonly portSpace: PortSpace
  readonly deviceName: string
  local: ConnectionAddress | undefined
  remote: ConnectionAddress | undefined
  readonly #place: SocketPlace
  #point: MeetingPlace | undefined
  readonly #callers = new Set<MessageSocket>()
  #socket: MessageSocket | undefined
  #peer: ConnectionParameters = NO_PARAMETERS
  /** What the asking end wishes holds for both. */
  #retryCount = 0
  #peerLeft = false
  #destroyed = false

  constructor(place: SocketPlace, portSpace: PortSpace) {
    this.#place = place
    this.deviceName = place.deviceName
    this.portSpace = portSpace
  }

  // ---- listening
  // ---------------------------------------------------------------------------------------------------------------

  async listen(local: ConnectionAddress, backlog: number): Promise<void> {
    checkAddress('local', local)
    checkBacklog(backlog)
    if (this.#point !== undefined)
      throw new ConnectionError('listen', 0, 'the identifier listens already; make another one for another address')
    const point = await this.#place.listen(this.portSpace, local, (socket) => this.#called(socket))
    if (this.#destroyed) {
      point.close()
      return
    }
    this.#point = point
    this.local = point.address
  }

  #called(socket: Socket): void {
    if (this.#destroyed || this.#callers.size >= SILENT_CALLERS_MAX) {
      socket.destroy()
      return
    }
    const identifier = new SocketIdentifier(this.#place, this.portSpace)
    const hangUp = (): void => {
      forget()
      messages.destroy()
    }
    const patience = setTimeout(hangUp, SILENCE_MS_MAX).unref()
    const forget = (): void => {
      clearTimeout(patience)
      this.#callers.delete(messages)
    }
    let wasAsked = false
    const messages: MessageSocket = new MessageSocket(
      socket,
      (message) => {
        if (wasAsked) return identifier.#received(message)
        if (message.kind !== 'request' || message.portSpace !== this.portSpace) return hangUp()
        wasAsked = true
        forget()
        this.#asked(identifier, messages, message)
      },
      () => {
        forget()
        if (wasAsked) identifier.#lost()
      },
    )
    this.#callers.add(messages)
  }

  #asked(identifier: SocketIdentifier, messages: MessageSocket, message: Message): void {
    identifier.#socket = messages
    identifier.#peer = message.parameters
    identifier.#retryCount = message.parameters.retryCount
    identifier.local = message.destination
    identifier.remote = message.source
    this.onEvent({ type: 'connect-request', identifier, offer: identifier.#offer(message, 'connect') })
  }

  // ---- asking
  // ------------------------------------------------------------------------------------------------------------------

  resolveAddress(source: ConnectionAddress | undefined, destination: ConnectionAddress, timeoutMs: number): void {
    if (source !== undefined) checkAddress('source', source)
    checkAddress('destination', destination)
    checkTimeout('timeoutMs', timeoutMs)
    // The port is only shown to people here; it reaches no one.
    this.local = connectionAddress(source?.address ?? destination.address, 49_152 + randomInt(16_384))
    this.remote = destination
    this.#soon({ type: 'address-resolved' })
  }

  resolveRoute(timeoutMs: number): void {
    checkTimeout('timeoutMs', timeoutMs)
    this.#soon({ type: 'route-resolved' })
  }

  connect(parameters: ConnectionParameters): void {
    const checked = checkedParameters(parameters, this.portSpace, 'connect')
    if (this.remote === undefined)
      throw new ConnectionError('connect', 0, 'the identifier has no destination; call resolveAddress() first')
    const meeting = this.#place.meet(this.portSpace, this.remote)
    this.#retryCount = checked.retryCount
    meeting.then(
      (socket) => this.#met(socket, checked),
      (error: NodeJS.ErrnoException) => this.#emit({ type: 'connect-error', status: error.errno ?? 0 }),
    )
  }

  #met(socket: Socket | undefined, parameters: ConnectionParameters): void {
    if (this.#destroyed) {
      socket?.destroy()
      return
    }
    if (socket === undefined) {
      this.#rejected(RejectStatus.InvalidServiceId, new Uint8Array(0))
      return
    }
    this.#socket = new MessageSocket(
      socket,
      (message) => this.#received(message),
      () => this.#lost(),
    )
    this.#send('request', parameters)
  }

  establish(): void {
    this.#send('ready', NO_PARAMETERS)
  }

  // ---- answering
  // ---------------------------------------------------------------------------------------------------------------

  accept(parameters: ConnectionParameters): void {
    const checked = checkedParameters(parameters, this.portSpace, 'accept')
    const message = this.#message('reply', checked, 0)
    // A datagram service was found, and that is all: nothing follows.
    if (this.portSpace === 'udp') this.#socket?.sendLast(message)
    else this.#socket?.send(message)
  }

  reject(privateData: Uint8Array): void {
    const data = checkedPrivateData(privateData, this.portSpace, 'reject')
    const parameters = { ...NO_PARAMETERS, privateData: data }
    this.#socket?.sendLast(this.#message('reject', parameters, RejectStatus.Consumer))
  }

  // ---- both
  // -------------------------------------------------------------------------------------------------------------------

  disconnect(): void {
    if (this.#peerLeft) this.#socket?.sendLast(this.#message('disconnect-reply', NO_PARAMETERS, 0))
    else this.#send('disconnect', NO_PARAMETERS)
  }

  queuePairAttributes(state: QueuePairState, own: LocalEndpoint): QueuePairAttributes {
    checkTransition(state, own)
    if (this.portSpace === 'udp') return { state, partitionKeyIndex: 0, port: 1, queueKey: DATAGRAM_QUEUE_KEY }
    const { endpoint, rnrRetryCount } = this.#peer
    switch (state) {
      case QueuePairState.Init:
        return { state, partitionKeyIndex: 0, port: 1 }
      case QueuePairState.ReadyToReceive:
        return {
          state,
          addressVector: { gid: endpoint.gid },
          destinationQueuePair: endpoint.queuePairNumber,
          receivePsn: endpoint.psn,
          pathMtu: PATH_MTU,
          minRnrTimer: MIN_RNR_TIMER,
        }
      default:
        return {
          state,
          sendPsn: own.psn,
          timeout: TIMEOUT,
          retryCount: this.#retryCount,
          rnrRetry: rnrRetryCount,
        }
    }
  }

  joinMulticast(group: ConnectionAddress): void {
    checkGroup(group)
    const addressVector = { gid: multicastGid(group) }
    const peer = { addressVector, queuePairNumber: MULTICAST_QUEUE_PAIR, queueKey: DATAGRAM_QUEUE_KEY }
    this.#soon({ type: 'multicast-join', peer })
  }

  /** Nothing to do: being attached is all there is to membership here. */
  leaveMulticast(group: ConnectionAddress): void {
    checkGroup(group)
  }

  destroy(): void {
    if (this.#destroyed) return
    this.#destroyed = true
    this.#point?.close()
    for (const caller of this.#callers) caller.destroy()
    this.#callers.clear()
    this.#socket?.destroy()
  }

  // ---- messages
  // ----------------------------------------------------------------------------------------------------------------

  #received(message: Message): void {
    switch (message.kind) {
      case 'reply':
        this.#peer = message.parameters
        this.#answered(message)
        break
      case 'reject':
        this.#rejected(message.rejectStatus, message.parameters.privateData)
        break
      case 'ready':
        this.#emit({ type: 'established', peer: undefined, privateData: new Uint8Array(0) })
        break
      case 'disconnect':
        this.#peerLeft = true
        this.#emit({ type: 'disconnected', lost: false })
        break
      case 'disconnect-reply':
        this.#emit({ type: 'disconnected', lost: false })
        break
      case 'request':
        this.#lost()
    }
  }

  #answered(message: Message): void {
    const offer = this.#offer(message, 'accept')
    if (this.portSpace === 'tcp') {
      this.#emit({ type: 'connect-response', offer })
      return
    }
    const { gid, queuePairNumber } = message.parameters.endpoint
    const peer = { addressVector: { gid }, queuePairNumber, queueKey: DATAGRAM_QUEUE_KEY }
    this.#socket?.destroy()
    this.#emit({ type: 'established', peer, privateData: offer.privateData })
  }

  #rejected(status: number, data: Uint8Array): void {
    this.#emit({ type: 'rejected', status, privateData: paddedPrivateData(data, this.portSpace, 'reject') })
  }

  #lost(): void {
    this.#emit({ type: 'disconnected', lost: true })
  }

  #offer({ parameters }: Message, use: PrivateDataUse): ConnectionOffer {
    const { endpoint, privateData, ...rest } = parameters
    const padded = paddedPrivateData(privateData, this.portSpace, use)
    // What one end takes is what the other may have under way.
    const { initiatorDepth: responderResources, responderResources: initiatorDepth } = parameters
    return {
      ...rest,
      privateData: padded,
      responderResources,
      initiatorDepth,
      queuePairNumber: endpoint.queuePairNumber,
    }
  }

  #message(kind: MessageKind, parameters: ConnectionParameters, rejectStatus: number): Message {
    const { portSpace, local, remote } = this
    return { kind, portSpace, parameters, rejectStatus, source: local!, destination: remote! }
  }

  #send(kind: MessageKind, parameters: ConnectionParameters): void {
    this.#socket?.send(this.#message(kind, parameters, 0))
  }

  #soon(event: ConnectionEvent): void {
    setImmediate(() => this.#emit(event))
  }

  #emit(event: ConnectionEvent): void {
    if (!this.#destroyed) this.onEvent(event)
  }
}

/** An IPv4 group is mapped as RoCE does it: ff0e::ffff:a.b.c.d. */
function multicastGid({ address, family }: ConnectionAddress): Gid {
  if (family === 6)
    return BigInt(
      `0x${groupsOf(address)
        .map((group) => group.padStart(4, '0'))
        .join('')}`,
    )
  const host = address.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n)
  return (0xff0en << 112n) | (0xffffn << 32n) | host
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): string[] {
  const [plain = ''] = address.split('%')
  const [head = '', tail] = plain.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after]
}
