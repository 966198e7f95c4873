import { ArgumentError, checkIteration, checkOptions, mustBe, type OptionNames } from '../../native/index.ts'
import { untilAborted } from '../../runtime/index.ts'
import { checkNotCombining } from './combining.ts'
import { disconnectedError, PeerError } from './errors.ts'
import type { Attached, Hub } from './hub.ts'

export interface PeerWaitOptions {
  readonly signal?: AbortSignal
}

export interface PeerSyncOptions {
  /** Default: no limit. */
  readonly timeoutMs?: number
}

const syncNames: OptionNames<PeerSyncOptions> = { timeoutMs: true }

/** Another process of the context, with which you exchange messages. */
export class Peer {
  /** The number it was opened with, which names it in every list of members. */
  readonly number: number
  readonly #hub: Hub
  readonly #attached: Attached
  #lastError: Error | undefined
  #gone: Promise<void>
  #tellGone!: () => void

  /** @internal */
  constructor(hub: Hub, attached: Attached) {
    this.number = attached.number
    this.#hub = hub
    this.#attached = attached
    this.#gone = new Promise((resolve) => {
      this.#tellGone = resolve
    })
  }

  /** @internal How many received messages wait to be taken. */
  get waiting(): number {
    return this.#attached.messages.waiting
  }

  get connected(): boolean {
    return this.#hub.get(this.number) === this.#attached
  }

  /**
   * The error of the last failure that concerned this peer, with the underlying one as `cause`. Undefined if there was
   * none.
   */
  get lastError(): Error | undefined {
    return this.#lastError
  }

  /** Resolves when the peer is no longer connected, for whatever reason: see `lastError`. */
  get gone(): Promise<void> {
    return this.#gone
  }

  /**
   * Send a message; messages arrive in order. Resolves when the bytes may be used again, which waits for room at the
   * peer.
   * @throws PeerError if the peer is lost: the message may or may not have arrived; ArgumentError beyond
   * `messageBytesMax`.
   */
  send(message: Uint8Array): Promise<void> {
    return this.#noting(new Promise((resolve, reject) => this.#send(message, resolve, reject)))
  }

  /** Return the next message, in its own array. @throws PeerError if the peer is lost; the signal's reason. */
  async receive(options?: PeerWaitOptions): Promise<Uint8Array> {
    checkIteration('receive', options)
    const signal = options?.signal
    let forget = (): void => {}
    const message = new Promise<Uint8Array>((resolve, reject) => {
      forget = () => this.#attached.messages.forget(resolve)
      this.#attached.messages.receive(resolve, reject)
    })
    return this.#noting(untilAborted(message, signal, forget))
  }

  /**
   * Do {@link send}, spinning. @throws TimeoutError, too: the message may still leave; ArgumentError from within an
   * operation that combines.
   */
  sendSync(message: Uint8Array, options?: PeerSyncOptions): void {
    checkOptions('sendSync', options, syncNames)
    this.#spin<void>((resolve, reject) => this.#send(message, resolve, reject), options, 'the message leaving')
  }

  /** Do {@link receive}, spinning. @throws TimeoutError, too; ArgumentError from within an operation that combines. */
  receiveSync(options?: PeerSyncOptions): Uint8Array {
    checkOptions('receiveSync', options, syncNames)
    let settle: (message: Uint8Array) => void = () => {}
    try {
      return this.#spin<Uint8Array>(
        (resolve, reject) => {
          settle = resolve
          this.#attached.messages.receive(resolve, reject)
        },
        options,
        `a message from peer ${this.number}`,
      )
    } catch (error) {
      this.#attached.messages.forget(settle)
      throw error
    }
  }

  /** Yield its messages until it disconnects. @throws PeerError if it is lost. */
  async *messages(options?: PeerWaitOptions): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      let message: Uint8Array
      try {
        message = await this.receive(options)
      } catch (error) {
        if (error instanceof PeerError && error.cause === undefined) return
        throw error
      }
      yield message
    }
  }

  /**
   * Send what was passed to `send`, then end the connection; groups with this peer are over. A peer that does not
   * receive it within `closeTimeoutMs` of the link (5 s) is lost. Further messages are refused. Idempotent.
   */
  disconnect(): Promise<void> {
    const { channel, messages } = this.#attached
    return channel.close(messages.finish(disconnectedError(this.number, true)))
  }

  /** @internal The link has ended. */
  ended(error: Error | undefined): void {
    if (error !== undefined) this.#lastError = error
    this.#tellGone()
  }

  #send(message: Uint8Array, resolve: () => void, reject: (error: Error) => void): void {
    const { messageBytesMax } = this.#hub.limits
    if (!this.connected) {
      const why = `peer ${this.number} is not connected any more`
      reject(new PeerError('ERR_AETHER_PEER_LOST', this.number, why, { cause: this.#lastError }))
    } else if (!(message instanceof Uint8Array)) reject(new ArgumentError('message', 'message must be a Uint8Array'))
    else if (message.length > messageBytesMax)
      reject(
        new ArgumentError(
          'message',
          `a message can have at most ${messageBytesMax} bytes, not ${message.length}; raise messageBytesMax at both ends`,
        ),
      )
    else this.#attached.messages.send(message, resolve, reject)
  }

  async #noting<T>(promise: Promise<T>): Promise<T> {
    try {
      return await promise
    } catch (error) {
      this.#note(error)
      throw error
    }
  }

  #note(error: unknown): void {
    if (error instanceof Error) this.#lastError = error
  }

  #spin<T>(
    begin: (resolve: (value: T) => void, reject: (error: Error) => void) => void,
    options: PeerSyncOptions | undefined,
    what: string,
  ): T {
    const timeoutMs = options?.timeoutMs ?? Number.POSITIVE_INFINITY
    checkTimeout(timeoutMs)
    let outcome: { readonly value: T } | { readonly error: Error } | undefined
    try {
      checkNotCombining()
      begin(
        (value) => {
          outcome = { value }
        },
        (error) => {
          outcome = { error }
        },
      )
      this.#hub.spin(
        () => outcome !== undefined,
        [this.#attached.channel],
        timeoutMs,
        () => what,
      )
      const over = outcome as unknown as { readonly value: T } | { readonly error: Error }
      if ('error' in over) throw over.error
      return over.value
    } catch (error) {
      this.#note(error)
      throw error
    }
  }
}

/** Infinity: no limit; 0: look once. @throws ArgumentError */
function checkTimeout(timeoutMs: unknown): void {
  if (typeof timeoutMs === 'number' && timeoutMs >= 0) return
  throw mustBe('options.timeoutMs', 'a number of milliseconds of at least 0', timeoutMs)
}
