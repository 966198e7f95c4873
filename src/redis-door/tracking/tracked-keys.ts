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

  /** How many clients the key has then. */
  add(key: string, client: number): number {
    const clients = this.#clients.get(key) ?? new Set()
    if (clients.size === 0) this.#clients.set(key, clients)
    if (!clients.has(client)) this.#items += 1
    return clients.add(client).size
  }

  /** Forget those clients of a key that are gone. */
  leaveOut(key: string, isGone: (client: number) => boolean): void {
    const clients = this.#clients.get(key)!
    for (const client of clients) if (isGone(client) && clients.delete(client)) this.#items -= 1
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
