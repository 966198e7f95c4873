import type { MapOptions, SharedMap, Structures } from '../structures/index.ts'
import { Lease } from './lease.ts'

/**
 * A map behind an adapter. It starts to open when the adapter is made; `new` does not wait for it. So a process that
 * has served no request yet keeps the data, too, when the process that it replaces ends.
 */
export class LeasedMap<V> {
  readonly #lease: Lease
  readonly #name: string
  readonly #options: MapOptions<V>
  #map: Promise<SharedMap<V>> | undefined

  constructor(where: string | Structures, name: string, options: MapOptions<V>) {
    this.#lease = new Lease(where)
    this.#name = name
    this.#options = options
    // If this fails, the first call tries again, and tells why it fails.
    this.open().catch(() => undefined)
  }

  /** After a failure the next call tries again. */
  open(): Promise<SharedMap<V>> {
    this.#map ??= this.#open()
    return this.#map
  }

  async #open(): Promise<SharedMap<V>> {
    try {
      const structures = await this.#lease.structures()
      return await structures.map(this.#name, this.#options)
    } catch (error) {
      this.#map = undefined
      throw error
    }
  }

  /** Idempotent; {@link open} opens it again. */
  async close(): Promise<void> {
    const map = this.#map
    this.#map = undefined
    // If the map never opened, the caller that asked for it got the error.
    await map?.catch(() => undefined)
    await this.#lease.release()
  }
}
