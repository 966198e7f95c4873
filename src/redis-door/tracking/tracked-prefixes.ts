import type { DoorClient } from '../connection/client.ts'

interface OfPrefix {
  readonly clients: Set<DoorClient>
  /** Those that have changed since they were taken, and by whom; undefined: by several, or by no one who is known. */
  readonly changed: Map<string, number | undefined>
}

/** Clients that are told of all keys with a prefix, and the keys that have changed. */
export class TrackedPrefixes {
  readonly #prefixes = new Map<string, OfPrefix>()

  get size(): number {
    return this.#prefixes.size
  }

  add(prefix: string, client: DoorClient): void {
    const known = this.#prefixes.get(prefix)
    if (known === undefined) this.#prefixes.set(prefix, { clients: new Set([client]), changed: new Map() })
    else known.clients.add(client)
  }

  remove(prefix: string, client: DoorClient): void {
    const known = this.#prefixes.get(prefix)
    known?.clients.delete(client)
    if (known?.clients.size === 0) this.#prefixes.delete(prefix)
  }

  /** True if anyone is to be told. */
  change(key: string, origin: number | undefined): boolean {
    let isTold = false
    for (const [prefix, { changed }] of this.#prefixes) {
      if (!key.startsWith(prefix)) continue
      changed.set(key, changed.has(key) && changed.get(key) !== origin ? undefined : origin)
      isTold = true
    }
    return isTold
  }

  /** Of each prefix the changes since the last call. */
  *take(): Generator<{
    readonly clients: readonly DoorClient[]
    readonly changed: ReadonlyMap<string, number | undefined>
  }> {
    for (const { clients, changed } of this.#prefixes.values()) {
      if (changed.size === 0) continue
      yield { clients: [...clients], changed: new Map(changed) }
      changed.clear()
    }
  }
}
