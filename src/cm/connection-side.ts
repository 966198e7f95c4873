import { ClosedError } from '../native/index.ts'
import { monotonicNow, TraceLevel, traceChannel, watchWaits } from '../profiling/index.ts'
import { KeepAlive } from '../runtime/index.ts'
import { Access, type QueuePair, type QueuePairAttributes, QueuePairState } from '../verbs/index.ts'
import { type ConnectionAddress, formatAddress } from './address.ts'
import type {
  ConnectionEvent,
  ConnectionIdentifier,
  ConnectionOffer,
  ConnectionParameters,
  DatagramPeer,
} from './carrier.ts'
import { type CloseReason, type ConnectionActions, ConnectionMachine } from './connection-machine.ts'
import { ConnectionPair } from './connection-pair.ts'
import { checkWait, Deadline, type WaitOptions } from './deadline.ts'
import { ConnectionError } from './errors.ts'
import { errorOf } from './event-error.ts'
import {
  type ConnectionOptions,
  connectionParameters,
  DEFAULT_RETRY_COUNT,
  localEndpoint,
  type ReadAtomicLimits,
  readAtomicLimits,
} from './terms.ts'

/** The destination of a connection. */
export interface LinkTarget {
  readonly source: ConnectionAddress | undefined
  readonly destination: ConnectionAddress
  readonly retryCount: number | undefined
  /** The device that the program insists on. */
  readonly deviceName: string | undefined
}

/** Addresses and how connections fare; never what is sent along. */
const trace = traceChannel('cm')

const ALL_RIGHTS = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic

let lastAttempt = 0

/**
 * One end of a connection from the first call to the last. It does what the machine says, with the carrier on one side
 * and the queue pair on the other. Programs see it as a ConnectionRequest and as a Connection.
 */
export class ConnectionSide implements ConnectionActions {
  readonly identifier: ConnectionIdentifier
  readonly machine: ConnectionMachine
  /** What the peer announced last. */
  offer: ConnectionOffer | undefined
  /** Port space `udp`, at the active end: where the service is. */
  peer: DatagramPeer | undefined
  privateData: Uint8Array
  limits: ReadAtomicLimits = { maxReadAtomic: 0, maxDestinationReadAtomic: 0 }
  readonly closed: Promise<CloseReason>
  /** Why a request can no longer be answered. */
  withdrawn: unknown
  #target: LinkTarget | undefined
  #options: ConnectionOptions = {}
  /** What this end sends along. */
  #sent: Uint8Array = new Uint8Array(0)
  #made: ConnectionPair | undefined
  #wasConnected = false
  #rejection: Uint8Array = new Uint8Array(0)
  #deadline: Deadline | undefined
  #resolve: (() => void) | undefined
  #reject: ((error: unknown) => void) | undefined
  #end!: (reason: CloseReason) => void
  readonly #keepAlive = new KeepAlive()
  #held = false

  constructor(identifier: ConnectionIdentifier, offer: ConnectionOffer | undefined) {
    this.identifier = identifier
    this.offer = offer
    this.privateData = offer?.privateData ?? new Uint8Array(0)
    this.machine = new ConnectionMachine(this, offer === undefined ? 'idle' : 'requested')
    this.closed = new Promise((resolve) => {
      this.#end = resolve
    })
    identifier.onEvent = (event) => this.#carried(event)
    if (offer !== undefined) this.#trace(TraceLevel.Info, 'requested')
  }

  /** @throws ClosedError if there is no queue pair yet. */
  get pair(): QueuePair {
    if (this.#made === undefined) throw new ClosedError('the queue pair of a connection that was not made')
    return this.#made.pair
  }

  // ---- what programs ask for
  // ---------------------------------------------------------------------------------------------------

  /** `privateData` is sent along, instead of that of the options, which the program may have changed meanwhile. */
  open(target: LinkTarget, options: ConnectionOptions, privateData: Uint8Array): Promise<void> {
    this.#target = target
    this.#sent = privateData
    this.#trace(TraceLevel.Info, 'connecting')
    return this.#attempt(options, `a connection to ${formatAddress(target.destination)}`, () =>
      this.machine.step('start'),
    )
  }

  answer(options: ConnectionOptions, privateData: Uint8Array): Promise<void> {
    this.#sent = privateData
    const event = this.#isDatagram ? 'accept-datagram' : 'accept'
    return this.#attempt(options, `the connection from ${this.remoteText}`, () => this.machine.step(event))
  }

  refuse(privateData: Uint8Array): void {
    this.#rejection = privateData
    this.machine.step('reject')
  }

  /** Resolves once the connection is over, with the peer's answer or without. */
  async disconnect(wait: WaitOptions): Promise<void> {
    checkWait('disconnect', wait)
    if (this.machine.state === 'closed') return
    let aborted: { readonly reason: unknown } | undefined
    const deadline = new Deadline(wait, 'the answer to a disconnect', (error) => {
      if (wait.signal?.aborted === true) aborted = { reason: error }
      this.machine.step('deadline')
    })
    this.machine.step(this.#isDatagram ? 'close' : 'disconnect')
    await this.closed
    deadline.clear()
    if (aborted !== undefined) throw aborted.reason
  }

  /** Close at once, with the queue pair unless the program passed its own. */
  close(): void {
    this.machine.step('close', new ClosedError('the connection'))
    this.#made?.release()
  }

  hold(hold: boolean): void {
    if (hold === this.#held) return
    this.#held = hold
    if (hold) this.#keepAlive.hold()
    else this.#keepAlive.release()
  }

  get remoteText(): string {
    const remote = this.#target?.destination ?? this.identifier.remote
    return remote === undefined ? 'an unknown peer' : formatAddress(remote)
  }

  // ---- what the machine has done
  // -----------------------------------------------------------------------------------------------

  resolveAddress(): void {
    const { source, destination } = this.#target!
    this.identifier.resolveAddress(source, destination, this.#deadline!.remainingMs)
  }

  resolveRoute(): void {
    const { deviceName } = this.identifier
    const wanted = this.#target!.deviceName
    if (wanted !== undefined && deviceName !== wanted) {
      const why = `the way to ${this.remoteText} leads through ${deviceName}, not through ${wanted}; pass an address of ${wanted} as \`source\``
      throw new ConnectionError('address', 0, why)
    }
    this.identifier.resolveRoute(this.#deadline!.remainingMs)
  }

  preparePair(): void {
    this.#made = ConnectionPair.make(this.identifier.deviceName!, this.identifier.portSpace, this.#options)
    const { pair } = this
    const { name } = pair.domain.device
    if (name !== this.identifier.deviceName) {
      const why = `the queue pair is of device ${name}, but the connection runs over ${this.identifier.deviceName}; pass one of that device`
      throw new ConnectionError('connect', 0, why)
    }
    this.limits = readAtomicLimits(this.#options, pair, this.offer)
    const access = this.#isDatagram ? {} : { access: this.#options.access ?? ALL_RIGHTS }
    this.#modify(QueuePairState.Init, access)
    this.identifier.usePair?.(pair)
    this.#options.prepare?.(pair)
  }

  sendRequest(): void {
    const { retryCount = DEFAULT_RETRY_COUNT } = this.#target!
    this.identifier.connect(this.#parameters(retryCount))
  }

  readyPair(): void {
    if (this.#isDatagram) {
      this.#modify(QueuePairState.ReadyToReceive, {})
      this.#modify(QueuePairState.ReadyToSend, {})
      return
    }
    this.limits = readAtomicLimits(this.#options, this.pair, this.offer)
    if (this.#attributes(QueuePairState.ReadyToReceive).addressVector === undefined) return
    const { maxReadAtomic, maxDestinationReadAtomic } = this.limits
    const { minRnrTimer, ackTimeout } = this.#options
    this.#modify(QueuePairState.ReadyToReceive, {
      ...this.#served(),
      maxDestinationReadAtomic,
      ...(minRnrTimer === undefined ? {} : { minRnrTimer }),
    })
    this.#modify(QueuePairState.ReadyToSend, {
      maxReadAtomic,
      ...(ackTimeout === undefined ? {} : { timeout: ackTimeout }),
    })
  }

  establish(): void {
    this.identifier.establish()
  }

  sendReply(): void {
    this.#trace(TraceLevel.Info, 'accepting')
    this.identifier.accept(this.#parameters(DEFAULT_RETRY_COUNT))
  }

  sendReject(): void {
    this.#trace(TraceLevel.Info, 'rejecting')
    this.identifier.reject(this.#rejection)
  }

  errorPair(): void {
    if (!this.#isDatagram && !this.pair.closed) this.pair.toError()
  }

  sendDisconnect(): void {
    this.#trace(TraceLevel.Debug, 'disconnecting')
    if (!this.#isDatagram) this.identifier.disconnect()
  }

  release(): void {
    this.#deadline?.clear()
    this.identifier.destroy()
    this.hold(false)
    if (!this.#wasConnected) this.#undoPair()
  }

  connected(): void {
    this.#wasConnected = true
    this.#trace(TraceLevel.Info, 'connected')
    this.#deadline?.clear()
    this.#resolve?.()
  }

  failed(error: unknown): void {
    this.withdrawn = error
    this.#trace(TraceLevel.Warn, 'failed', error instanceof Error ? error.message : String(error))
    this.#reject?.(error)
  }

  ended(reason: CloseReason): void {
    this.#trace(reason === 'local' || reason === 'peer' ? TraceLevel.Info : TraceLevel.Warn, 'ended', reason)
    this.#end(reason)
  }

  // ---- inside
  // ------------------------------------------------------------------------------------------------------------------

  get #isDatagram(): boolean {
    return this.identifier.portSpace === 'udp'
  }

  #trace(level: TraceLevel, type: string, why?: string): void {
    trace.publish(level, type, () => ({
      peer: this.remoteText,
      device: this.identifier.deviceName,
      queuePair: this.#made?.pair.number,
      why,
    }))
  }

  #attempt(options: ConnectionOptions, what: string, begin: () => void): Promise<void> {
    this.#options = options
    const unwatch = this.#watch(what)
    return new Promise<void>((resolve, reject) => {
      this.#deadline = new Deadline(options, what, (error) => this.machine.step('deadline', error))
      this.#resolve = resolve
      this.#reject = reject
      this.hold(true)
      begin()
    }).finally(unwatch)
  }

  /** Have the watchdog look at this attempt until the returned function is called. */
  #watch(object: string): () => void {
    const sinceNs = monotonicNow()
    const key = `connection ${++lastAttempt}`
    return watchWaits(() => {
      const state = `${this.machine.state}, ${this.#deadline?.remainingMs ?? 0} ms are left`
      return [{ key, kind: 'connection', object, state, sinceNs, ranks: [], processes: [] }]
    })
  }

  #carried(event: ConnectionEvent): void {
    switch (event.type) {
      case 'connect-response':
        this.offer = event.offer
        this.privateData = event.offer.privateData
        break
      case 'established':
        this.peer = event.peer
        if (event.peer !== undefined) this.privateData = event.privateData
        if (event.offer !== undefined && this.machine.state === 'requesting') {
          this.offer = event.offer
          this.privateData = event.offer.privateData
        }
        break
    }
    const error = errorOf(event, this.remoteText)
    switch (event.type) {
      case 'address-resolved':
      case 'route-resolved':
      case 'connect-response':
      case 'established':
      case 'device-removal':
        this.machine.step(event.type, error)
        break
      case 'disconnected':
        this.machine.step(event.lost ? 'lost' : 'disconnected', error)
        break
      case 'address-change':
      case 'timewait-exit':
        break
      default:
        this.machine.step('failure', error)
    }
  }

  #parameters(retryCount: number): ConnectionParameters {
    return connectionParameters(this.#options, this.pair, { privateData: this.#sent, limits: this.limits, retryCount })
  }

  /** A datagram service of one queue pair answers many: it is led to RTS once. */
  #modify(state: QueuePairState, more: QueuePairAttributes): void {
    if (this.#isDatagram && this.pair.state === QueuePairState.ReadyToSend) return
    this.pair.modify({ ...this.#attributes(state), ...more })
  }

  /** The way to the peer, with the service that the program asks for. */
  #served(): QueuePairAttributes {
    const { serviceLevel, trafficClass } = this.#options
    if (serviceLevel === undefined && trafficClass === undefined) return {}
    const { addressVector } = this.#attributes(QueuePairState.ReadyToReceive)
    if (addressVector === undefined) return {}
    return {
      addressVector: {
        ...addressVector,
        ...(serviceLevel === undefined ? {} : { serviceLevel }),
        ...(trafficClass === undefined ? {} : { trafficClass }),
      },
    }
  }

  /** Beyond INIT a datagram queue pair leads nowhere in particular. */
  #attributes(state: QueuePairState): QueuePairAttributes {
    if (!this.#isDatagram || state === QueuePairState.Init)
      return this.identifier.queuePairAttributes(state, localEndpoint(this.pair))
    return state === QueuePairState.ReadyToSend ? { state, sendPsn: this.pair.psn } : { state }
  }

  /** The connection was not made. The program's own queue pair can be used for another attempt. */
  #undoPair(): void {
    if (this.#made === undefined) return
    if (this.#options.pair !== undefined && !this.#isDatagram && !this.pair.closed) this.pair.toReset()
    this.#made.release()
    this.#made = undefined
  }
}
