/**
 * How a connection is set up and taken down, as a table: state × event -> actions, next state. The asking and the
 * answering end run the same machine. It has no promise, timer or clock of its own: `step` is told of everything, also
 * that the time is up.
 */
import { AetherError } from '../native/index.ts'

export type ConnectionState =
  | 'idle'
  | 'resolving-address'
  | 'resolving-route'
  | 'requesting'
  /** A request of the peer's, not answered yet. */
  | 'requested'
  | 'accepting'
  | 'connected'
  | 'disconnecting'
  | 'closed'

/**
 * Why a connection ended: closed by this end, closed by the peer, lost without a word from the peer, or its device was
 * removed. `lost` is as far as the carrier can tell.
 */
export type CloseReason = 'local' | 'peer' | 'lost' | 'device-removed'

export type MachineEvent =
  | 'start'
  | 'address-resolved'
  | 'route-resolved'
  | 'connect-response'
  | 'established'
  | 'accept'
  | 'accept-datagram'
  | 'reject'
  | 'disconnect'
  | 'disconnected'
  | 'lost'
  | 'device-removal'
  /**
   * Anything that ends an attempt: an error event of the carrier, a rejection, the deadline, the caller's signal, an
   * action that threw.
   */
  | 'failure'
  | 'deadline'
  | 'close'

/** What the machine asks its owner to do. An action that throws while the connection is being made ends the attempt. */
export interface ConnectionActions {
  resolveAddress(): void
  resolveRoute(): void
  /** Make the queue pair, in INIT, ready for receives to be posted. */
  preparePair(): void
  sendRequest(): void
  /** INIT -> RTR -> RTS towards the peer. */
  readyPair(): void
  establish(): void
  sendReply(): void
  sendReject(): void
  /** Flush everything outstanding. */
  errorPair(): void
  sendDisconnect(): void
  /** Release the identifier and, if the connection was never made, everything else. */
  release(): void
  connected(): void
  failed(error: unknown): void
  ended(reason: CloseReason): void
}

type Action = Exclude<keyof ConnectionActions, 'failed' | 'ended'>

/** `ends`: with this reason; then the identifier is given back. */
interface Cell {
  readonly actions: readonly Action[]
  readonly next: ConnectionState
  readonly ends?: CloseReason
}

type Row = Partial<Readonly<Record<MachineEvent, Cell>>>

const go = (next: ConnectionState, ...actions: Action[]): Cell => ({ actions, next })
const end = (ends: CloseReason, ...actions: Action[]): Cell => ({ actions, next: 'closed', ends })

/**
 * While the connection is being made, everything that is not in the row ends the attempt: see
 * {@link ConnectionMachine.step}.
 */
const making: Readonly<Record<'idle' | 'resolving-address' | 'resolving-route' | 'requesting' | 'accepting', Row>> = {
  idle: { start: go('resolving-address', 'resolveAddress') },
  'resolving-address': { 'address-resolved': go('resolving-route', 'resolveRoute') },
  'resolving-route': { 'route-resolved': go('requesting', 'preparePair', 'sendRequest') },
  requesting: {
    'connect-response': go('connected', 'readyPair', 'establish', 'connected'),
    // A datagram service has been found, or the carrier has moved the queue pair: there is nothing to establish.
    established: go('connected', 'readyPair', 'connected'),
  },
  accepting: { established: go('connected', 'connected') },
}

const table: Readonly<Record<ConnectionState, Row>> = {
  ...making,
  requested: {
    accept: go('accepting', 'preparePair', 'readyPair', 'sendReply'),
    'accept-datagram': go('connected', 'preparePair', 'readyPair', 'sendReply', 'connected'),
    reject: go('closed', 'sendReject', 'release'),
  },
  connected: {
    disconnect: go('disconnecting', 'errorPair', 'sendDisconnect'),
    // The peer is answered, or it would repeat its request until its own deadline.
    disconnected: end('peer', 'errorPair', 'sendDisconnect'),
    lost: end('lost', 'errorPair'),
    'device-removal': end('device-removed'),
    failure: end('lost', 'errorPair'),
    close: end('local', 'errorPair', 'sendDisconnect'),
    established: go('connected'),
  },
  disconnecting: {
    disconnected: end('local'),
    lost: end('local'),
    deadline: end('local'),
    failure: end('local'),
    close: end('local'),
    'device-removal': end('local'),
    disconnect: go('disconnecting'),
  },
  // Events that still arrive for a finished connection are dropped.
  closed: {},
}

export class ConnectionMachine {
  readonly #actions: ConnectionActions
  #state: ConnectionState

  constructor(actions: ConnectionActions, state: 'idle' | 'requested') {
    this.#actions = actions
    this.#state = state
  }

  get state(): ConnectionState {
    return this.#state
  }

  /** Take an event. `error`: what the attempt fails with if the event ends it. */
  step(event: MachineEvent, error?: unknown): void {
    const cell = table[this.#state][event]
    if (cell !== undefined) this.#enter(cell)
    else if (this.#state !== 'closed') this.#unforeseen(event, error)
  }

  #enter(cell: Cell): void {
    // The state first: an action may lead to another event.
    this.#state = cell.next
    try {
      for (const action of cell.actions) this.#actions[action]()
    } catch (error) {
      if (cell.ends === undefined) {
        this.#fail(error)
        return
      }
      // A queue pair that was closed by its owner, a peer that is gone: the connection ends all the same.
      if (!(error instanceof AetherError)) throw error
    }
    if (cell.ends === undefined) return
    try {
      this.#actions.release()
    } finally {
      this.#actions.ended(cell.ends)
    }
  }

  #unforeseen(event: MachineEvent, error: unknown): void {
    this.#fail(
      error ??
        new AetherError(
          'ERR_AETHER_PROTOCOL',
          `event ${event} came unexpectedly in state ${this.#state} of the connection; close it and connect again`,
        ),
    )
  }

  #fail(error: unknown): void {
    const wasMade = this.#state === 'connected' || this.#state === 'disconnecting'
    this.#state = 'closed'
    try {
      this.#actions.release()
    } finally {
      // Even if releasing fails, waiting callers are told.
      if (wasMade) this.#actions.ended('lost')
      this.#actions.failed(error)
    }
  }
}
