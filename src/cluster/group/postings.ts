import { isRecord } from '../hosts/index.ts'

interface PostingQuestion {
  readonly posted: string
}

export function isPostingQuestion(question: unknown): question is PostingQuestion {
  return isRecord(question) && typeof question['posted'] === 'string'
}

/** What the postings need of their group. */
export interface PostingsHost {
  readonly rank: number
  /** The other ranks that are present. */
  others(): readonly number[]
  /** `done` gets the rank's answer, or undefined if it is gone. */
  ask(rank: number, question: unknown, done: (answer: unknown) => void): void
}

/**
 * What the program of each member posts under a topic, for all to look up. It goes with its member. The agents answer,
 * so programs may block.
 */
export class Postings {
  readonly #host: PostingsHost
  readonly #own = new Map<string, unknown>()

  constructor(host: PostingsHost) {
    this.#host = host
  }

  /** In place of what this member has posted there before; null takes that away. */
  post(topic: string, value: unknown): void {
    if (value === null) this.#own.delete(topic)
    else this.#own.set(topic, value)
  }

  answer({ posted }: PostingQuestion): unknown {
    return this.#own.get(posted) ?? null
  }

  /** `done` gets what every member that is present has posted, by rank. */
  gather(topic: string, done: (posted: ReadonlyMap<number, unknown>) => void): void {
    const { rank: self, others, ask } = this.#host
    const question: PostingQuestion = { posted: topic }
    const found = new Map<number, unknown>()
    const ranks = [self, ...others()]
    let left = ranks.length
    const take = (rank: number, answer: unknown): void => {
      if (answer !== null && answer !== undefined) found.set(rank, answer)
      left -= 1
      if (left === 0) done(found)
    }
    for (const rank of ranks) {
      if (rank === self) take(rank, this.answer(question))
      else ask(rank, question, (answer) => take(rank, answer))
    }
  }
}
