import type { Client, Request } from 'autocannon'
import { Header } from './terms.ts'

/** The head of an answer as the load generator passes it: names and values alternate. */
interface Head {
  readonly headers: readonly string[]
}

/** One client with a session. It checks that later answers remember what earlier ones said. */
export class Visitor {
  cookie: string | undefined
  /** The number of visits in the latest answer. */
  visits = 0
  sent = 0
  answered = 0
  /** Tickets that were handed out to this client, and refused to it. */
  tickets = 0
  refusals = 0
  /** Answers that had lost a visit or counted one twice. */
  readonly complaints: string[] = []
  readonly catalogues: Set<string> = new Set()

  /** Have `client` visit. Each answer calls `onAnswer` with the worker that sent it, if the answer names it. */
  constructor(client: Client, onAnswer: (worker: number | undefined) => void) {
    const setupRequest = (request: Request): Request => ({ ...request, headers: this.headers })
    client.setRequests([
      { method: 'GET', path: '/', setupRequest },
      { method: 'GET', path: '/ticket', setupRequest },
    ])
    client.addListener('request', () => {
      this.sent += 1
    })
    client.addListener('headers', ({ headers }: Head) => {
      this.answered += 1
      onAnswer(this.note(mapOf(headers)))
    })
  }

  get headers(): Record<string, string> {
    return this.cookie === undefined ? {} : { cookie: this.cookie }
  }

  /** Requests without an answer, because their worker was killed. */
  get cut(): number {
    return this.sent - this.answered
  }

  /** Take note of an answer. Returns the process id of the worker that sent it. */
  note(headers: ReadonlyMap<string, string>): number | undefined {
    this.cookie ??= headers.get('set-cookie')?.split(';')[0]
    const ticket = headers.get(Header.Ticket)
    if (ticket === 'yes') this.tickets += 1
    if (ticket === 'no') this.refusals += 1
    this.#noteVisits(headers.get(Header.Visits))
    const catalogue = headers.get(Header.Catalogue)
    if (catalogue !== undefined) this.catalogues.add(catalogue)
    const worker = headers.get(Header.Worker)
    return worker === undefined ? undefined : Number(worker)
  }

  /**
   * Make one more visit without the load generator. The session must have every visit that was answered, and at most
   * those that were cut off besides.
   */
  async ask(url: string): Promise<void> {
    const most = this.visits + this.cut + 1
    const response = await fetch(url, { headers: this.headers })
    this.#noteVisits(response.headers.get(Header.Visits) ?? undefined)
    if (this.visits > most) this.complaints.push(`visit ${this.visits} of at most ${most}`)
  }

  /** The number of visits must grow. A visit that was cut off may count or not. */
  #noteVisits(text: string | undefined): void {
    if (text === undefined) return
    const visits = Number(text)
    if (!(visits > this.visits)) this.complaints.push(`visit ${text} came after visit ${this.visits}`)
    this.visits = visits
  }
}

function mapOf(flat: readonly string[]): Map<string, string> {
  const pairs = new Map<string, string>()
  for (let at = 0; at + 1 < flat.length; at += 2) pairs.set(flat[at]!.toLowerCase(), flat[at + 1]!)
  return pairs
}
