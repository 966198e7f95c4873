import { createHash, randomBytes } from 'node:crypto'
import type { Codec } from '../../structures/index.ts'
import { json, KEY_BYTES_MAX, type SharedMap, type Structures } from '../../structures/index.ts'
import { isPresent } from './address.ts'

/** A key beside the namespaces, which begin with '/'. */
const GENERATION = 'generation'

type Addresses = readonly string[]

/**
 * Which servers serve a namespace. It is in shared memory, so a new server knows the others at once. The entry of a
 * killed one no longer counts once the space notices the death.
 */
export class Registry {
  /** Tells numbers of this log's entries from those of a space of the same name that was there before. */
  readonly generation: string
  readonly #structures: Structures
  readonly #map: SharedMap<Addresses>

  static async open(structures: Structures, name: string): Promise<Registry> {
    return new Registry(structures, await structures.map(`${name}:servers`, { codec: json as Codec<Addresses> }))
  }

  private constructor(structures: Structures, map: SharedMap<Addresses>) {
    this.#structures = structures
    this.#map = map
    map.setIfAbsentSync(GENERATION, [randomBytes(6).toString('base64url')])
    this.generation = map.getSync(GENERATION)![0]!
    this.#sweep()
  }

  /** The addresses of all servers of `namespace` that are alive. */
  serving(namespace: string): Addresses {
    return this.#alive(this.#map.getSync(keyOf(namespace)))
  }

  add(namespace: string, address: string): void {
    this.#map.updateSync(keyOf(namespace), (there) => [...this.#alive(there), address])
  }

  remove(namespace: string, address: string): void {
    this.#drop(keyOf(namespace), address)
  }

  /** A namespace all of whose servers were killed is removed here, by the next process that comes. */
  #sweep(): void {
    for (const [key] of this.#map.entriesSync()) if (key !== GENERATION) this.#drop(String(key))
  }

  #drop(key: string, address?: string): void {
    this.#map.updateSync(key, (there) => {
      const left = this.#alive(there).filter((each) => each !== address)
      return left.length === 0 ? undefined : left
    })
  }

  #alive(addresses: Addresses = []): Addresses {
    return addresses.filter((address) => isPresent(this.#structures, address))
  }
}

/** Names of dynamic namespaces may be longer than keys. */
function keyOf(namespace: string): string {
  if (Buffer.byteLength(namespace) <= KEY_BYTES_MAX) return namespace
  return `/${createHash('sha256').update(namespace).digest('hex')}`
}
