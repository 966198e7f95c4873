import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Opcode } from '../opcode.ts'
import { CompletionStatus } from '../status.ts'
import type { ShmDevice } from './device.ts'
import type { ShmMemoryRegion } from './memory-region.ts'

/** The work requests of one queue pair that change keys of its own device; the peer has no part in them. */
export class MemoryOperations {
  readonly #device: ShmDevice
  readonly #domainId: number
  readonly #pairNumber: number

  constructor(device: ShmDevice, domainId: number, pairNumber: number) {
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
    if (opcode === Opcode.LocalInvalidate) return this.#invalidate(request)
    return opcode === Opcode.BindMemoryWindow ? this.#bind(request) : this.#configure(request)
  }

  #invalidate(request: EncodedRequest): number {
    const key = request.words[RequestSlot.Immediate]!
    const holder = this.#device.keys.holder(key)
    if (holder === undefined) return CompletionStatus.LocalQueuePairOperationError
    return holder.invalidate(key, this.#pairNumber, this.#domainId)
  }

  #bind(request: EncodedRequest): number {
    const { words } = request
    const window = this.#device.windows.get(words[RequestSlot.Window]!)
    if (window === undefined || window.domain.id !== this.#domainId) return CompletionStatus.MemoryWindowBindError
    const length = words[RequestSlot.Length]!
    const memory: ShmMemoryRegion | undefined =
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
