import { removeAbortCallback } from '../runtime/index.ts'
import type { UncheckedAnswer } from './checked-answer.ts'
import type { Metadata } from './extension.ts'
import { NO_BUDGET, SLOTS_MAX } from './frame.ts'
import type { IncomingStream } from './incoming-stream.ts'
import type { MethodInfo } from './method-info.ts'
import type { CallStart } from './method-meter.ts'
import type { OutgoingFrame } from './outgoing-frame.ts'
import type { Credit } from './stream-pump.ts'

/** What a blocking call waits for. */
export interface SyncAnswer {
  done: boolean
  value: unknown
  error: unknown
  /** What is still to be checked before the value is an answer. */
  unchecked: UncheckedAnswer | undefined
}

type Settle = (value: never) => void

/**
 * A slot of the table of calls. It is reused for call after call; what belongs to one call is removed when it ends.
 *
 * - free → open: a caller waits.
 * - open → free: the server's last frame has come.
 * - open → abandoned: no caller waits, and the server has not sent its last frame.
 * - abandoned → free: it has.
 */
export class ClientCall {
  readonly slot: number
  /** The id on the wire, read with a sign, so that the engine does not have to box it. */
  id: number
  /** A caller waits. */
  open = false
  /** The server has not sent its last frame. */
  busy = false
  method: MethodInfo | undefined
  resolve: Settle | undefined
  reject: Settle | undefined
  sync: SyncAnswer | undefined
  /** A time of `performance.now()`. */
  deadline: number = Infinity
  /** The time that the server has, in microseconds. */
  budget: number = NO_BUDGET
  /** Set if its duration is measured. */
  began: CallStart | undefined
  signal: AbortSignal | undefined
  onAbort: (() => void) | undefined
  onMetadata: ((metadata: Metadata) => void) | undefined
  /** The request while it waits for room. */
  waiting: OutgoingFrame | undefined
  answers: IncomingStream<unknown> | undefined
  requestCredit: Credit | undefined
  traced = 0
  /** Called when the server has sent its last frame, or never will. */
  onLast: (() => void) | undefined

  constructor(slot: number) {
    this.slot = slot
    this.id = slot
  }

  /** True if the server may know of it. */
  get sent(): boolean {
    return this.waiting === undefined || this.waiting.started
  }

  /** No caller waits any more; what the caller passed is released. */
  leave(): void {
    this.open = false
    if (this.signal !== undefined) removeAbortCallback(this.signal, this.onAbort!)
    this.requestCredit?.stop()
    this.signal = undefined
    this.onAbort = undefined
    this.resolve = undefined
    this.reject = undefined
    this.sync = undefined
    this.onMetadata = undefined
    this.answers = undefined
    this.requestCredit = undefined
    this.deadline = Infinity
  }
}

/**
 * The calls of one session. Slots are made as needed, and the one that was free last is taken first, so that few of
 * them are in use.
 */
export class CallTable {
  readonly #calls: ClientCall[] = []
  readonly #free: number[] = []
  readonly #max: number

  constructor(max: number) {
    this.#max = Math.min(max, SLOTS_MAX)
  }

  get busy(): number {
    return this.#calls.length - this.#free.length
  }

  /** Take a free call, or undefined if the maximum is reached. */
  take(): ClientCall | undefined {
    const slot = this.#free.pop()
    const call = slot === undefined ? this.#grow() : this.#calls[slot]
    if (call !== undefined) call.busy = true
    return call
  }

  #grow(): ClientCall | undefined {
    if (this.#calls.length >= this.#max) return undefined
    const call = new ClientCall(this.#calls.length)
    this.#calls.push(call)
    return call
  }

  /** The call of a frame, or undefined if it is over. */
  find(id: number): ClientCall | undefined {
    const call = this.#calls[id & (SLOTS_MAX - 1)]
    return call?.busy === true && call.id === id ? call : undefined
  }

  /** The server has sent its last frame, or never knew of it. */
  release(call: ClientCall): void {
    call.busy = false
    call.waiting = undefined
    call.method = undefined
    call.id = (call.id + SLOTS_MAX) | 0
    this.#free.push(call.slot)
    if (call.onLast !== undefined) last(call)
  }

  /** The link has ended: nothing more comes for any call. */
  lost(): void {
    for (const call of this.#calls) if (call.onLast !== undefined) last(call)
  }

  /** Calls with a waiting caller. */
  *open(): IterableIterator<ClientCall> {
    for (const call of this.#calls) if (call.open) yield call
  }
}

function last(call: ClientCall): void {
  const { onLast } = call
  call.onLast = undefined
  onLast?.()
}
