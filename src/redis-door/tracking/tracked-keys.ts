/** Which clients may keep which keys, the oldest key first. Clients are numbers, as those that are gone stay in it. */
export class TrackedKeys {
  readonly #clients = new Map<string, Set<number>>()
  #items = 0

  get size(): number {
    return this.#clients.size
  }

  /** Of all keys together, how many clients. */
  get items(): number {
    return this.#items
  }

  add(key: string, client: number): void {
    const known = this.#clients.get(key)
    if (known === undefined) this.#clients.set(key, new Set([client]))
    else if (known.has(client)) return
    else known.add(client)
    this.#items += 1
  }

  has(key: string, client: number): boolean {
    return this.#clients.get(key)?.has(client) === true
  }

  /** The clients that have a key. It is forgotten. */
  take(key: string): ReadonlySet<number> | undefined {
    const clients = this.#clients.get(key)
    if (clients === undefined) return undefined
    this.#clients.delete(key)
    this.#items -= clients.size
    return clients
  }

  /** The key that is known for longest. */
  get oldest(): string | undefined {
    return this.#clients.keys().next().value
  }

  clear(): void {
    this.#clients.clear()
    this.#items = 0
  }
}
