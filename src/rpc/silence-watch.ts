import { RpcError } from './errors.ts'
import type { Session } from './session.ts'

/**
 * Watches whether the peer of a session is there: each turn without a frame asks, and two in a row mean that it is
 * gone.
 */
export class SilenceWatch {
  readonly #session: Session
  readonly #text: string
  readonly #ask: () => void
  #heardAtLastTurn = -1
  #asked = false

  /** `text`: the reason of the link's end. `ask` sends something that is answered. */
  constructor(session: Session, text: string, ask: () => void) {
    this.#session = session
    this.#text = text
    this.#ask = ask
  }

  turn(): void {
    if (this.#isSilent && this.#asked) {
      // Where this thread was held up, what has come meanwhile lies in the ring.
      this.#session.link.poll()
      if (this.#isSilent) {
        this.#session.link.destroy(new RpcError('ERR_AETHER_RPC_CONNECTION_LOST', 'unknown', '', this.#text))
        return
      }
    }
    this.#asked = this.#isSilent
    this.#heardAtLastTurn = this.#session.received
    if (this.#asked) this.#ask()
  }

  get #isSilent(): boolean {
    return this.#session.received === this.#heardAtLastTurn
  }
}
