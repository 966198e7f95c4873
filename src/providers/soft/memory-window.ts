import { Access, RemoteAccess } from '../access.ts'
import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Errno } from '../errors.ts'
import type { MemoryWindowType, ProviderMemoryWindow } from '../memory-contract.ts'
import type { ProviderQueuePair } from '../queue-pair-contract.ts'
import { CompletionStatus } from '../status.ts'
import type { Invalidatable, Keys } from './keys.ts'
import type { SoftMemoryRegion } from './memory-region.ts'
import { Outcome } from './outcome.ts'
import type { Tokens } from './tokens.ts'
import { allowsWindow, retag, type WantedView } from './window-rules.ts'

/** A device with its windows. */
interface WindowDevice {
  readonly keys: Keys
  readonly regions: Tokens<SoftMemoryRegion>
  readonly windows: Tokens<SoftMemoryWindow>
  /**
   * Wait a little until no peer uses a key that was withdrawn; false if one does. `pairNumber` names the one queue pair
   * whose peer could use the key; 0 means that every peer could.
   */
  peersOutside(pairNumber: number): boolean
  /** The same, but waits longer. EBUSY if a peer stays in the middle of an access. */
  awaitPeersOutside(verb: string, pairNumber: number): void
}

interface WindowDomain {
  readonly device: WindowDevice
  readonly id: number
  readonly windows: Set<SoftMemoryWindow>
}

/** What a window is to show; without memory it shows nothing. */
interface WindowView extends WantedView {
  readonly memory: SoftMemoryRegion | undefined
}

/**
 * A memory window: an entry of the key table that names a region and a part of it. Whether it is bound is read from the
 * table, because a peer's SEND with invalidate clears the key there.
 */
export class SoftMemoryWindow implements ProviderMemoryWindow, Invalidatable {
  readonly token: number
  readonly type: MemoryWindowType
  readonly domain: WindowDomain
  /** The key of the last bind that was posted. */
  remoteKey: number
  /** The key under which it is bound, or was last. */
  #key: number
  #memory: SoftMemoryRegion | undefined
  #queuePair = 0
  /** The key is revoked, and a peer may still be using it. */
  #draining = false
  #open = true

  constructor(domain: WindowDomain, type: MemoryWindowType) {
    this.domain = domain
    this.type = type
    this.#key = domain.device.keys.reserve('ibv_alloc_mw', this)
    this.remoteKey = this.#key
    this.token = domain.device.windows.add(this)
  }

  get isBound(): boolean {
    return this.#memory !== undefined && this.domain.device.keys.isPublished(this.#key)
  }

  bind(pair: ProviderQueuePair, request: EncodedRequest): number {
    if (this.type !== 1) return Errno.EINVAL
    const memory = this.domain.device.regions.get(request.words[RequestSlot.Memory]!)
    if (memory !== undefined && memory.domain.id !== this.domain.id) return Errno.EPERM
    if ((request.words[RequestSlot.Access]! & Access.ZeroBased) !== 0) return Errno.EINVAL
    request.words[RequestSlot.RemoteKey] = retag(this.remoteKey, this.remoteKey + 1)
    return pair.postSend(request)
  }

  posted(key: number): void {
    this.remoteKey = retag(this.#key, key)
  }

  /** Carry out a bind. Returns a CompletionStatus, or Outcome.PeerInside. */
  show(view: WindowView, key: number, pairNumber: number): number {
    const { keys } = this.domain.device
    if (!allowsWindow(this.type, this.isBound, this.domain.id, view)) {
      this.remoteKey = this.#key
      return CompletionStatus.MemoryWindowBindError
    }
    keys.withdraw(this.#key)
    if (!this.#isLeft()) return Outcome.PeerInside
    this.#forget()
    this.#key = retag(this.#key, key)
    const { memory, address, length, access } = view
    if (memory === undefined) return CompletionStatus.Success
    this.#memory = memory
    this.#queuePair = this.type === 2 ? pairNumber : 0
    memory.windows.add(this)
    keys.publishWindow({
      key: this.#key,
      address: (access & Access.ZeroBased) === 0 ? address : 0,
      length,
      access: access & RemoteAccess,
      domainId: this.domain.id,
      baseKey: memory.localKey,
      baseAddress: address,
      queuePair: this.#queuePair,
    })
    return CompletionStatus.Success
  }

  invalidate(key: number, pairNumber: number, domainId: number): number {
    const { device } = this.domain
    const theirs = this.type === 2 && key === this.#key && domainId === this.domain.id && pairNumber === this.#queuePair
    if (!theirs || !(this.#draining || this.isBound)) return CompletionStatus.LocalQueuePairOperationError
    device.keys.withdraw(key)
    this.#draining = true
    if (!this.#isLeft()) return Outcome.PeerInside
    this.#forget()
    return CompletionStatus.Success
  }

  /**
   * True if no peer uses the revoked key any more, or ever will. A window that showed nothing has no users. A key of
   * type 2 serves the peer of one queue pair only, so other peers do not delay it.
   */
  #isLeft(): boolean {
    return this.#memory === undefined || this.domain.device.peersOutside(this.#queuePair)
  }

  destroy(): void {
    const { device } = this.domain
    device.keys.withdraw(this.#key)
    // A second attempt goes ahead, as with a region.
    const first = this.#open
    this.#open = false
    if (first && this.#memory !== undefined) device.awaitPeersOutside('ibv_dealloc_mw', this.#queuePair)
    this.#forget()
    device.keys.release(this.#key)
    device.windows.remove(this.token)
    this.domain.windows.delete(this)
  }

  #forget(): void {
    this.#memory?.windows.delete(this)
    this.#memory = undefined
    this.#queuePair = 0
    this.#draining = false
  }
}
