import { randomInt } from 'node:crypto'
import type { Reply } from '../commands/reply.ts'

/** What a call gets that is to wait somewhere else. */
export const LEFT: unique symbol = Symbol('the shard has left this node')

/** A waiter is the rank of its node, and a number there. Ranks are below this. */
const RANK_UNIT = 2 ** 40
const START_MAX = 2 ** 39

/** The rank of the node that a waiter belongs to. */
export function rankOfWaiter(waiter: number): number {
  return Math.floor(waiter / RANK_UNIT)
}

/** Calls of this node and of its clients that wait in the state. */
export class WaitingCalls {
  readonly #rank: number
  /** A node that begins again must not take what its former self has waited for. */
  #next = randomInt(1, START_MAX)
  readonly #resolve = new Map<number, (reply: Reply | typeof LEFT) => void>()

  constructor(rank: number) {
    this.#rank = rank
  }

  get size(): number {
    return this.#resolve.size
  }

  /** A new waiter; the first call of `served` counts. */
  add(served: (reply: Reply | typeof LEFT) => void): number {
    const waiter = this.#rank * RANK_UNIT + this.#next
    this.#next += 1
    this.#resolve.set(waiter, served)
    return waiter
  }

  has(waiter: number): boolean {
    return this.#resolve.has(waiter)
  }

  /** It is over, one way or the other. */
  remove(waiter: number): void {
    this.#resolve.delete(waiter)
  }

  /** All are to wait somewhere else. */
  leave(): void {
    for (const resolve of this.#resolve.values()) resolve(LEFT)
  }

  /** The state has something for a waiter. */
  served(waiter: number, reply: Reply): void {
    this.#resolve.get(waiter)?.(reply)
  }
}
