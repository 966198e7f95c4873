/**
 * One end of a ping-pong: the game itself. A queue pair sends again when it has received a message and its own send has
 * completed.
 */
import {
  CompletionBatch,
  type CompletionChannel,
  type CompletionQueue,
  CompletionStatus,
  type Device,
  explainStatus,
  statusName,
} from 'aether-dsm/verbs'
import { type MeetingOptions, meet } from './meeting.ts'
import type { Seat } from './seat.ts'
import { Table, type TableOptions } from './table.ts'

export interface GameOptions extends TableOptions, MeetingOptions {
  readonly iterations: number
  /** Sleep on completion events instead of spinning. */
  readonly events: boolean
  /** Send bytes that differ from message to message, and compare those that come back. Otherwise echo. */
  readonly check: boolean
}

export interface GameResult {
  readonly sent: number
  readonly received: number
  /** Messages that came back with the same bytes; 0 without `check`. */
  readonly checked: number
  readonly seconds: number
}

/** Ids of requests; also bits of `Seat.pending`. */
const RECEIVE = 1
const SEND = 2

export async function play(device: Device, options: GameOptions): Promise<GameResult> {
  using domain = device.createProtectionDomain()
  using channel = options.events ? device.createCompletionChannel() : undefined
  const depth = options.receiveDepth + options.pairs
  using queue = device.createCompletionQueue({ depth, ...(channel === undefined ? {} : { channel }) })
  using table = new Table(domain, queue, options)
  const game = new Game(table, options)
  if (channel !== undefined) queue.arm()
  await meet(table.endpoints, (remote) => table.connect(remote), options)
  const startedMs = performance.now()
  if (options.server !== undefined) game.serve()
  await run(game, queue, channel, options.signal)
  return { ...game.result, seconds: (performance.now() - startedMs) / 1000 }
}

async function run(
  game: Game,
  queue: CompletionQueue,
  channel: CompletionChannel | undefined,
  signal: AbortSignal,
): Promise<void> {
  const batch = new CompletionBatch(16)
  for (let spins = 1; !game.isOver; spins += 1) {
    const count = queue.poll(batch)
    for (let row = 0; row < count; row += 1) game.take(batch, row)
    if (count > 0) continue
    if (channel !== undefined) {
      await channel.wait({ signal })
      channel.drain()
      queue.arm() // then poll again: a completion that came before makes no event
    } else if (spins % 4096 === 0) {
      await new Promise(setImmediate) // lets the timer of the signal run
      signal.throwIfAborted()
    }
  }
}

class Game {
  readonly #table: Table
  readonly #options: GameOptions
  #sent = 0
  #received = 0
  #checked = 0

  constructor(table: Table, options: GameOptions) {
    this.#table = table
    this.#options = options
    for (const seat of table.seats) seat.pending = RECEIVE
    for (let posted = 0; posted < options.receiveDepth; posted += 1) table.postReceive(RECEIVE)
  }

  get isOver(): boolean {
    const { iterations } = this.#options
    return this.#sent >= iterations && this.#received >= iterations
  }

  get result(): Omit<GameResult, 'seconds'> {
    return { sent: this.#sent, received: this.#received, checked: this.#checked }
  }

  serve(): void {
    for (const seat of this.#table.seats) this.#send(seat)
  }

  /** Handle one completion: the row `row` of the batch. */
  take(batch: CompletionBatch, row: number): void {
    const status = batch.status[row] as CompletionStatus
    if (status !== CompletionStatus.Success) throw new Error(`${statusName(status)}: ${explainStatus(status)}`)
    const seat = this.#table.seatOf(batch.queuePairNumber[row]!)
    const id = batch.id[row]!
    if (id === SEND) this.#sent += 1
    else this.#receive(seat, batch.byteLength[row]!)
    seat.pending &= ~id
    if (seat.pending === 0 && this.#sent < this.#options.iterations) this.#send(seat)
  }

  #send(seat: Seat): void {
    if (this.#options.check) seat.leaving.bytes.fill(this.#sent + 1)
    else seat.leaving.bytes.set(this.#table.arrived)
    seat.send(SEND)
    seat.pending = RECEIVE | SEND
  }

  #receive(seat: Seat, lengthBytes: number): void {
    const { messageBytes, arrived } = this.#table
    if (lengthBytes !== messageBytes) throw new Error(`${lengthBytes} bytes arrived, not ${messageBytes}`)
    this.#received += 1
    const hasSent = this.#sent > 0 || (seat.pending & SEND) !== 0
    if (this.#options.check && hasSent) {
      if (Buffer.compare(arrived, seat.leaving.bytes) !== 0)
        throw new Error('the bytes that came back are not those that were sent')
      this.#checked += 1
    }
    this.#table.postReceive(RECEIVE)
  }
}
