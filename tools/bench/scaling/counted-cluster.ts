import {
  COHERENCE_MESSAGE_BYTES,
  type CoherenceMessage,
  CoherenceNode,
  type NodePort,
  type Protocol,
} from 'aether-dsm/internal/dsm'
import { RoundCarrier } from './carrier.ts'

/** What one access cost. */
export interface AccessCost {
  /** Coherence messages between ranks; what a rank says to itself costs nothing. */
  readonly messages: number
  /** Of those messages, and of the pages that moved. */
  readonly bytes: number
  /**
   * The number of consecutive messages until the access could be done. Later messages, such as one to the home, delay
   * no rank here.
   */
  readonly hops: number
}

const nowhere = { address: 0, key: 0 }
const nothing = (): void => {}

/**
 * The coherence engine of `ranks` nodes in one process, with the agents' own classes and tables: only frames and page
 * tables are left out.
 */
export class CountedCluster {
  readonly ranks: number
  readonly #nodes: CoherenceNode[]
  readonly #carrier: RoundCarrier<CoherenceMessage>
  readonly #pageBytes: number
  #pushed = 0

  /** Page p has its home at rank p modulo `ranks`. */
  constructor(protocol: Protocol, ranks: number, pageBytes: number) {
    this.ranks = ranks
    this.#pageBytes = pageBytes
    this.#carrier = new RoundCarrier((to, _from, message) => this.#nodes[to]!.receive(message))
    const homeOf = (page: number): number => page % ranks
    this.#nodes = Array.from(
      { length: ranks },
      (_, rank) => new CoherenceNode({ rank, ranks, protocol, homeOf, port: this.#port(rank) }),
    )
  }

  /**
   * Rank `rank` loads from or stores to `page`, with nothing else under way. Undefined where it had the right: a hit.
   */
  access(rank: number, page: number, write: boolean): AccessCost | undefined {
    if (this.#may(rank, page, write)) return undefined
    this.#carrier.reset()
    this.#pushed = 0
    let hops: number | undefined
    const look = (): void => {
      if (this.#may(rank, page, write)) hops ??= this.#carrier.rounds
    }
    this.#nodes[rank]!.demand(page, write)
    look()
    this.#carrier.settle(look)
    if (hops === undefined) throw new Error(`rank ${rank} did not get page ${page}`)
    const { messages } = this.#carrier
    const bytes = messages * COHERENCE_MESSAGE_BYTES + this.#pushed * this.#pageBytes
    return { messages, bytes, hops }
  }

  #may(rank: number, page: number, write: boolean): boolean {
    const right = this.#nodes[rank]!.right(page)
    return right === 'write' || (right === 'read' && !write)
  }

  #port(rank: number): NodePort {
    return {
      send: (to, message) => this.#carrier.send(rank, to, message),
      push: () => {
        this.#pushed += 1
      },
      ownFrame: () => nowhere,
      mapReadOnly: nothing,
      mapWritable: nothing,
      protect: nothing,
      unmap: nothing,
      evicted: nothing,
      failed: (page) => {
        throw new Error(`page ${page} was refused to rank ${rank}, although no rank has died`)
      },
      mustHold: () => false,
      isAlive: () => true,
    }
  }
}
