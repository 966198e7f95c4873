import { Access, RemoteAccess } from '../access.ts'
import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Errno } from '../errors.ts'
import type { MemoryWindowType, ProviderMemoryWindow } from '../memory-contract.ts'
import type { ProviderQueuePair } from '../queue-pair-contract.ts'
import type { Tokens } from '../soft/tokens.ts'
import { allowsWindow, retag } from '../soft/window-rules.ts'
import { CompletionStatus } from '../status.ts'
import type { SimContext, SimDomain } from './context.ts'
import type { Invalidatable } from './key-table.ts'
import type { SimMemoryRegion } from './memory-region.ts'

/** What a window is to show; without memory it shows nothing. */
export interface WindowView {
  readonly memory: SimMemoryRegion | undefined
  readonly address: number
  readonly length: number
  readonly access: number
}

/** A device with its regions and windows. */
interface WindowDevice extends SimContext {
  readonly regions: Tokens<SimMemoryRegion>
  readonly windows: Tokens<SimMemoryWindow>
}

interface WindowDomain extends SimDomain {
  readonly device: WindowDevice
  readonly windows: Set<SimMemoryWindow>
}

/** A memory window: a key for a part of a region. */
export class SimMemoryWindow implements ProviderMemoryWindow, Invalidatable {
  readonly token: number
  readonly type: MemoryWindowType
  readonly domain: WindowDomain
  /** The key of the last bind that was posted. */
  remoteKey: number
  /** The key under which it is bound, or was last. */
  #key: number
  #memory: SimMemoryRegion | undefined
  #queuePair = 0

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

  /** Carry out a bind. Returns a CompletionStatus. */
  show(view: WindowView, key: number, pairNumber: number): number {
    const { keys } = this.domain.device
    if (!allowsWindow(this.type, this.isBound, this.domain.id, view)) {
      this.remoteKey = this.#key
      return CompletionStatus.MemoryWindowBindError
    }
    keys.withdraw(this.#key)
    this.#forget()
    this.#key = retag(this.#key, key)
    const { memory, address, length, access } = view
    if (memory === undefined) return CompletionStatus.Success
    this.#memory = memory
    this.#queuePair = this.type === 2 ? pairNumber : 0
    memory.windows.add(this)
    keys.publish(this.#key, {
      kind: 'window',
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
    const theirs = this.type === 2 && key === this.#key && domainId === this.domain.id && pairNumber === this.#queuePair
    if (!theirs || !this.isBound) return CompletionStatus.LocalQueuePairOperationError
    this.domain.device.keys.withdraw(key)
    this.#forget()
    return CompletionStatus.Success
  }

  destroy(): void {
    const { device } = this.domain
    this.#forget()
    device.keys.release(this.#key)
    device.windows.remove(this.token)
    this.domain.windows.delete(this)
  }

  /** As with a region: once a key is revoked, everything that came by it is in memory. */
  #forget(): void {
    this.#memory?.settle()
    this.#memory?.windows.delete(this)
    this.#memory = undefined
    this.#queuePair = 0
  }
}
