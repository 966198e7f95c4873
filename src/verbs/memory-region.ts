import type { ProviderMemoryRegion } from '../providers/index.ts'
import { Closable } from './lifetime.ts'
import { MemorySlice } from './memory-slice.ts'
import type { ProtectionDomain } from './protection-domain.ts'

/** What a peer needs to reach memory: send it over any channel. */
export interface RegionToken {
  readonly address: number
  readonly length: number
  readonly key: number
}

/** Registered memory: ibv_reg_mr(3). */
export class MemoryRegion extends Closable {
  readonly label = 'memory region'
  readonly domain: ProtectionDomain
  readonly address: number
  readonly length: number
  readonly localKey: number
  /** 0 where no remote right was given. */
  readonly remoteKey: number
  readonly access: number
  readonly #provider: ProviderMemoryRegion

  /** @internal Made by {@link ProtectionDomain.allocate} and {@link ProtectionDomain.register}. */
  constructor(domain: ProtectionDomain, provider: ProviderMemoryRegion) {
    super()
    this.domain = domain
    this.#provider = provider
    this.address = provider.address
    this.length = provider.length
    this.localKey = provider.localKey
    this.remoteKey = provider.remoteKey
    this.access = provider.access
  }

  /**
   * The bytes themselves. Peers write into them at any time: read words that are waited for with Atomics, and copy before decoding text.
   * After `close()` of allocated memory they are memory of nobody.
   */
  get bytes(): Uint8Array {
    this.assertOpen()
    return this.#provider.bytes
  }

  get token(): RegionToken {
    return { address: this.address, length: this.length, key: this.remoteKey }
  }

  /** A part of it as a segment of a request; like TypedArray.subarray, but out of range throws. */
  subarray(begin = 0, end: number = this.length): MemorySlice {
    this.assertOpen()
    return new MemorySlice(this, begin, end)
  }

  protected release(): void {
    this.#provider.destroy()
    this.domain.memories.remove(this)
  }
}
