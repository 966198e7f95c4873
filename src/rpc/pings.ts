import { ClosedError } from '../native/index.ts'
import { FrameKind } from './frame.ts'
import { NO_BYTES, type Session } from './session.ts'

/** What a server says of itself. */
export interface ServerHealth {
  readonly state: 'serving' | 'draining'
  /** Handlers that run. */
  readonly active: number
  /** Which start of the server: another one knows nothing of the keys of this one. */
  readonly incarnation: number
  readonly roundTripMs: number
}

interface PendingPing {
  readonly sentAt: number
  readonly resolve: (health: ServerHealth) => void
  readonly reject: (error: Error) => void
}

/** Questions after the health of a server. */
export class Pings {
  readonly #session: Session
  readonly #pending = new Map<number, PendingPing>()
  #number = 0

  constructor(session: Session) {
    this.#session = session
  }

  ask(): Promise<ServerHealth> {
    if (!this.#session.open) return Promise.reject(new ClosedError('the connection'))
    return new Promise((resolve, reject) => {
      this.#number = (this.#number + 1) >>> 0
      this.#pending.set(this.#number, { sentAt: performance.now(), resolve, reject })
      this.#session.send(FrameKind.Ping, 0, this.#number, 0, undefined, NO_BYTES, true)
    })
  }

  /** The answer to one. `state`: 1 where the server drains. */
  answered(state: number, number: number, active: number, incarnation: number): void {
    const ping = this.#pending.get(number)
    if (ping === undefined) return
    this.#pending.delete(number)
    const roundTripMs = performance.now() - ping.sentAt
    ping.resolve({ state: state === 1 ? 'draining' : 'serving', active, incarnation, roundTripMs })
  }

  end(error: Error): void {
    for (const ping of this.#pending.values()) ping.reject(error)
    this.#pending.clear()
  }
}
