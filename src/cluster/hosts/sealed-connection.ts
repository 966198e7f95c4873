import type { Socket } from 'node:net'
import process from 'node:process'
import { ArgumentError } from '../../native/index.ts'
import { encodeFrame, FrameReader, FrameTooLongError } from './frames.ts'
import type { Handshake, HandshakeFailure, SessionKeys } from './handshake.ts'
import { Seal } from './seal.ts'

/** The longest frame before the other end has proved that it knows the secret. */
const STRANGER_BYTES_MAX = 256
/** The longest frame afterwards: cards of 507 ranks, each with 507 endpoints, in base64. */
const MESSAGE_BYTES_MAX = 8 * 2 ** 20

/** Sent before the connection is closed for silence, so that the close is not taken for the end of a process. */
const UNHEARD: Buffer = Buffer.from('!')
/** How long the other end has to read the last message. */
const LINGER_MS = 1000

/** Time limits, in milliseconds. */
export interface ConnectionLimits {
  /** Until the other end has proved that it knows the secret, and has sent its first message. */
  readonly handshakeMs: number
  /** Between two signs of life that are sent. */
  readonly beatMs: number
  /** Without a sign of life for this long, the other end is considered dead. */
  readonly silenceMs: number
}

export const CONNECTION_LIMITS: ConnectionLimits = { handshakeMs: 5000, beatMs: 1000, silenceMs: 10_000 }

/** The variable that sets how long a silence counts as a death, in milliseconds. */
const SILENCE_VARIABLE = 'AETHER_SILENCE_MS'
const SILENCE_MS_MIN = 2000

/** The limits in force. @throws ArgumentError if the variable's value is impossible. */
export function connectionLimits(): ConnectionLimits {
  const text = process.env[SILENCE_VARIABLE]
  if (text === undefined || text === '') return CONNECTION_LIMITS
  const silenceMs = Number(text)
  if (silenceMs >= SILENCE_MS_MIN && silenceMs < 2 ** 31)
    return { ...CONNECTION_LIMITS, silenceMs, handshakeMs: Math.max(CONNECTION_LIMITS.handshakeMs, silenceMs / 2) }
  throw new ArgumentError(SILENCE_VARIABLE, `${SILENCE_VARIABLE} must be at least ${SILENCE_MS_MIN} ms, not '${text}'`)
}

/** Why a connection is over. */
export type ConnectionEnd =
  | { readonly kind: HandshakeFailure | 'late' | 'silent' | 'closed' }
  | { readonly kind: 'malformed' | 'failed'; readonly message: string }

export interface ConnectionHandlers {
  /** Both ends have proved that they know the secret. */
  ready?(): void
  message(value: unknown): void
  /** Called once. Nothing comes after it. Not called after {@link SealedConnection.close}. */
  ended(end: ConnectionEnd): void
}

/**
 * One end of a TCP connection between ends that share a secret: a handshake, then sealed JSON messages, and empty ones
 * as signs of life. It ends by itself within a bounded time, whatever the other end does.
 */
export class SealedConnection {
  readonly #socket: Socket
  readonly #handshake: Handshake
  readonly #limits: ConnectionLimits
  readonly #handlers: ConnectionHandlers
  readonly #reader = new FrameReader(STRANGER_BYTES_MAX)
  #sealing: Seal | undefined
  #opening: Seal | undefined
  #deadline: NodeJS.Timeout
  #beat: NodeJS.Timeout | undefined
  #admitted = false
  /** The number of messages, signs of life included. */
  #heard = 0
  #over = false

  constructor(socket: Socket, handshake: Handshake, limits: ConnectionLimits, handlers: ConnectionHandlers) {
    this.#socket = socket
    this.#handshake = handshake
    this.#limits = limits
    this.#handlers = handlers
    this.#deadline = setTimeout(() => this.#end({ kind: 'late' }), limits.handshakeMs)
    socket.setNoDelay(true)
    socket.on('data', (chunk) => this.#receive(chunk))
    socket.on('error', (error) => this.#end({ kind: 'failed', message: error.message }))
    socket.on('close', () => this.#end({ kind: 'closed' }))
    if (handshake.opening !== undefined) socket.write(encodeFrame(handshake.opening))
  }

  /** Send a JSON value. Nothing happens once the connection is over. */
  send(value: unknown): void {
    this.#sendSealed(Buffer.from(JSON.stringify(value)))
  }

  /** The other end has identified itself: from now on it only has to give signs of life. */
  admit(): void {
    this.#admitted = true
    clearTimeout(this.#deadline)
    this.#deadline = setTimeout(() => this.#judgeSilence(), this.#limits.silenceMs)
  }

  /** Send what was queued, then end. */
  close(): void {
    if (!this.#over) this.#stop()
  }

  /**
   * If this thread was the one that stalled, what was sent in the meantime waits to be read. It is read before the
   * verdict.
   */
  #judgeSilence(): void {
    const heard = this.#heard
    setImmediate(() => {
      if (this.#heard === heard) this.#end({ kind: 'silent' })
    })
  }

  #receive(chunk: Buffer): void {
    if (this.#over) return
    this.#reader.push(chunk)
    try {
      for (let frame = this.#next(); frame !== undefined; frame = this.#next()) this.#take(frame)
    } catch (error) {
      if (!(error instanceof FrameTooLongError)) throw error
      this.#end({ kind: 'malformed', message: error.message })
    }
  }

  #next(): Buffer | undefined {
    return this.#over ? undefined : this.#reader.next()
  }

  #take(frame: Buffer): void {
    if (this.#opening === undefined) this.#shakeHands(frame)
    else this.#takeMessage(this.#opening.open(frame))
  }

  #shakeHands(frame: Buffer): void {
    const step = this.#handshake.step(frame)
    if (step.reply !== undefined) this.#socket.write(encodeFrame(step.reply))
    if (step.kind === 'failed') this.#end({ kind: step.failure })
    if (step.kind === 'done') this.#begin(step.keys)
  }

  #begin({ fromCaller, fromListener }: SessionKeys): void {
    const isListener = this.#handshake.opening !== undefined
    this.#sealing = new Seal(isListener ? fromListener : fromCaller)
    this.#opening = new Seal(isListener ? fromCaller : fromListener)
    this.#reader.lengthMax = MESSAGE_BYTES_MAX
    this.#beat = setInterval(() => this.#sendSealed(Buffer.alloc(0)), this.#limits.beatMs)
    this.#handlers.ready?.()
  }

  #takeMessage(message: Buffer | undefined): void {
    if (message === undefined) {
      this.#end({ kind: 'malformed', message: 'a message that its sender did not seal' })
      return
    }
    // Before it is admitted, a deadline runs that signs of life do not extend.
    this.#heard += 1
    if (this.#admitted) this.#deadline.refresh()
    if (message.length === 0) return
    if (message.equals(UNHEARD)) {
      this.#end({ kind: 'silent' })
      return
    }
    const value = parse(message)
    if (value === undefined) this.#end({ kind: 'malformed', message: 'a message that is not JSON' })
    else this.#handlers.message(value)
  }

  #sendSealed(message: Buffer): void {
    if (!this.#over && this.#sealing !== undefined) this.#socket.write(encodeFrame(this.#sealing.close(message)))
  }

  #end(end: ConnectionEnd): void {
    if (this.#over) return
    if (end.kind === 'silent') this.#sendSealed(UNHEARD)
    this.#stop()
    this.#handlers.ended(end)
  }

  /** The last message, a refusal, may still go out if the other end reads it; nothing more is read. */
  #stop(): void {
    this.#over = true
    clearTimeout(this.#deadline)
    clearInterval(this.#beat)
    this.#socket.destroySoon()
    setTimeout(() => this.#socket.destroy(), LINGER_MS).unref()
  }
}

function parse(message: Buffer): unknown {
  try {
    return JSON.parse(message.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}
