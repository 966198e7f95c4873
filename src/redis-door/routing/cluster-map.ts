import { createHash } from 'node:crypto'
import { type FaultReply, type IndexNode, type NodeCard, type Place, SLOT_COUNT } from '../../index-service/index.ts'

/** A node as clients that know clusters see it. */
export interface ClusterNode {
  /** 40 hexadecimal digits. */
  readonly id: string
  readonly door: Place
  readonly rank: number
}

/** Slots that are next to each other, and the nodes that hold them: the leader first. */
export interface SlotRange {
  readonly first: number
  readonly last: number
  readonly holders: readonly ClusterNode[]
}

/** Which nodes have which slots, as far as this node knows. */
export class ClusterMap {
  readonly #node: IndexNode

  constructor(node: IndexNode) {
    this.#node = node
  }

  /** Those that take clients of Redis. */
  get nodes(): readonly ClusterNode[] {
    return this.#node.nodes.flatMap((card) => this.#clusterNode(card))
  }

  get self(): ClusterNode {
    return this.nodes.find(({ rank }) => rank === this.#node.rank)!
  }

  get ranges(): readonly SlotRange[] {
    const { shards } = this.#node
    return Array.from({ length: shards }, (_, shard) => ({
      first: Math.ceil((shard * SLOT_COUNT) / shards),
      last: Math.ceil(((shard + 1) * SLOT_COUNT) / shards) - 1,
      holders: this.#holders(shard),
    }))
  }

  /** Where a client is sent that asks here for a slot; undefined if it is right here, or no one else can be named. */
  moved(slot: number, isHolderEnough: boolean): FaultReply | undefined {
    const { shards, rank } = this.#node
    const shard = Math.floor((slot * shards) / SLOT_COUNT)
    if (this.#node.held.has(shard)) {
      if (isHolderEnough) return undefined
      const leader = this.#node.leaderOf(shard)
      if (leader === undefined || leader === rank) return undefined
    }
    const best = this.#holders(shard)[0]
    if (best === undefined || best.rank === rank) return undefined
    return { fault: 'MOVED', message: `${slot} ${placeText(best.door)}` }
  }

  #holders(shard: number): readonly ClusterNode[] {
    const leader = this.#node.leaderOf(shard)
    const holders = this.#node.nodes
      .filter(({ holds }) => holds.some((held) => held.shard === shard))
      .flatMap((card) => this.#clusterNode(card))
    return holders.sort((one, other) => Number(other.rank === leader) - Number(one.rank === leader))
  }

  #clusterNode({ rank, door }: NodeCard): readonly ClusterNode[] {
    if (door === undefined) return []
    const id = createHash('sha1').update(`${this.#node.name}/${rank}`).digest('hex')
    return [{ id, door, rank }]
  }
}

export function placeText({ address, port }: Place): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}
