/** From a rank's program to another's. */
export interface Letter {
  readonly rank: number
  readonly value: unknown
}

/** Letters, numbered from `first` on. */
export interface Mail {
  readonly first: number
  readonly letters: readonly Letter[]
}

/**
 * What programs say to each other about their connections, as the agent keeps it. A program fetches it by number, from
 * its event loop or while it blocks, so nothing is lost between the two.
 */
export class LinkMail {
  #first = 0
  #letters: Letter[] = []

  put(letter: Letter): void {
    this.#letters.push(letter)
  }

  /** Those with the numbers from `from` on; the program has the ones before, which are dropped. */
  fetch(from: number): Mail {
    this.#letters = this.#letters.slice(from - this.#first)
    this.#first = from
    return { first: from, letters: this.#letters }
  }
}
