import { ProtocolViolation } from './errors.ts'

/**
 * Receives of one link for messages of its peer: how many the peer has used, and when it is told of how many new ones.
 */
export interface ReceiveBudget {
  /** The peer has used one. @throws ProtocolViolation if it had none left */
  use(): void
  /** The peer waits for receives. */
  lack(): void
  /** True if it is time to tell the peer of new ones. */
  readonly isDue: boolean
  /** How many more the peer may have now. Does not change until `granted`. */
  readonly grant: number
  /** The peer was told of `grant`. */
  granted(): void
  /** The peer gave back this many unused receives. @throws ProtocolViolation if it was not asked to */
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
    if (this.#used > this.#receives) throw new ProtocolViolation('the peer used more receives than it was granted')
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
    throw new ProtocolViolation('the peer gave back receives without being asked')
  }
}
