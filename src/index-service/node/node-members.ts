import type { NodeCard } from './index-contract.ts'
import type { NodeGroup } from './node-host.ts'

/** How the nodes of an index know of each other: each tells its card to the members of its group. */
export class NodeMembers {
  readonly #group: NodeGroup
  readonly #topic: string
  #own: NodeCard
  readonly #cards = new Map<number, NodeCard>()
  readonly #stops: (() => void)[]

  constructor(group: NodeGroup, name: string, own: NodeCard) {
    this.#group = group
    this.#topic = `index/${name}`
    this.#own = own
    this.#cards.set(own.rank, own)
    this.#stops = [
      group.onTold(this.#topic, (rank, value) => this.#hear(rank, value as Told)),
      group.onEvent(({ type, rank }) => {
        if (type !== 'joined') this.#cards.delete(rank)
      }),
    ]
    for (const { rank } of group.members()) this.#tell(rank, { card: own, isAnswer: false })
  }

  /** This process's card has changed. */
  tell(card: NodeCard): void {
    this.#own = card
    this.#cards.set(card.rank, card)
    for (const { rank } of this.#group.members()) this.#tell(rank, { card, isAnswer: true })
  }

  get cards(): readonly NodeCard[] {
    return [...this.#cards.values()]
  }

  close(): void {
    for (const stop of this.#stops.splice(0)) stop()
    for (const rank of this.#cards.keys()) this.#tell(rank, { card: undefined, isAnswer: true })
  }

  #hear(rank: number, { card, isAnswer }: Told): void {
    if (card === undefined) this.#cards.delete(rank)
    else this.#cards.set(rank, card)
    if (!isAnswer) this.#tell(rank, { card: this.#own, isAnswer: true })
  }

  /** A rank that is gone hears nothing. */
  #tell(rank: number, told: Told): void {
    if (rank === this.#group.rank || this.#group.closed) return
    this.#group.tell(rank, this.#topic, told).catch(() => {})
  }
}

/** A card; without one, its node has closed. */
interface Told {
  readonly card: NodeCard | undefined
  readonly isAnswer: boolean
}
