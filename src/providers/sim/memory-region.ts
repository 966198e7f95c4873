import { Access, RemoteAccess } from '../access.ts'
import type { ProviderMemoryRegion, ProviderProtectionDomain, ReregisterChanges } from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import { checkAccess } from '../soft/memory-access.ts'
import type { Tokens } from '../soft/tokens.ts'
import type { SimContext, SimDomain } from './context.ts'
import type { MemoryBlock } from './memory-block.ts'
import { NO_BYTES } from './packet.ts'

/** What a region stands for. */
export interface Backing {
  /** Undefined for whatever the process has at an address. */
  readonly block: MemoryBlock | undefined
  readonly offset: number
  readonly length: number
  readonly zeroBased: boolean
  /** The block is freed with the region. */
  readonly owned: boolean
}

/** A window that is bound to a region, or was. */
interface BoundWindow {
  readonly isBound: boolean
}

/** A device with its regions. */
export interface RegionDevice extends SimContext {
  readonly regions: Tokens<SimMemoryRegion>
  /** A buffer of the program's as memory of its process. */
  backingOf(buffer: Uint8Array): Backing
  releaseBacking(backing: Backing): void
}

interface RegionDomain extends SimDomain {
  readonly device: RegionDevice
  readonly memories: Set<SimMemoryRegion>
}

/** A memory region: a key, and the bytes it stands for. */
export class SimMemoryRegion implements ProviderMemoryRegion {
  readonly token: number
  domain: RegionDomain
  access: number
  localKey: number
  readonly windows: Set<BoundWindow> = new Set<BoundWindow>()
  #backing: Backing

  constructor(domain: RegionDomain, backing: Backing, access: number) {
    this.domain = domain
    this.access = access
    this.#backing = backing
    this.localKey = domain.device.keys.reserve('ibv_reg_mr')
    this.#publish()
    this.token = domain.device.regions.add(this)
  }

  get bytes(): Uint8Array {
    const { block, offset, length } = this.#backing
    return block === undefined ? NO_BYTES : block.bytes.subarray(offset, offset + length)
  }

  get address(): number {
    const { block, offset } = this.#backing
    return this.isZeroBased || block === undefined ? 0 : block.address + offset
  }

  get isZeroBased(): boolean {
    return this.#backing.zeroBased || (this.access & Access.ZeroBased) !== 0
  }

  get length(): number {
    return this.#backing.length
  }

  get remoteKey(): number {
    return (this.access & RemoteAccess) === 0 ? 0 : this.localKey
  }

  /**
   * The old key becomes invalid, so a peer or a posted request can no longer access anything through the former
   * registration.
   */
  reregister(changes: ReregisterChanges): void {
    const access = changes.access ?? this.access
    const domain = (changes.domain as (ProviderProtectionDomain & RegionDomain) | undefined) ?? this.domain
    const { device } = this.domain
    checkAccess('ibv_rereg_mr', access)
    if (domain.device !== device)
      throw new VerbsError('ibv_rereg_mr', Errno.EINVAL, 'the protection domain belongs to another device')
    this.#refuseWhileBound('ibv_rereg_mr')
    this.#withdraw()
    const former = this.#backing
    if (changes.buffer !== undefined) this.#backing = device.backingOf(changes.buffer)
    this.localKey = device.keys.reserve('ibv_rereg_mr')
    this.domain.memories.delete(this)
    this.domain = domain
    domain.memories.add(this)
    this.access = access
    this.#publish()
    if (former !== this.#backing) device.releaseBacking(former)
  }

  destroy(): void {
    const { device } = this.domain
    this.#refuseWhileBound('ibv_dereg_mr')
    this.#withdraw()
    device.regions.remove(this.token)
    this.domain.memories.delete(this)
    device.releaseBacking(this.#backing)
  }

  /** When this returns, what the adapter has already taken is in memory. */
  settle(): void {
    this.#backing.block?.settle()
  }

  /** Packets that come later find no key. When this returns, what the adapter has already taken is in memory. */
  #withdraw(): void {
    this.domain.device.keys.release(this.localKey)
    this.#backing.block?.settle()
  }

  #publish(): void {
    const { block, offset, length } = this.#backing
    this.domain.device.keys.publish(this.localKey, {
      kind: 'region',
      address: this.address,
      length,
      access: this.access,
      domainId: this.domain.id,
      block,
      offset,
    })
  }

  #refuseWhileBound(verb: string): void {
    const bound = [...this.windows].filter((window) => window.isBound).length
    if (bound > 0)
      throw new VerbsError(verb, Errno.EBUSY, `${bound} memory windows are bound to it; invalidate or close them first`)
  }
}
