import { removeAbortCallback } from '../runtime/index.ts'
import type { UncheckedAnswer } from './checked-answer.ts'
import type { Metadata } from './extension.ts'
import { SLOTS_MAX } from './frame.ts'
import type { IncomingStream } from './incoming-stream.ts'
import type { MethodInfo } from './method-info.ts'
import type { CallStart } from './method-meter.ts'
import type { Credit } from './stream-pump.ts'
import type { WaitingFrame } from './waiting-frame.ts'

/** What a blocking call waits for. */
export interface SyncAnswer {
  done: boolean
  value: unknown
  error: unknown
  /** What is to be said of the value before it is an answer. */
  unchecked: UncheckedAnswer | undefined
}

type Settle = (value: never) => void

/**
 * A slot of the table of calls. It is used again for call after call; what belongs to one is taken out when it ends.
 *
 * free → open (somebody waits) → free, with the server's last frame; or open → abandoned (nobody waits, the server has
 * not said its last) → free.
 */
export class ClientCall {
  readonly slot: number
  /** As it goes over the wire, read with a sign: so the engine need not box it. */
  id: number
  /** Somebody waits. */
  open = false
  /** The server has not said its last. */
  busy = false
  method: MethodInfo | undefined
  resolve: Settle | undefined
  reject: Settle | undefined
  sync: SyncAnswer | undefined
  /** Of `performance.now()`. */
  deadline: number = Infinity
  /** Where its time is taken. */
  began: CallStart | undefined
  signal: AbortSignal | undefined
  onAbort: (() => void) | undefined
  onMetadata: ((metadata: Metadata) => void) | undefined
  /** The request, while it waits for room. */
  waiting: WaitingFrame | undefined
  answers: IncomingStream<unknown> | undefined
  requestCredit: Credit | undefined
  traced = 0
  /** Called when the server has said its last, or never will. */
  onLast: (() => void) | undefined

  constructor(slot: number) {
    this.slot = slot
    this.id = slot
  }

  /** Whether the server may know of it. */
  get sent(): boolean {
    return this.waiting === undefined || this.waiting.started
  }

  /** Nobody waits any more; what the caller gave is let go. */
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
 * The calls of one session. Slots are made as they are needed, and the one that was free last is taken first, so few of
 * them are warm.
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

  /** A call of its own, or undefined: there are as many as there may be. */
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

  /** The call of a frame, or undefined: it is over. */
  find(id: number): ClientCall | undefined {
    const call = this.#calls[id & (SLOTS_MAX - 1)]
    return call?.busy === true && call.id === id ? call : undefined
  }

  /** The server has said its last, or never knew of it. */
  release(call: ClientCall): void {
    call.busy = false
    call.waiting = undefined
    call.method = undefined
    call.id = (call.id + SLOTS_MAX) | 0
    this.#free.push(call.slot)
    if (call.onLast !== undefined) last(call)
  }

  /** The link has ended: nothing more comes for any of them. */
  lost(): void {
    for (const call of this.#calls) if (call.onLast !== undefined) last(call)
  }

  /** Those that somebody waits for. */
  *open(): IterableIterator<ClientCall> {
    for (const call of this.#calls) if (call.open) yield call
  }
}

function last(call: ClientCall): void {
  const { onLast } = call
  call.onLast = undefined
  onLast?.()
}
