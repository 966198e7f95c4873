import { connect, type Socket } from 'node:net'
import { MissingMembersError, ranksInWords } from '../group/errors.ts'
import { RendezvousError } from './errors.ts'
import { CallerHandshake } from './handshake.ts'
import { checkFromKeeper, type FromKeeper, type FromRank, type Refusal } from './messages.ts'
import { type ConnectionEnd, type ConnectionLimits, SealedConnection } from './sealed-connection.ts'

/** The keeper may start to listen after the ranks start to call. Time until the next try, at first and at most. */
const RETRY_MS_MIN = 50
const RETRY_MS_MAX = 1000

export interface CallerOptions {
  readonly host: string
  readonly port: number
  readonly secret: Buffer
  readonly rank: number
  readonly size: number
  /** For each round, from its start. */
  readonly timeoutMs: number
  readonly limits: ConnectionLimits
}

export interface CallerHandlers {
  gathered(round: number, values: readonly unknown[]): void
  /** A rank has ended; if that is not `certain`, nothing is heard from it. */
  ended(rank: number, why: string, certain: boolean): void
  /** The keeper is gone. `orderly`: it said goodbye; `certain`: its process has ended. */
  lost(why: string, orderly: boolean, certain: boolean): void
  /** This rank was not let in, or the keeper does not answer. No call follows. */
  failed(error: Error): void
}

/**
 * A rank's end of the rendezvous. It calls until the keeper answers, joins, gives and takes values, then shows signs of
 * life.
 */
export class RendezvousCaller {
  readonly #options: CallerOptions
  readonly #handlers: CallerHandlers
  readonly #address: string
  #socket: Socket | undefined
  #connection: SealedConnection | undefined
  #first: unknown
  #retry: NodeJS.Timeout | undefined
  #retryMs = RETRY_MS_MIN
  #deadline: NodeJS.Timeout | undefined
  #joined = false
  #over = false
  /** Why the last try failed. */
  #trouble = 'there was no answer'
  #missing: readonly number[] | undefined
  #refusal: Refusal | null = null

  constructor(options: CallerOptions, handlers: CallerHandlers) {
    this.#options = options
    this.#handlers = handlers
    this.#address = `${options.host}:${options.port}`
  }

  /** The connection's socket; undefined before the first call. */
  get socket(): Socket | undefined {
    return this.#socket
  }

  /** Give a value for a round; the first call joins. */
  give(round: number, value: unknown): void {
    if (this.#over) return
    this.#deadline = setTimeout(() => this.#tooLate(), this.#options.timeoutMs)
    if (round === 0) {
      this.#first = value
      this.#call()
    } else {
      this.#say({ type: 'give', round, value })
    }
  }

  /** Say goodbye; `why` matters to the others if the group is not complete yet. Idempotent. */
  close(why: string = 'it left'): void {
    if (this.#over) return
    this.#say({ type: 'bye', why })
    this.#finish()
  }

  #call(): void {
    const { host, port, secret, limits } = this.#options
    const socket = connect({ host, port })
    this.#socket = socket
    const onError = (error: Error): void => this.#tryAgain(error.message)
    // If a host does not answer, the kernel would keep trying for two minutes.
    socket.setTimeout(limits.handshakeMs, () => socket.destroy(new Error(`no answer within ${limits.handshakeMs} ms`)))
    socket.once('error', onError)
    socket.once('connect', () => {
      socket.setTimeout(0)
      socket.off('error', onError)
      if (this.#over) return
      this.#connection = new SealedConnection(socket, new CallerHandshake(secret), limits, {
        ready: () => this.#join(),
        message: (value) => this.#hear(checkFromKeeper(value, this.#options.size)),
        ended: (end) => this.#connectionEnded(end),
      })
    })
  }

  #tryAgain(trouble: string): void {
    if (this.#over) return
    this.#trouble = trouble
    this.#retry = setTimeout(() => this.#call(), this.#retryMs)
    this.#retryMs = Math.min(2 * this.#retryMs, RETRY_MS_MAX)
  }

  #join(): void {
    const { rank, size } = this.#options
    this.#joined = true
    this.#connection?.admit()
    this.#say({ type: 'join', rank, size, value: this.#first })
  }

  #say(message: FromRank): void {
    this.#connection?.send(message)
  }

  #hear(message: FromKeeper | undefined): void {
    switch (message?.type) {
      case undefined:
        this.#lost('it sent an unknown message', false, false)
        break
      case 'refused':
        this.#fail(this.#refused(message.reason))
        break
      case 'missing':
        this.#missing = message.ranks
        this.#refusal = message.refusal
        break
      case 'gathered':
        clearTimeout(this.#deadline)
        this.#handlers.gathered(message.round, message.values)
        break
      case 'ended':
        this.#handlers.ended(message.rank, message.why, message.certain)
        break
      case 'bye':
        this.#lost('it has left', true, false)
    }
  }

  #connectionEnded(end: ConnectionEnd): void {
    if (this.#joined) this.#lost(describeLoss(end, this.#options.limits), false, end.kind === 'closed')
    else if (end.kind === 'refused')
      this.#fail(this.#refused('the secret of this process differs from that of the rendezvous'))
    else if (end.kind === 'secret') this.#fail(this.#refused('it does not know the secret of this process'))
    else if (end.kind === 'protocol' || end.kind === 'malformed')
      this.#fail(this.#refused('it does not speak the protocol of a rendezvous, or another version of it'))
    // An earlier listener that is just ending, or one that is overrun by strangers.
    else this.#tryAgain(end.kind === 'failed' ? end.message : 'it did not continue the handshake')
  }

  #refused(why: string): RendezvousError {
    return new RendezvousError(
      'ERR_AETHER_RENDEZVOUS_REFUSED',
      this.#address,
      `rank ${this.#options.rank} cannot join at ${this.#address}: ${why}`,
    )
  }

  #tooLate(): void {
    const { rank, size, timeoutMs } = this.#options
    if (!this.#joined) {
      const message = `rank ${rank} did not reach the rendezvous at ${this.#address} within ${timeoutMs} ms: ${this.#trouble}`
      this.#fail(new RendezvousError('ERR_AETHER_RENDEZVOUS_UNREACHABLE', this.#address, message))
      return
    }
    const ranks = this.#missing ?? []
    const who = ranks.length === 0 ? 'not all ranks joined' : `${ranksInWords(ranks)} did not join`
    const refusal = this.#refusal
    const told = refusal === null ? '' : `; the rendezvous refused ${refusal.address}: ${refusal.reason}`
    const cause =
      refusal === null
        ? {}
        : { cause: new RendezvousError('ERR_AETHER_RENDEZVOUS_REFUSED', refusal.address, refusal.reason) }
    const message = `the group of ${size} was not complete within ${timeoutMs} ms: ${who}${told}`
    this.#fail(new MissingMembersError(ranks, message, cause))
  }

  #lost(why: string, orderly: boolean, certain: boolean): void {
    if (this.#over) return
    this.#finish()
    this.#handlers.lost(why, orderly, certain)
  }

  #fail(error: Error): void {
    if (this.#over) return
    this.close(error.message)
    this.#handlers.failed(error)
  }

  #finish(): void {
    this.#over = true
    clearTimeout(this.#deadline)
    clearTimeout(this.#retry)
    if (this.#connection === undefined) this.#socket?.destroy()
    else this.#connection.close()
  }
}

function describeLoss(end: ConnectionEnd, limits: ConnectionLimits): string {
  if (end.kind === 'silent') return `nothing was heard from it for ${limits.silenceMs / 1000} s`
  if (end.kind === 'failed' || end.kind === 'malformed') return `the connection to it failed: ${end.message}`
  return 'its process ended'
}
