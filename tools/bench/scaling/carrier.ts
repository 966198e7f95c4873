/** What travels from one rank to another. */
interface Letter<M> {
  readonly from: number
  readonly to: number
  readonly message: M
}

/**
 * Carries messages between state machines in rounds. All messages of a round arrive in the next round, in the order in
 * which they were sent. So messages and rounds can be counted exactly, for any number of ranks, and every run is the
 * same.
 */
export class RoundCarrier<M> {
  readonly #deliver: (to: number, from: number, message: M) => void
  #underWay: Letter<M>[] = []
  /** Since {@link reset}. */
  messages = 0
  /** Rounds that have delivered something. */
  rounds = 0

  constructor(deliver: (to: number, from: number, message: M) => void) {
    this.#deliver = deliver
  }

  send(from: number, to: number, message: M): void {
    this.messages += 1
    this.#underWay.push({ from, to, message })
  }

  /** Until nothing is under way. `afterRound` sees the state after each round. */
  settle(afterRound?: () => void): void {
    while (this.#underWay.length > 0) {
      const arriving = this.#underWay
      this.#underWay = []
      this.rounds += 1
      for (const { from, to, message } of arriving) this.#deliver(to, from, message)
      afterRound?.()
    }
  }

  reset(): void {
    this.messages = 0
    this.rounds = 0
  }
}
