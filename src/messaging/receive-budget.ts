import { ProtocolViolation } from './errors.ts'

/**
 * Receives of one link for messages of its peer: how many the peer has used, when it is told of new ones, and of how
 * many.
 */
export interface ReceiveBudget {
  /** The peer has used one. @throws ProtocolViolation where it had none left */
  use(): void
  /** The peer waits for receives. */
  lack(): void
  /** Whether it is time to tell the peer of new ones. */
  readonly isDue: boolean
  /** How many more the peer may have now; does not change until `granted`. */
  readonly grant: number
  /** The peer was told of `grant`. */
  granted(): void
  /** The peer gave back so many that it had not used. @throws ProtocolViolation where nobody asked for that */
  returned(count: number): void
}

/** A fixed number, posted for this link alone. */
export class FixedBudget implements ReceiveBudget {
  readonly #receives: number
  readonly #quarter: number
  #used = 0

  constructor(receives: number) {
    this.#receives = receives
    this.#quarter = Math.max(1, receives >>> 2)
  }

  use(): void {
    this.#used += 1
    if (this.#used > this.#receives) throw new ProtocolViolation('the peer used more receives than it was told of')
  }

  lack(): void {
    return
  }

  get isDue(): boolean {
    return this.#used >= this.#quarter
  }

  get grant(): number {
    return this.#used
  }

  granted(): void {
    this.#used = 0
  }

  returned(): void {
    throw new ProtocolViolation('the peer gave back receives that nobody asked for')
  }
}
