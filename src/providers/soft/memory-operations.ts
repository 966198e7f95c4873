import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Opcode } from '../opcode.ts'
import { CompletionStatus } from '../status.ts'
import type { SoftIndirectKey } from './indirect-key.ts'
import type { Keys } from './keys.ts'
import type { SoftMemoryRegion } from './memory-region.ts'
import type { SoftMemoryWindow } from './memory-window.ts'
import type { Tokens } from './tokens.ts'

/** A device with what requests name by token. */
export interface MemoryDevice {
  readonly keys: Keys
  readonly regions: Tokens<SoftMemoryRegion>
  readonly windows: Tokens<SoftMemoryWindow>
  readonly indirectKeys: Tokens<SoftIndirectKey>
}

/** The work requests of one queue pair that change keys of its own device; the peer has no part in them. */
export class MemoryOperations {
  readonly #device: MemoryDevice
  readonly #domainId: number
  readonly #pairNumber: number

  constructor(device: MemoryDevice, domainId: number, pairNumber: number) {
    this.#device = device
    this.#domainId = domainId
    this.#pairNumber = pairNumber
  }

  includes(opcode: number): boolean {
    return (
      opcode === Opcode.LocalInvalidate || opcode === Opcode.BindMemoryWindow || opcode === Opcode.ConfigureIndirectKey
    )
  }

  /** A bind was posted: from now on its window names the new key. */
  posted(request: EncodedRequest): void {
    const { words } = request
    this.#device.windows.get(words[RequestSlot.Window]!)?.posted(words[RequestSlot.RemoteKey]!)
  }

  /** Returns a CompletionStatus, or Outcome.PeerInside; then it must be called again. */
  execute(request: EncodedRequest, opcode: number): number {
    if (opcode === Opcode.LocalInvalidate)
      return invalidateKey(this.#device.keys, this.#domainId, this.#pairNumber, request.words[RequestSlot.Immediate]!)
    return opcode === Opcode.BindMemoryWindow ? this.#bind(request) : this.#configure(request)
  }

  #bind(request: EncodedRequest): number {
    const { words } = request
    const window = this.#device.windows.get(words[RequestSlot.Window]!)
    if (window === undefined || window.domain.id !== this.#domainId) return CompletionStatus.MemoryWindowBindError
    const length = words[RequestSlot.Length]!
    const memory: SoftMemoryRegion | undefined =
      length === 0 ? undefined : this.#device.regions.get(words[RequestSlot.Memory]!)
    if (length > 0 && memory === undefined) return CompletionStatus.MemoryWindowBindError
    const view = {
      memory,
      address: words[RequestSlot.RemoteAddress]!,
      length,
      access: words[RequestSlot.Access]!,
    }
    return window.show(view, words[RequestSlot.RemoteKey]!, this.#pairNumber)
  }

  #configure(request: EncodedRequest): number {
    const key = this.#device.indirectKeys.get(request.words[RequestSlot.IndirectKey]!)
    if (key === undefined || key.domain.id !== this.#domainId) return CompletionStatus.LocalQueuePairOperationError
    return key.configure(request)
  }
}

/** Invalidate a key by work request. Returns a CompletionStatus, or Outcome.PeerInside. */
export function invalidateKey(keys: Keys, domainId: number, pairNumber: number, key: number): number {
  return keys.holder(key)?.invalidate(key, pairNumber, domainId) ?? CompletionStatus.LocalQueuePairOperationError
}
