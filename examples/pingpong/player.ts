/** One end of a ping-pong: the game itself. Whoever has received, and whose send is done, sends again. */
import {
  CompletionBatch,
  type CompletionChannel,
  type CompletionQueue,
  CompletionStatus,
  type Device,
  explainStatus,
} from 'aether-dsm/verbs'
import { type MeetingOptions, meet } from './meeting.ts'
import { Seat, type SeatOptions } from './seat.ts'

export interface GameOptions extends SeatOptions, MeetingOptions {
  readonly iterations: number
  /** Sleep on completion events instead of spinning. */
  readonly events: boolean
  /** Send bytes that differ from message to message, and compare what comes back; else echo what came. */
  readonly check: boolean
}

export interface GameResult {
  readonly sent: number
  readonly received: number
  /** Messages that came back with the bytes that they had been sent with; with `check` only. */
  readonly checked: number
  readonly seconds: number
}

/** Ids of requests. */
const RECEIVE = 1
const SEND = 2

export async function play(device: Device, options: GameOptions): Promise<GameResult> {
  using domain = device.createProtectionDomain()
  using channel = options.events ? device.createCompletionChannel() : undefined
  const depth = options.receiveDepth + 1
  using queue = device.createCompletionQueue({ depth, ...(channel === undefined ? {} : { channel }) })
  using seat = new Seat(domain, queue, options)
  const game = new Game(seat, options)
  if (channel !== undefined) queue.arm()
  await meet([seat.pair.endpoint], ([remote]) => remote !== undefined && seat.connect(remote), options)
  const startedMs = performance.now()
  if (options.server !== undefined) game.send()
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
  for (let spins = 1; !game.isOver; spins++) {
    const count = queue.poll(batch)
    for (let row = 0; row < count; row++) game.take(batch, row)
    if (count > 0) continue
    if (channel !== undefined) {
      await channel.wait({ signal })
      channel.drain()
      queue.arm() // and once more around: what came before does not make an event
    } else if (spins % 4096 === 0) {
      await new Promise(setImmediate) // so that the timer behind the signal has its turn
      signal.throwIfAborted()
    }
  }
}

class Game {
  readonly seat: Seat
  readonly #options: GameOptions
  /** What must complete before the next send. */
  #pending = RECEIVE
  #sent = 0
  #received = 0
  #checked = 0

  constructor(seat: Seat, options: GameOptions) {
    this.seat = seat
    this.#options = options
    for (let posted = 0; posted < options.receiveDepth; posted++) seat.receive.post(RECEIVE)
  }

  get isOver(): boolean {
    const { iterations } = this.#options
    return this.#sent >= iterations && this.#received >= iterations
  }

  get result(): Omit<GameResult, 'seconds'> {
    return { sent: this.#sent, received: this.#received, checked: this.#checked }
  }

  send(): void {
    if (this.#options.check) this.seat.leaving.fill(this.#sent + 1)
    else this.seat.leaving.set(this.seat.arrived)
    this.seat.send(SEND)
    this.#pending = RECEIVE | SEND
  }

  /** One completion. */
  take(batch: CompletionBatch, row: number): void {
    const status = batch.status[row] as CompletionStatus
    if (status !== CompletionStatus.Success) throw new Error(explainStatus(status))
    const id = batch.id[row] as number
    if (id === SEND) this.#sent++
    else this.#receive(batch.byteLength[row] as number)
    this.#pending &= ~id
    if (this.#pending === 0 && this.#sent < this.#options.iterations) this.send()
  }

  #receive(lengthBytes: number): void {
    const { seat } = this
    if (lengthBytes !== seat.messageBytes) throw new Error(`${lengthBytes} bytes came, not ${seat.messageBytes}`)
    this.#received++
    if (this.#options.check && this.#sent + (this.#pending & SEND ? 1 : 0) > 0) {
      if (Buffer.compare(seat.arrived, seat.leaving) !== 0) throw new Error('other bytes came back than were sent')
      this.#checked++
    }
    seat.receive.post(RECEIVE)
  }
}
