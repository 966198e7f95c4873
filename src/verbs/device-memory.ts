import { checkWhole } from '../native/index.ts'
import type { ProviderDeviceMemory } from '../providers/index.ts'
import { checkAttached } from './field-checks.ts'
import { type Children, Closable } from './lifetime.ts'
import type { OpenedDevice } from './opened-device.ts'

/** A device, as its device memory knows it. */
export interface MemoryDevice extends OpenedDevice {
  /** @internal */
  readonly deviceMemories: Children<DeviceMemory>
  allocateDeviceMemory(lengthBytes: number): DeviceMemory
}

/** Memory on the device itself: ibv_alloc_dm(3). The program copies bytes to it and from it. */
export class DeviceMemory extends Closable {
  readonly label = 'device memory'
  readonly device: MemoryDevice
  readonly length: number
  /** @internal */
  readonly provider: ProviderDeviceMemory

  /** @internal Made by {@link Device.allocateDeviceMemory}. */
  constructor(device: MemoryDevice, provider: ProviderDeviceMemory) {
    super()
    this.device = device
    this.provider = provider
    this.length = provider.length
  }

  /**
   * Copy `bytes` to `offset`: ibv_memcpy_to_dm(3). Throws EINVAL unless offset and length are multiples of 4, EFAULT
   * beyond the end.
   */
  write(offset: number, bytes: Uint8Array): void {
    this.assertOpen()
    checkWhole('offset', offset, 0, Number.MAX_SAFE_INTEGER)
    checkAttached('bytes', bytes)
    this.provider.copyTo(offset, bytes)
  }

  /** Copy from `offset` into all of `bytes`: ibv_memcpy_from_dm(3). Errors as for `write`. */
  read(offset: number, bytes: Uint8Array): void {
    this.assertOpen()
    checkWhole('offset', offset, 0, Number.MAX_SAFE_INTEGER)
    checkAttached('bytes', bytes)
    this.provider.copyFrom(offset, bytes)
  }

  protected release(): void {
    this.provider.destroy()
    this.device.deviceMemories.remove(this)
  }
}
