import { OrderedMap } from '../values/ordered-map.ts'

export interface Expiry {
  readonly atMs: number
  /** As latin1. */
  readonly key: string
}

/** An entry of the map, the string of the key. */
const EXPIRY_BYTES = 106

/** Which keys expire, in the order in which they do; those of one time in the order of their bytes. */
export class Expiries {
  #keys = new OrderedMap<Expiry, true>(compareExpiries)
  #characters = 0

  /** What one takes. */
  static bytesOf(key: Uint8Array): number {
    return EXPIRY_BYTES + key.length
  }

  get usedBytes(): number {
    return this.#keys.size * EXPIRY_BYTES + this.#characters
  }

  get size(): number {
    return this.#keys.size
  }

  /** When the next key expires; Infinity if none does. */
  get nextMs(): number {
    return this.#keys.at(0)?.[0].atMs ?? Infinity
  }

  /** A key expires at another time; 0: it does not. */
  move(key: string, fromMs: number, toMs: number): void {
    if (fromMs !== 0 && this.#keys.delete({ atMs: fromMs, key })) this.#characters -= key.length
    if (toMs !== 0 && this.#keys.set({ atMs: toMs, key }, true)) this.#characters += key.length
  }

  /** That with `rank` others before it. */
  at(rank: number): Expiry {
    return this.#keys.at(rank)![0]
  }

  /** The key that expires next, if it has by then. */
  dueAt(timeMs: number): string | undefined {
    const next = this.#keys.at(0)?.[0]
    return next !== undefined && next.atMs <= timeMs ? next.key : undefined
  }

  clear(): void {
    this.#keys = new OrderedMap(compareExpiries)
    this.#characters = 0
  }
}

function compareExpiries(one: Expiry, other: Expiry): number {
  if (one.atMs !== other.atMs) return one.atMs - other.atMs
  return one.key < other.key ? -1 : one.key === other.key ? 0 : 1
}
