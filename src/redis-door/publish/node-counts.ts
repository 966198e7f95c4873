import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { bytesOf, type IndexNode, latin1Of } from '../../index-service/index.ts'
import type { ListeningKind, Subscriptions } from './subscriptions.ts'

/** In front of a message between nodes; those of {@link Publisher} begin with 0 or 1. */
const COUNTS_HEAD = 2
/** A question or answer may be lost where a connection is. Nodes that are gone meanwhile are not asked again. */
const TRY_MS = 500
/** Then those are left out that have not answered: nodes that are stopped, say. */
const TRIES_MAX = 10

/** Asked of all other nodes. */
interface Question {
  readonly id: string
  readonly kind: ListeningKind
  readonly names: readonly string[]
}

/** What each node answers: of each name, how many of its clients listen to it. */
interface CountsAnswer {
  readonly id: string
  readonly rank: number
  readonly counts: readonly number[]
}

interface Asked {
  readonly answers: Map<number, readonly number[]>
  /** Called after each answer. */
  onAnswer: () => void
}

/** How many clients listen, to whichever node they are connected. */
export class NodeCounts {
  readonly #node: IndexNode
  readonly #subscriptions: Subscriptions
  readonly #asked = new Map<string, Asked>()

  /** `stop` is called when the door closes. */
  readonly stop: () => void

  constructor(node: IndexNode, subscriptions: Subscriptions) {
    this.#node = node
    this.#subscriptions = subscriptions
    this.stop = node.onTold((message) => this.#hear(message))
  }

  /** Of clients of this door. */
  here(kind: ListeningKind, names: readonly string[]): number[] {
    return names.map((name) => this.#subscriptions.of(kind, name)?.size ?? 0)
  }

  /** Of clients of all doors. */
  async everywhere(kind: ListeningKind, names: readonly string[]): Promise<number[]> {
    const id = randomUUID()
    const asked: Asked = { answers: new Map(), onAnswer: () => undefined }
    this.#asked.set(id, asked)
    for (let tries = 0; tries < TRIES_MAX && names.length > 0 && this.#isMissing(asked); tries += 1) {
      const answered = this.#untilAnswered(asked)
      this.#tell({ id, kind, names })
      await answered
    }
    this.#asked.delete(id)
    const totals = this.here(kind, names)
    for (const counts of asked.answers.values()) for (const [at, count] of counts.entries()) totals[at]! += count
    return totals
  }

  /** Whether any other node with a door has not answered. */
  #isMissing({ answers }: Asked): boolean {
    const { nodes, rank: own } = this.#node
    return nodes.some(({ rank, door }) => rank !== own && door !== undefined && !answers.has(rank))
  }

  /** Resolves when all have answered, or it is time to ask again. */
  #untilAnswered(asked: Asked): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, TRY_MS)
      asked.onAnswer = () => {
        if (this.#isMissing(asked)) return
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Answers go to all nodes, too: those that have not asked do not know the number. */
  #tell(message: Question | CountsAnswer): void {
    this.#node.tellNodes(Buffer.concat([Buffer.of(COUNTS_HEAD), bytesOf(JSON.stringify(message))]))
  }

  #hear(bytes: Uint8Array): void {
    if (bytes[0] !== COUNTS_HEAD) return
    const message = JSON.parse(latin1Of(bytes.subarray(1))) as Question | CountsAnswer
    if ('counts' in message) this.#take(message)
    else this.#tell({ id: message.id, rank: this.#node.rank, counts: this.here(message.kind, message.names) })
  }

  #take({ id, rank, counts }: CountsAnswer): void {
    const asked = this.#asked.get(id)
    asked?.answers.set(rank, counts)
    asked?.onAnswer()
  }
}
