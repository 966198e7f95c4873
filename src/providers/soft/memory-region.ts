import { Access, RemoteAccess } from '../access.ts'
import type { ProviderMemoryRegion, ReregisterChanges } from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { BufferOrigin } from '../memory-contract.ts'
import type { Backing, Backings } from './backings.ts'
import type { Keys } from './keys.ts'
import { checkAccess } from './memory-access.ts'
import type { Tokens } from './tokens.ts'

/** A window that is bound to a region, or was. */
interface BoundWindow {
  readonly isBound: boolean
}

/** A device with its regions. */
interface RegionDevice {
  readonly keys: Keys
  readonly backings: Backings
  readonly regions: Tokens<SoftMemoryRegion>
  /** Wait until no peer uses a key that was withdrawn. EBUSY if one stays in the middle of an access. */
  awaitPeersOutside(verb: string): void
}

interface RegionDomain {
  readonly device: RegionDevice
  readonly id: number
  readonly memories: Set<SoftMemoryRegion>
}

/** A memory region: a key in its device's table, and the bytes that it stands for. */
export class SoftMemoryRegion implements ProviderMemoryRegion {
  readonly token: number
  domain: RegionDomain
  access: number
  localKey: number
  /** Windows that were bound to it; a peer may have unbound one since. */
  readonly windows: Set<BoundWindow> = new Set<BoundWindow>()
  #backing: Backing
  #published = true

  constructor(domain: RegionDomain, backing: Backing, access: number) {
    this.domain = domain
    this.access = access
    this.#backing = backing
    this.localKey = domain.device.keys.reserve('ibv_reg_mr')
    this.#publish()
    this.token = domain.device.regions.add(this)
  }

  get bytes(): Uint8Array {
    return this.#backing.bytes
  }

  get address(): number {
    return this.isZeroBased ? 0 : this.#backing.address
  }

  get isZeroBased(): boolean {
    return this.#backing.zeroBased || (this.access & Access.ZeroBased) !== 0
  }

  get length(): number {
    return this.#backing.length
  }

  get origin(): BufferOrigin | undefined {
    return this.#backing.origin
  }

  get remoteKey(): number {
    return (this.access & RemoteAccess) === 0 ? 0 : this.localKey
  }

  /**
   * The old keys become invalid, so a peer or a posted request can no longer access anything through the former
   * registration.
   */
  reregister(changes: ReregisterChanges): void {
    const access = changes.access ?? this.access
    const domain = (changes.domain as unknown as RegionDomain | undefined) ?? this.domain
    const { device } = this.domain
    checkAccess('ibv_rereg_mr', access)
    if (domain.device !== device)
      throw new VerbsError('ibv_rereg_mr', Errno.EINVAL, 'the protection domain belongs to another device')
    this.#refuseWhileBound('ibv_rereg_mr')
    const { buffer, origin } = changes
    const backing = buffer === undefined ? this.#backing : device.backings.register(buffer, access, origin)
    const former = this.#withdraw(backing)
    const key = device.keys.reserve('ibv_rereg_mr')
    device.keys.release(this.localKey)
    this.localKey = key
    this.domain.memories.delete(this)
    this.domain = domain
    domain.memories.add(this)
    this.access = access
    this.#backing = backing
    this.#publish()
    if (former !== backing) device.backings.release(former)
  }

  destroy(): void {
    const { device } = this.domain
    this.#refuseWhileBound('ibv_dereg_mr')
    const first = this.#published
    this.#published = false
    device.keys.withdraw(this.localKey)
    // A second attempt goes ahead, since the peer may be stopped or broken for ever. It has mappings of its own.
    if (first) device.awaitPeersOutside('ibv_dereg_mr')
    device.keys.release(this.localKey)
    device.regions.remove(this.token)
    this.domain.memories.delete(this)
    device.backings.release(this.#backing)
  }

  /**
   * Make the old registration unreachable. If a peer stays inside, all is as before, and what was made for the change
   * is released.
   */
  #withdraw(backing: Backing): Backing {
    const { device } = this.domain
    device.keys.withdraw(this.localKey)
    try {
      device.awaitPeersOutside('ibv_rereg_mr')
    } catch (error) {
      this.#publish()
      if (backing !== this.#backing) device.backings.release(backing)
      throw error
    }
    return this.#backing
  }

  #publish(): void {
    const { address, length, access, domain } = this
    domain.device.keys.publishRegion(
      { key: this.localKey, address, length, access, domainId: domain.id },
      this.#backing,
    )
  }

  #refuseWhileBound(verb: string): void {
    const bound = [...this.windows].filter((window) => window.isBound).length
    if (bound > 0)
      throw new VerbsError(verb, Errno.EBUSY, `${bound} memory windows are bound to it; invalidate or close them first`)
  }
}
