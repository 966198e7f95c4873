import type { Tellers } from './exchange.ts'

/** What a ring says. */
type Place = readonly [home: number, place: number]

/**
 * Rings as messages of the group, from agent to agent: a busy or stopped program does not delay ranks that ring for it.
 * At most one is on its way for each time that a rank has said that it waits. So nothing piles up for a rank that does
 * not listen.
 */
export class Rings {
  readonly #group: Tellers
  readonly #topic: string

  constructor(group: Tellers, topic: string) {
    this.#group = group
    this.#topic = topic
  }

  readonly send = (rank: number, home: number, place: number): void => {
    // If the group was closed, or the rank is gone, there is no listener.
    this.#group.tell(rank, this.#topic, [home, place] satisfies Place).catch(() => {})
  }

  /** Call `listener` when another rank has rung for this one, until the returned function is called. */
  listen(listener: (home: number, place: number) => void): () => void {
    return this.#group.onTold(this.#topic, (_, value) => {
      if (isPlace(value)) listener(...value)
    })
  }
}

function isPlace(value: unknown): value is Place {
  return Array.isArray(value) && value.length === 2 && value.every((number) => Number.isSafeInteger(number))
}
