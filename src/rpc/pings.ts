import { BoundedWait } from './bounded-wait.ts'
import { lost, RpcError } from './errors.ts'
import { FrameKind } from './frame.ts'
import type { FrameHead } from './frame-head.ts'
import type { OutgoingFrame } from './outgoing-frame.ts'
import type { Session } from './session.ts'

/** The health of a server. */
export interface ServerHealth {
  readonly state: 'serving' | 'draining'
  /** Running handlers. */
  readonly active: number
  /** The number of this start of the server. Another start knows nothing of its keys. */
  readonly incarnation: number
  readonly roundTripMs: number
}

/** A question that was not answered yet. */
class Ping {
  readonly asker: string
  readonly sentAt: number = performance.now()
  readonly wait: BoundedWait<ServerHealth>
  /** Its frame, where it waits for room. */
  waiting: OutgoingFrame | undefined

  constructor(asker: string, deadline: number, signal: AbortSignal | undefined, ended: () => void) {
    this.asker = asker
    this.wait = new BoundedWait({ deadline, signal, late: () => this.#late(), ended })
  }

  get sent(): boolean {
    return this.waiting === undefined || this.waiting.started
  }

  #late(): RpcError {
    const [outcome, what] = this.sent
      ? (['unknown', 'the server did not answer in time'] as const)
      : (['not-sent', 'the question did not leave in time, because the link had no room'] as const)
    return new RpcError('ERR_AETHER_RPC_DEADLINE', outcome, this.asker, what)
  }

  lost(error: Error | undefined): void {
    this.wait.reject(lost(this.asker, this.sent, error))
  }
}

/** Queries of the health of a server. */
export class Pings {
  readonly #session: Session
  readonly #pending = new Map<number, Ping>()
  #number = 0

  constructor(session: Session) {
    this.#session = session
  }

  /**
   * Wait until `deadline` (of `performance.now()`) or an abort. `asker` is the subject of errors. @throws RpcError; the
   * signal's reason.
   */
  async ask(asker: string, deadline: number, signal: AbortSignal | undefined): Promise<ServerHealth> {
    if (!this.#session.open) throw lost(asker, false, undefined)
    const number = (this.#number + 1) | 0
    this.#number = number
    const ping = new Ping(asker, deadline, signal, () => {
      this.#pending.delete(number)
      if (ping.waiting !== undefined) this.#session.forget(ping.waiting)
    })
    this.#pending.set(number, ping)
    ping.waiting = this.#session.say(FrameKind.Ping, { word: number })
    return ping.wait.promise
  }

  /** The answer to a query. Its `call` is 1 if the server drains; its `budget` says how many calls run. */
  answered({ call, word, budget }: FrameHead, incarnation: number): void {
    const ping = this.#pending.get(word)
    if (ping === undefined) return
    const roundTripMs = performance.now() - ping.sentAt
    ping.wait.resolve({ state: call === 1 ? 'draining' : 'serving', active: budget >>> 0, incarnation, roundTripMs })
  }

  /** The connection has ended. */
  end(error: Error | undefined): void {
    for (const ping of [...this.#pending.values()]) ping.lost(error)
  }
}
