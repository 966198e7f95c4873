import type { LocalRange, RegisteredBuffer, RemoteAddress } from './message-link.ts'

/** Carries the protocol of a pair of rings between two ends: over verbs, or over plain memory in tests. */
export abstract class RingCarrier {
  abstract allocate(lengthBytes: number): RegisteredBuffer
  abstract register(memory: Uint8Array): RegisteredBuffer
  abstract read(local: LocalRange, remote: RemoteAddress): Promise<void>
  abstract write(local: LocalRange, remote: RemoteAddress): Promise<void>

  /** The name of the peer for people if it is known, else its name in traces. */
  get peerText(): string {
    return this.label
  }

  /** What it is called in traces. */
  protected get label(): string {
    return 'link'
  }

  /**
   * Send `first` bytes of `outgoing` from `offset` on and `rest` from its start to the same places of the peer's ring;
   * then tell the peer of all of them. False: later.
   */
  protected abstract transmit(offset: number, first: number, rest: number): boolean
  /** Add to the two counts in the peer's memory; with `wake`, tell it. False: later. */
  protected abstract transmitCredit(bytes: number, receives: number, wake: boolean): boolean
  /** Behind all that was transmitted. */
  protected abstract transmitSignal(signal: number, argument: number): boolean
  /** Whether the peer's device has acknowledged the `close` of this end, and all before it. */
  protected abstract drained(): boolean
  /**
   * Look at what has come, and call `cameBytes` and `cameSignal`. `inTurn`: the caller gives links their turns and has
   * just looked for all of them.
   */
  protected abstract progress(inTurn: boolean): void
  /** Read the two counts in this end's memory, and call `cameCredit` with what was added. */
  protected abstract readCredit(): void
  /** Have `poll` called soon. */
  protected abstract wakeSoon(): void
  /** Give everything back; `inOrder`: both ends are done. */
  protected abstract release(inOrder: boolean): void
}
