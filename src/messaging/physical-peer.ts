import type { Endpoint } from './endpoint.ts'
import type { LocalRange } from './message-link.ts'
import type { WaitSyncOptions } from './one-sided.ts'

/**
 * Access to the peer's physical memory through one endpoint. Addresses are physical; on shm they are offsets in the
 * memory that the peer opened its device with. Any holder of the key reaches all of it.
 */
export class EndpointPhysicalPeer {
  readonly key: number
  readonly #endpoint: Endpoint

  /** @internal Made by {@link Endpoint.physicalPeer}. */
  constructor(endpoint: Endpoint, key: number) {
    this.#endpoint = endpoint
    this.key = key
  }

  write(local: LocalRange, physicalAddress: number): Promise<void> {
    return this.#endpoint.write(local, { address: physicalAddress, key: this.key })
  }

  read(local: LocalRange, physicalAddress: number): Promise<void> {
    return this.#endpoint.read(local, { address: physicalAddress, key: this.key })
  }

  writeSync(local: LocalRange, physicalAddress: number, options?: WaitSyncOptions): void {
    this.#endpoint.writeSync(local, { address: physicalAddress, key: this.key }, options)
  }

  readSync(local: LocalRange, physicalAddress: number, options?: WaitSyncOptions): void {
    this.#endpoint.readSync(local, { address: physicalAddress, key: this.key }, options)
  }
}
