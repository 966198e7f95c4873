import { randomInt } from 'node:crypto'
import { native, SystemError } from '../../native/index.ts'
import { Errno } from '../../providers/index.ts'
import { type QueuePair, type QueuePairAttributes, QueuePairState } from '../../verbs/index.ts'
import { type ConnectionAddress, checkAddress, connectionAddress, formatAddress } from '../address.ts'
import type {
  ConnectionEvent,
  ConnectionIdentifier,
  ConnectionOffer,
  ConnectionParameters,
  LocalEndpoint,
  PortSpace,
} from '../carrier.ts'
import { checkTimeout } from '../deadline.ts'
import { ConnectionError, RejectStatus } from '../errors.ts'
import { checkBacklog, checkedParameters, checkTransition } from '../identifier-arguments.ts'
import { checkedPrivateData } from '../private-data.ts'
import { SILENCE_MS_MAX, SILENT_CALLERS_MAX } from '../silent-callers.ts'
import { type Agreed, agreedByReply, depthsOfReply, READY_MESSAGES, UNSAID_DEPTH } from './agreed.ts'
import { decodeMpa, encodeMpa, FRAME_BYTES_MAX, type MpaFrame } from './mpa.ts'
import { Streams } from './streams.ts'
import { encodeTerminate } from './terminate.ts'

const V4_MAPPED = /^::ffff:(?=[\d.]+$)/
const NO_DATA = new Uint8Array(0)

/**
 * An identifier of connections with peers that are not Aether: a listener, or one end. Both ends introduce themselves
 * by MPA, over the TCP connection that carries the queue pair. The queue pair then takes a duplicate of its descriptor,
 * and this identifier watches for the end.
 */
export class IwarpIdentifier implements ConnectionIdentifier {
  onEvent: (event: ConnectionEvent) => void = () => undefined
  readonly portSpace: PortSpace = 'tcp'
  readonly deviceName: string
  local: ConnectionAddress | undefined
  remote: ConnectionAddress | undefined
  readonly #streams = Streams.get()
  /** Callers that have not said yet what they want. */
  readonly #callers = new Set<IwarpIdentifier>()
  #descriptor: number | undefined
  #source = ''
  #received = NO_DATA
  #parameters: ConnectionParameters | undefined
  #request: MpaFrame | undefined
  /** Of a caller. A peer that hangs up on revision 2 may know revision 1 only, and is asked once more. */
  #revision: 1 | 2 = 2
  #pair: QueuePair | undefined
  #isUp = false
  #destroyed = false

  constructor(deviceName: string) {
    this.deviceName = deviceName
  }

  // ---- listening
  // ---------------------------------------------------------------------------------------------------------------

  listen(local: ConnectionAddress, backlog: number): Promise<void> {
    return new Promise((done) => {
      checkAddress('local', local)
      checkBacklog(backlog)
      this.#descriptor = this.#try('listen', `cannot listen at ${formatAddress(local)}`, () =>
        this.#streams.listen(local.address, local.port, { accepted: (descriptor) => this.#called(descriptor) }),
      )
      this.local = connectionAddress(local.address, addressOf(this.#descriptor, false).port)
      done()
    })
  }

  #called(descriptor: number): void {
    if (this.#callers.size >= SILENT_CALLERS_MAX) {
      this.#streams.close(descriptor)
      return
    }
    const caller = new IwarpIdentifier(this.deviceName)
    this.#callers.add(caller)
    const hangUp = (): void => caller.destroy()
    const patience = setTimeout(hangUp, SILENCE_MS_MAX).unref()
    const forget = (): void => {
      clearTimeout(patience)
      this.#callers.delete(caller)
    }
    caller.#descriptor = descriptor
    this.#streams.use(descriptor, {
      received: (bytes) => {
        const request = caller.#take(bytes, 'request')
        if (request === 'partial') return
        forget()
        if (request === 'broken' || request.rejected) hangUp()
        else this.#asked(caller, request)
      },
      ended: (errno) => {
        forget()
        if (caller.#request === undefined) hangUp()
        else caller.#emit({ type: 'disconnected', lost: errno !== 0 })
      },
    })
  }

  #asked(caller: IwarpIdentifier, request: MpaFrame): void {
    caller.#request = request
    caller.#name()
    this.#streams.awaitEnd(caller.#descriptor!)
    this.onEvent({ type: 'connect-request', identifier: caller, offer: offerOf(request) })
  }

  // ---- asking
  // ------------------------------------------------------------------------------------------------------------------

  resolveAddress(source: ConnectionAddress | undefined, destination: ConnectionAddress, timeoutMs: number): void {
    if (source !== undefined) checkAddress('source', source)
    checkAddress('destination', destination)
    checkTimeout('timeoutMs', timeoutMs)
    this.#source = source?.address ?? ''
    this.local = connectionAddress(source?.address ?? destination.address, 49_152 + randomInt(16_384))
    this.remote = destination
    this.#soon({ type: 'address-resolved' })
  }

  resolveRoute(timeoutMs: number): void {
    checkTimeout('timeoutMs', timeoutMs)
    this.#soon({ type: 'route-resolved' })
  }

  connect(parameters: ConnectionParameters): void {
    this.#parameters = checkedParameters(parameters, this.portSpace, 'connect')
    this.#call()
  }

  #call(): void {
    const { remote } = this
    if (remote === undefined)
      throw new ConnectionError('connect', 0, 'the identifier has no destination; call resolveAddress() first')
    this.#descriptor = this.#try('connect', `cannot connect to ${formatAddress(remote)}`, () =>
      this.#streams.connect(remote.address, remote.port, this.#source, {
        writable: () => this.#ask(),
        received: (bytes) => this.#answered(bytes),
        ended: (errno) => this.#endedCall(errno),
      }),
    )
  }

  #ask(): void {
    // One that could not be connected is writable, too; its end is told of next.
    if (native.streamAddress(this.#descriptor!, true) === '') return
    this.#name()
    this.#streams.read(this.#descriptor!)
    const { privateData, responderResources: ird, initiatorDepth: ord } = this.#parameters!
    this.#send({
      kind: 'request',
      crc: !this.#isWithinMachine,
      rejected: false,
      revision: this.#revision,
      depths: this.#revision === 1 ? undefined : { ird, ord, peerToPeer: true, ready: READY_MESSAGES },
      privateData,
    })
  }

  #answered(bytes: Uint8Array): void {
    const reply = this.#take(bytes, 'reply')
    if (reply === 'partial') return
    if (reply === 'broken') {
      this.#hangUp()
      this.#emit({ type: 'connect-error', status: -Errno.EPROTO })
      return
    }
    if (reply.rejected) {
      this.#hangUp()
      this.#emit({ type: 'rejected', status: RejectStatus.Consumer, privateData: reply.privateData })
      return
    }
    const crc = reply.crc || !this.#isWithinMachine
    const agreed = agreedByReply(this.#parameters!, reply)
    if (typeof agreed === 'number') {
      native.sendStream(this.#descriptor!, encodeTerminate(agreed, crc))
      this.#hangUp()
      this.#emit({ type: 'connect-error', status: -Errno.EPROTO })
      return
    }
    this.#comeUp(agreed, crc, NO_DATA)
    const offer = offerOf(reply)
    this.#emit({ type: 'established', peer: undefined, privateData: offer.privateData, offer })
  }

  #endedCall(errno: number): void {
    if (this.#isUp) this.#emit({ type: 'disconnected', lost: errno !== 0 })
    else if (this.#mayBeOld(errno)) this.#askAsOld()
    else if (errno === Errno.ECONNREFUSED)
      this.#emit({ type: 'rejected', status: RejectStatus.InvalidServiceId, privateData: NO_DATA })
    else if (errno === 0) this.#emit({ type: 'disconnected', lost: false })
    else this.#emit({ type: 'connect-error', status: -errno })
  }

  /** It has read the request and hung up without a word. */
  #mayBeOld(errno: number): boolean {
    return this.#revision === 2 && this.#received.length === 0 && (errno === 0 || errno === Errno.ECONNRESET)
  }

  #askAsOld(): void {
    this.#revision = 1
    this.#hangUp()
    try {
      this.#call()
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      this.#emit({ type: 'connect-error', status: error.status })
    }
  }

  establish(): void {
    throw new ConnectionError('connect', 0, 'the connection is established already')
  }

  // ---- answering
  // ---------------------------------------------------------------------------------------------------------------

  accept(parameters: ConnectionParameters): void {
    const own = checkedParameters(parameters, this.portSpace, 'accept')
    const { revision, depths: asked, crc: isCrcAsked } = this.#request!
    const crc = isCrcAsked || !this.#isWithinMachine
    const depths = depthsOfReply(own, asked)
    const { responderResources: ird, initiatorDepth, privateData } = own
    const reply = encodeMpa({ kind: 'reply', crc, rejected: false, revision, depths, privateData })
    const ord = depths?.ord ?? Math.min(initiatorDepth, UNSAID_DEPTH)
    this.#comeUp({ ird, ord, ready: depths?.ready[0] ?? 'none' }, crc, reply)
    this.#soon({ type: 'established', peer: undefined, privateData: NO_DATA })
  }

  reject(privateData: Uint8Array): void {
    const data = checkedPrivateData(privateData, this.portSpace, 'reject')
    const { depths, revision, crc } = this.#request!
    this.#send({
      kind: 'reply',
      crc,
      rejected: true,
      revision,
      depths: depths === undefined ? undefined : { ird: 0, ord: 0, peerToPeer: false, ready: [] },
      privateData: data,
    })
    this.#hangUp()
  }

  // ---- both
  // -------------------------------------------------------------------------------------------------------------------

  usePair(pair: QueuePair): void {
    this.#pair = pair
  }

  /** The peer ends its side, too, which is told of. */
  disconnect(): void {
    if (this.#descriptor !== undefined) native.endStream(this.#descriptor)
  }

  queuePairAttributes(state: QueuePairState, own: LocalEndpoint): QueuePairAttributes {
    checkTransition(state, own)
    return state === QueuePairState.Init ? { state, partitionKeyIndex: 0, port: 1 } : { state }
  }

  joinMulticast(): void {
    throw noGroups()
  }

  leaveMulticast(): void {
    throw noGroups()
  }

  destroy(): void {
    if (this.#destroyed) return
    this.#destroyed = true
    this.#hangUp()
    for (const caller of [...this.#callers]) caller.destroy()
    this.#callers.clear()
  }

  // ---- inside
  // ------------------------------------------------------------------------------------------------------------------

  /** What stays within this machine is not damaged on its way. */
  get #isWithinMachine(): boolean {
    return this.local?.address === this.remote?.address
  }

  #name(): void {
    this.local = addressOf(this.#descriptor!, false)
    this.remote = addressOf(this.#descriptor!, true)
  }

  #take(bytes: Uint8Array, kind: MpaFrame['kind']): MpaFrame | 'partial' | 'broken' {
    if (this.#received.length + bytes.length > FRAME_BYTES_MAX) return 'broken'
    this.#received = Uint8Array.from([...this.#received, ...bytes])
    return decodeMpa(this.#received, kind)
  }

  /** A socket that was just connected has room for as much. */
  #send(frame: MpaFrame): void {
    native.sendStream(this.#descriptor!, encodeMpa(frame))
  }

  #comeUp(agreed: Agreed, crc: boolean, reply: Uint8Array): void {
    const descriptor = this.#descriptor!
    // First, or what the peer sends at once would be taken here.
    this.#streams.awaitEnd(descriptor)
    this.#isUp = true
    this.#pair!.provider.adoptStream!({ descriptor, isCaller: this.#request === undefined, crc, reply, ...agreed })
  }

  #hangUp(): void {
    if (this.#descriptor !== undefined) this.#streams.close(this.#descriptor)
    this.#descriptor = undefined
  }

  #soon(event: ConnectionEvent): void {
    setImmediate(() => this.#emit(event))
  }

  #emit(event: ConnectionEvent): void {
    if (!this.#destroyed) this.onEvent(event)
  }

  #try<T>(stage: 'listen' | 'connect', what: string, call: () => T): T {
    try {
      return call()
    } catch (cause) {
      if (!(cause instanceof SystemError)) throw cause
      throw new ConnectionError(stage, -cause.errno, `${what}: ${cause.syscall}: ${cause.errnoName}`, { cause })
    }
  }
}

function noGroups(): ConnectionError {
  return new ConnectionError('multicast', 0, 'iWARP has no multicast groups')
}

/** What the peer's ORD wants is what it may have under way here. */
function offerOf({ depths, privateData }: MpaFrame): ConnectionOffer {
  return {
    privateData,
    responderResources: Math.min(depths?.ord ?? 0xff, 0xff),
    initiatorDepth: Math.min(depths?.ird ?? UNSAID_DEPTH, 0xff),
    flowControl: false,
    retryCount: 0,
    rnrRetryCount: 0,
    sharedReceive: false,
    queuePairNumber: 0,
  }
}

/** The address of an end of a stream. */
function addressOf(descriptor: number, ofPeer: boolean): ConnectionAddress {
  const text = native.streamAddress(descriptor, ofPeer)
  const at = text.lastIndexOf(':')
  const address = text.slice(0, at).replace(/^\[|\]$/g, '')
  return connectionAddress(address.replace(V4_MAPPED, '') || '0.0.0.0', Number(text.slice(at + 1)))
}
