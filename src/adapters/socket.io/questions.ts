/** What is asked of all servers of a namespace. */
export interface Question<Answer> {
  /** The servers that have not answered. */
  readonly missing: Set<string>
  answer(answer: Answer): void
  /** Called for each server that ended before it answered. */
  lost?(): void
  /** Whether something is still expected, though no server is missing. */
  isOpen?(): boolean
  /** All have answered, or have ended. */
  done(): void
  /** Time is up, or this server closes. */
  fail(error: Error): void
}

interface Asked<Answer> {
  readonly question: Question<Answer>
  readonly timer: NodeJS.Timeout
}

/** The questions of one server that wait for answers. No question waits for a server that has ended. */
export class Questions<Answer> {
  readonly #asked = new Map<string, Asked<Answer>>()

  ask(id: string, question: Question<Answer>, timeoutMs: number): void {
    const timer = setTimeout(() => this.#expire(id), timeoutMs)
    this.#asked.set(id, { question, timer })
    this.#look(id)
  }

  /** A server's one answer. */
  answer(id: string, from: string, answer: Answer): void {
    const question = this.#asked.get(id)?.question
    if (question?.missing.delete(from)) this.more(id, answer)
  }

  /** An answer of which there may be several from one server. */
  more(id: string, answer: Answer): void {
    this.#asked.get(id)?.question.answer(answer)
    this.#look(id)
  }

  /** Stop waiting for the servers that `hasEnded` knows. */
  lose(hasEnded: (server: string) => boolean): void {
    for (const [id, { question }] of this.#asked) {
      for (const server of question.missing) {
        if (!hasEnded(server)) continue
        question.missing.delete(server)
        question.lost?.()
      }
      this.#look(id)
    }
  }

  close(): void {
    for (const id of [...this.#asked.keys()]) this.#take(id).fail(new Error('the server was closed'))
  }

  #look(id: string): void {
    const question = this.#asked.get(id)?.question
    if (question === undefined || question.missing.size > 0 || question.isOpen?.()) return
    this.#take(id).done()
  }

  #expire(id: string): void {
    const question = this.#take(id)
    question.fail(new Error(`timeout reached: missing ${question.missing.size} responses`))
  }

  #take(id: string): Question<Answer> {
    const { question, timer } = this.#asked.get(id)!
    clearTimeout(timer)
    this.#asked.delete(id)
    return question
  }
}
