import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { bytesOf, type IndexNode, latin1Of } from '../../index-service/index.ts'
import type { ListeningKind, Subscriptions } from './subscriptions.ts'

/** In front of a message between nodes; those of {@link Publisher} begin with 0 or 1. */
const COUNTS_HEAD = 2
/** How long other nodes may take to answer. One that has just been killed is left out then. */
const ANSWER_MS = 1000

/** Asked of all other nodes. */
interface Question {
  readonly id: string
  readonly kind: ListeningKind
  readonly names: readonly string[]
}

/** What each node answers: of each name, how many of its clients listen to it. */
interface CountsAnswer {
  readonly id: string
  readonly counts: readonly number[]
}

interface Waiting {
  readonly take: (counts: readonly number[]) => void
}

/** How many clients listen, to whichever node they are connected. */
export class NodeCounts {
  readonly #node: IndexNode
  readonly #subscriptions: Subscriptions
  readonly #waiting = new Map<string, Waiting>()

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
    const { nodes, rank } = this.#node
    const others = nodes.filter((card) => card.rank !== rank && card.door !== undefined).length
    const totals = this.here(kind, names)
    if (others === 0 || names.length === 0) return totals
    const id = randomUUID()
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ANSWER_MS)
      let left = others
      const take = (counts: readonly number[]): void => {
        for (const [at, count] of counts.entries()) totals[at]! += count
        left -= 1
        if (left > 0) return
        clearTimeout(timer)
        resolve()
      }
      this.#waiting.set(id, { take })
      this.#tell({ id, kind, names })
    })
    this.#waiting.delete(id)
    return totals
  }

  /** Answers go to all nodes, too: those that have not asked do not know the number. */
  #tell(message: Question | CountsAnswer): void {
    this.#node.tellNodes(Buffer.concat([Buffer.of(COUNTS_HEAD), bytesOf(JSON.stringify(message))]))
  }

  #hear(bytes: Uint8Array): void {
    if (bytes[0] !== COUNTS_HEAD) return
    const message = JSON.parse(latin1Of(bytes.subarray(1))) as Question | CountsAnswer
    if ('counts' in message) this.#waiting.get(message.id)?.take(message.counts)
    else this.#tell({ id: message.id, counts: this.here(message.kind, message.names) })
  }
}
