import { MESSAGE_BYTES_MAX } from '../../cluster/index.ts'
import type { NodeCard } from './index-contract.ts'
import type { NodeGroup } from './node-host.ts'

/** How the nodes of an index know of each other: each tells its card to the members of its group. */
export class NodeMembers {
  readonly #group: NodeGroup
  readonly #topic: string
  #own: NodeCard
  readonly #cards = new Map<number, NodeCard>()
  /** Of cards of which not all parts have come: the shards so far. */
  readonly #parts = new Map<number, NodeCard['holds']>()
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

  #hear(rank: number, { card, isAnswer, part = 0, parts = 1 }: Told): void {
    if (card === undefined) this.#cards.delete(rank)
    else {
      const holds = part === 0 ? card.holds : [...(this.#parts.get(rank) ?? []), ...card.holds]
      this.#parts.set(rank, holds)
      if (part === parts - 1) this.#cards.set(rank, { ...card, holds })
    }
    if (part < parts - 1) return
    this.#parts.delete(rank)
    if (!isAnswer) this.#tell(rank, { card: this.#own, isAnswer: true })
  }

  /** A rank that is gone hears nothing. */
  #tell(rank: number, told: Told): void {
    if (rank === this.#group.rank || this.#group.closed) return
    for (const part of partsOf(told)) this.#group.tell(rank, this.#topic, part).catch(() => {})
  }
}

/** A card; without one, its node has closed. */
interface Told {
  readonly card: NodeCard | undefined
  readonly isAnswer: boolean
  /** A card of many shards comes in parts, one after the other: each has some of the shards. */
  readonly part?: number
  readonly parts?: number
}

/** A message has to have room for the topic, too. */
const TOLD_BYTES_MAX = MESSAGE_BYTES_MAX - 256
/** Of these a message has room besides everything else in a card. */
const HOLDS_OF_PART = 24

function partsOf(told: Told): readonly Told[] {
  const { card } = told
  if (card === undefined || Buffer.byteLength(JSON.stringify(told)) <= TOLD_BYTES_MAX) return [told]
  const parts = Math.ceil(card.holds.length / HOLDS_OF_PART)
  return Array.from({ length: parts }, (_, part) => {
    const holds = card.holds.slice(part * HOLDS_OF_PART, (part + 1) * HOLDS_OF_PART)
    return { ...told, card: { ...card, holds }, part, parts }
  })
}
