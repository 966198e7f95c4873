import type { DoorClient } from './client.ts'

/** All that are connected, by their numbers. */
export class Clients {
  readonly #byId = new Map<number, DoorClient>()
  #lastId = 0

  get size(): number {
    return this.#byId.size
  }

  /** In the order in which they came. */
  [Symbol.iterator](): Iterator<DoorClient> {
    return this.#byId.values()
  }

  nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  add(client: DoorClient): void {
    this.#byId.set(client.id, client)
  }

  delete(client: DoorClient): void {
    this.#byId.delete(client.id)
  }

  get(id: number): DoorClient | undefined {
    return this.#byId.get(id)
  }
}
