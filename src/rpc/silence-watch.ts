import { RpcError } from './errors.ts'
import type { Session } from './session.ts'

/** Whether the peer of a session is there: each turn in which nothing came asks, and two in a row mean that nobody is. */
export class SilenceWatch {
  readonly #session: Session
  readonly #text: string
  readonly #ask: () => void
  #heardAtLastTurn = -1
  #asked = false

  /** `text`: what the link ends with; `ask` sends something that is answered. */
  constructor(session: Session, text: string, ask: () => void) {
    this.#session = session
    this.#text = text
    this.#ask = ask
  }

  turn(): void {
    const { received, link } = this.#session
    const isSilent = received === this.#heardAtLastTurn
    if (isSilent && this.#asked) {
      link.destroy(new RpcError('ERR_AETHER_RPC_CONNECTION_LOST', 'unknown', '', this.#text))
      return
    }
    this.#asked = isSilent
    this.#heardAtLastTurn = received
    if (isSilent) this.#ask()
  }
}
