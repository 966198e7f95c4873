import type { VerbsToken } from '../../native/index.ts'
import type { ProviderDeviceMemory } from '../memory-contract.ts'
import type { IbverbsContext } from './context.ts'
import { attempt, check } from './verb.ts'

/** ibv_alloc_dm(3). */
export class IbverbsDeviceMemory implements ProviderDeviceMemory {
  readonly length: number
  readonly handle: VerbsToken
  readonly #device: IbverbsContext

  constructor(device: IbverbsContext, length: number, alignmentExponent: number) {
    this.#device = device
    this.length = length
    this.handle = attempt(() => device.verbs.allocateDeviceMemory(device.handle, length, alignmentExponent))
  }

  copyTo(offset: number, bytes: Uint8Array): void {
    const errno = this.#device.verbs.copyToDeviceMemory(this.handle, offset, bytes)
    check('ibv_memcpy_to_dm', errno, () => this.#range(offset, bytes))
  }

  copyFrom(offset: number, bytes: Uint8Array): void {
    const errno = this.#device.verbs.copyFromDeviceMemory(this.handle, offset, bytes)
    check('ibv_memcpy_from_dm', errno, () => this.#range(offset, bytes))
  }

  destroy(): void {
    check('ibv_free_dm', this.#device.verbs.destroy(this.handle), () => 'a memory region is registered on it')
  }

  #range(offset: number, bytes: Uint8Array): string {
    return `${bytes.length} bytes at ${offset} of ${this.length}: offset and length must be multiples of 4 and in bounds`
  }
}
