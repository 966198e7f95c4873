import type { Signal } from './signal.ts'

/** What takes the immediates that a carrier brings. */
export interface RingReceiver {
  /** The peer has sent this immediate; see `signal.ts`. Throws ProtocolViolation if it must not come now. */
  came(immediate: number): void
  /** The peer has said that it ends: what fails from here on is no loss. */
  readonly peerClosed: boolean
}

/**
 * Carries what a {@link RingProtocol} sends to the other end, over verbs, or over plain memory in tests. It brings what
 * comes from there to a {@link RingReceiver}.
 */
export interface RingCarrier {
  /** How many things have come or were completed so far. */
  readonly events: number
  /**
   * Send `first` bytes of the outgoing memory from `offset` on and `rest` from its start to the same places of the
   * peer's ring. Then tell the peer of all of them. False: later.
   */
  transmit(offset: number, first: number, rest: number): boolean
  /** Add to the two counts in the peer's memory; with `wake`, tell it. False: later. */
  transmitCredit(bytes: number, receives: number, wake: boolean): boolean
  /** Behind all that was transmitted. False: later. */
  transmitSignal(signal: Signal, argument: number): boolean
  /** Whether the peer's device has acknowledged the `close` of this end, and all before it. */
  drained(): boolean
  /**
   * Bring what has come. `inTurn`: the caller gives links their turns and has just looked for all of them. Throws what
   * ends the link.
   */
  collect(inTurn: boolean): void
  /** Have the link polled soon. */
  wakeSoon(): void
  /** The link has ended: give everything back. `inOrder`: both ends are done. */
  release(inOrder: boolean): void
}
