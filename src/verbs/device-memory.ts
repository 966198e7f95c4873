import type { ProviderDeviceMemory } from '../providers/index.ts'
import type { Device } from './device.ts'
import { Closable } from './lifetime.ts'

/**
 * Memory on the device itself, nearest to where operations are carried out: ibv_alloc_dm(3). The program reaches it by
 * copying.
 */
export class DeviceMemory extends Closable {
  readonly label = 'device memory'
  readonly device: Device
  readonly length: number
  /** @internal */
  readonly provider: ProviderDeviceMemory

  /** @internal Made by {@link Device.allocateDeviceMemory}. */
  constructor(device: Device, provider: ProviderDeviceMemory) {
    super()
    this.device = device
    this.provider = provider
    this.length = provider.length
  }

  /**
   * Copy `bytes` there: ibv_memcpy_to_dm(3). Offset and length are multiples of 4 (EINVAL), within the length (EFAULT).
   */
  write(offset: number, bytes: Uint8Array): void {
    this.assertOpen()
    this.provider.copyTo(offset, bytes)
  }

  /** Copy from there into all of `bytes`: ibv_memcpy_from_dm(3). */
  read(offset: number, bytes: Uint8Array): void {
    this.assertOpen()
    this.provider.copyFrom(offset, bytes)
  }

  protected release(): void {
    this.provider.destroy()
    this.device.deviceMemories.remove(this)
  }
}
