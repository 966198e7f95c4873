import type { LocalRange } from './memory-range.ts'
import type { OneSided, WaitSyncOptions } from './one-sided.ts'

/**
 * Access to the peer's physical memory through one endpoint. Addresses are physical; on shm they are offsets in the
 * memory that the peer opened its device with. Any holder of the key reaches all of it.
 */
export class EndpointPhysicalPeer {
  readonly key: number
  readonly #memory: OneSided

  /** @internal Made by `endpoint.physicalPeer`. */
  constructor(memory: OneSided, key: number) {
    this.#memory = memory
    this.key = key
  }

  write(local: LocalRange, physicalAddress: number): Promise<void> {
    return this.#memory.write(local, { address: physicalAddress, key: this.key })
  }

  read(local: LocalRange, physicalAddress: number): Promise<void> {
    return this.#memory.read(local, { address: physicalAddress, key: this.key })
  }

  writeSync(local: LocalRange, physicalAddress: number, options?: WaitSyncOptions): void {
    this.#memory.writeSync(local, { address: physicalAddress, key: this.key }, options)
  }

  readSync(local: LocalRange, physicalAddress: number, options?: WaitSyncOptions): void {
    this.#memory.readSync(local, { address: physicalAddress, key: this.key }, options)
  }
}
