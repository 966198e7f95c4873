import { createServer, type Server, type Socket } from 'node:net'
import { RendezvousError } from './errors.ts'
import { ListenerHandshake } from './handshake.ts'
import { checkFromRank, type FromKeeper, type FromRank, type Refusal } from './messages.ts'
import { CONNECTION_LIMITS, type ConnectionEnd, type ConnectionLimits, SealedConnection } from './sealed-connection.ts'

/**
 * Connections that have not identified themselves yet. If there is one more, the oldest is dropped, so that idle
 * strangers keep no one out.
 */
const STRANGERS_MAX = 64
/** Refusals that are reported one by one; after that only their number is. */
const REFUSALS_TOLD_MAX = 20
/**
 * At the end of this round the group is complete. Ranks that end later are reported as missing, and no longer waited
 * for.
 */
export const COMPLETING_ROUND = 2
/** The last round is for leaving. */
const ROUNDS = 4

export interface KeeperOptions {
  readonly secret: Buffer
  readonly size: number
  /** Where to listen; port 0 takes a free one. */
  readonly host: string | undefined
  readonly port: number
  /** Called with one line for an administrator: which connection was refused, from where and why. */
  readonly log: (line: string) => void
  /** A rank has joined. */
  readonly onJoin?: (rank: number, address: string) => void
  /**
   * A rank has ended without saying goodbye; `silent`: nothing was heard from it, so whether it has ended is not known.
   */
  readonly onEnd?: (rank: number, why: string, silent: boolean) => void
  readonly limits?: ConnectionLimits
}

interface Seat {
  readonly rank: number
  readonly connection: SealedConnection
  readonly address: string
  /** The next round that it has to give a value for. */
  round: number
}

/**
 * The place where the ranks of a group meet over TCP. It lets in processes that know the secret and gathers what they
 * say to each other. Then it watches over them: if one ends without a farewell or falls silent, the others are told.
 * Lives in rank 0 or in the launcher.
 */
export class Keeper {
  readonly #options: KeeperOptions
  readonly #limits: ConnectionLimits
  readonly #server: Server
  /** Not admitted yet, oldest first. */
  readonly #strangers = new Set<SealedConnection>()
  readonly #seats: (Seat | undefined)[]
  /** Ranks that were here, and have ended or left. */
  readonly #gone = new Set<number>()
  readonly #given: readonly unknown[][]
  #refusals = 0
  #lastRefusal: Refusal | null = null
  /** True once every rank is there and connected. */
  #complete = false
  #closed = false

  private constructor(options: KeeperOptions) {
    this.#options = options
    this.#limits = options.limits ?? CONNECTION_LIMITS
    this.#seats = new Array<Seat | undefined>(options.size).fill(undefined)
    this.#given = Array.from({ length: ROUNDS }, () => new Array<unknown>(options.size).fill(null))
    this.#server = createServer((socket) => this.#greet(socket))
  }

  /** @throws RendezvousError if it cannot listen there. */
  static async listen(options: KeeperOptions): Promise<Keeper> {
    const keeper = new Keeper(options)
    const { host, port } = options
    await new Promise<void>((resolve, reject) => {
      keeper.#server.once('error', (cause: NodeJS.ErrnoException) => reject(cannotListen(host, port, cause)))
      keeper.#server.listen({ port, ...(host === undefined ? {} : { host }) }, resolve)
    })
    keeper.#server.on('error', (error) => options.log(`the rendezvous cannot accept a connection: ${error.message}`))
    return keeper
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : this.#options.port
  }

  /** Ranks that have not arrived. */
  missing(): readonly number[] {
    return [...this.#seats.keys()].filter((rank) => this.#seats[rank] === undefined && !this.#gone.has(rank))
  }

  /** Say goodbye to the ranks, and let no one in any more. Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#server.close()
    this.#tell({ type: 'bye' })
    for (const seat of this.#seats) seat?.connection.close()
    for (const stranger of this.#strangers) stranger.close()
  }

  #greet(socket: Socket): void {
    const address = addressOf(socket)
    let seat: Seat | undefined
    const connection: SealedConnection = new SealedConnection(
      socket,
      new ListenerHandshake(this.#options.secret),
      this.#limits,
      {
        message: (value) => {
          const message = checkFromRank(value)
          if (seat !== undefined) this.#hear(seat, message)
          else seat = this.#admit(connection, address, message)
        },
        ended: (end) => {
          this.#strangers.delete(connection)
          if (seat === undefined) this.#refused(address, describeStranger(end))
          else this.#lost(seat, describeEnd(end, this.#limits), end)
        },
      },
    )
    this.#strangers.add(connection)
    if (this.#strangers.size > STRANGERS_MAX) this.#dropOldest()
  }

  #dropOldest(): void {
    const [oldest] = this.#strangers
    if (oldest === undefined) return
    this.#strangers.delete(oldest)
    oldest.close()
    this.#refused(
      'somebody',
      `more than ${STRANGERS_MAX} connections had not identified themselves; dropped the oldest`,
    )
  }

  #admit(connection: SealedConnection, address: string, message: FromRank | undefined): Seat | undefined {
    this.#strangers.delete(connection)
    const { size } = this.#options
    if (message?.type !== 'join') return this.#reject(connection, address, 'it did not say which rank it is')
    const { rank } = message
    if (message.size !== size)
      return this.#reject(connection, address, `its group has ${message.size} ranks, and this one has ${size}`)
    if (rank >= size) return this.#reject(connection, address, `rank ${rank} is not one of ${size}`)
    const known = this.#seats[rank]
    if (known !== undefined || this.#gone.has(rank))
      return this.#reject(connection, address, `rank ${rank} is already here, from ${known?.address ?? 'elsewhere'}`)
    const seat: Seat = { rank, connection, address, round: 0 }
    this.#seats[rank] = seat
    connection.admit()
    this.#options.onJoin?.(rank, address)
    this.#take(seat, 0, message.value)
    this.#tellMissing()
    // No other process is expected here: free the port.
    if (this.missing().length === 0) this.#server.close()
    return seat
  }

  #reject(connection: SealedConnection, address: string, reason: string): undefined {
    connection.send({ type: 'refused', reason } satisfies FromKeeper)
    connection.close()
    this.#refused(address, reason)
    return undefined
  }

  #hear(seat: Seat, message: FromRank | undefined): void {
    if (message?.type === 'bye') this.#leave(seat, message.why)
    else if (message?.type === 'give' && message.round === seat.round && seat.round < ROUNDS)
      this.#take(seat, message.round, message.value)
    else {
      seat.connection.close()
      this.#lost(seat, 'it sent an unknown message', undefined)
    }
  }

  #take(seat: Seat, round: number, value: unknown): void {
    this.#given[round]![seat.rank] = value
    seat.round = round + 1
    this.#settle(round)
  }

  /**
   * If all ranks have given a value for a round, give each of them all values; those of ranks that have ended are null.
   */
  #settle(round: number): void {
    const hasGiven = (seat: Seat | undefined): boolean => (seat === undefined ? this.#complete : seat.round > round)
    if (!this.#seats.every(hasGiven)) return
    this.#complete ||= round === COMPLETING_ROUND
    this.#tell({ type: 'gathered', round, values: this.#given[round]! })
  }

  #leave(seat: Seat, why: string): void {
    this.#unseat(seat)
    seat.connection.close()
    // Before the group is complete a departure is as bad as a death: it will never be complete.
    if (!this.#complete) this.#tell(ended(seat.rank, `it gave up: ${why}`, false))
  }

  #lost(seat: Seat, why: string, end: ConnectionEnd | undefined): void {
    if (this.#closed || this.#seats[seat.rank] !== seat) return
    this.#unseat(seat)
    this.#options.onEnd?.(seat.rank, why, end?.kind === 'silent')
    this.#tell(ended(seat.rank, why, end?.kind === 'closed'))
  }

  #unseat(seat: Seat): void {
    this.#seats[seat.rank] = undefined
    this.#gone.add(seat.rank)
    // A round may have waited only for this rank.
    if (this.#complete) this.#settle(ROUNDS - 1)
  }

  #tell(message: FromKeeper): void {
    for (const seat of this.#seats) seat?.connection.send(message)
  }

  #tellMissing(): void {
    const ranks = this.missing()
    if (ranks.length > 0) this.#tell({ type: 'missing', ranks, refusal: this.#lastRefusal })
  }

  #refused(address: string, reason: string): void {
    if (this.#closed) return
    this.#refusals += 1
    if (this.#refusals > REFUSALS_TOLD_MAX) return
    this.#options.log(`the rendezvous refused ${address}: ${reason}`)
    if (this.#refusals === REFUSALS_TOLD_MAX) this.#options.log('further refusals are not reported')
    this.#lastRefusal = { address, reason }
    this.#tellMissing()
  }
}

function ended(rank: number, why: string, certain: boolean): FromKeeper {
  return { type: 'ended', rank, why, certain }
}

function addressOf(socket: Socket): string {
  return `${socket.remoteAddress?.replace(/^::ffff:/, '') ?? 'a closed connection'}:${socket.remotePort ?? '?'}`
}

function describeStranger(end: ConnectionEnd): string {
  switch (end.kind) {
    case 'secret':
      return 'it does not know the secret'
    case 'late':
      return 'it did not identify itself in time'
    case 'closed':
      return 'it went away without identifying itself'
    case 'failed':
    case 'malformed':
      return end.message
    default:
      return 'it does not speak the protocol of a rendezvous, or another version of it'
  }
}

/** Why an admitted rank is considered dead. */
function describeEnd(end: ConnectionEnd, limits: ConnectionLimits): string {
  switch (end.kind) {
    case 'silent':
      return `nothing was heard from it for ${limits.silenceMs / 1000} s`
    case 'failed':
    case 'malformed':
      return `its connection failed: ${end.message}`
    default:
      return 'its process ended'
  }
}

function cannotListen(host: string | undefined, port: number, cause: NodeJS.ErrnoException): RendezvousError {
  const address = `${host ?? '*'}:${port}`
  const why = cause.code === 'EADDRINUSE' ? 'another program listens there; choose another port' : cause.message
  return new RendezvousError(
    'ERR_AETHER_RENDEZVOUS_UNREACHABLE',
    address,
    `the rendezvous cannot listen at ${address}: ${why}`,
    { cause },
  )
}
