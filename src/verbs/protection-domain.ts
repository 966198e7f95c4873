import { ArgumentError } from '../native/index.ts'
import type { AllocateOptions, BufferOrigin, ProviderProtectionDomain } from '../providers/index.ts'
import type { Device } from './device.ts'
import { Children, Closable } from './lifetime.ts'
import { MemoryRegion } from './memory-region.ts'
import { QueuePair, type QueuePairOptions } from './queue-pair.ts'

/** What may be registered. */
export type Registrable = ArrayBufferView | ArrayBufferLike

function bytesOf(buffer: Registrable): Uint8Array {
  if (ArrayBuffer.isView(buffer)) return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
  return new Uint8Array(buffer)
}

/** Queue pairs and memory that may be used together: ibv_alloc_pd(3). Closing it closes them, queue pairs first. */
export class ProtectionDomain extends Closable {
  readonly label = 'protection domain'
  readonly device: Device
  /** @internal */
  readonly provider: ProviderProtectionDomain
  /** @internal */
  readonly memories: Children<MemoryRegion> = new Children<MemoryRegion>()
  /** @internal */
  readonly queuePairs: Children<QueuePair> = new Children<QueuePair>()

  /** @internal Made by {@link Device.createProtectionDomain}. */
  constructor(device: Device, provider: ProviderProtectionDomain) {
    super()
    this.device = device
    this.provider = provider
  }

  /**
   * New zeroed memory that peers reach directly. `lengthBytes` may be any positive number.
   * Throws VerbsError ENOMEM when the machine does not have it, EINVAL for remote write or atomic rights without LocalWrite.
   */
  allocate(lengthBytes: number, access: number, options: AllocateOptions = {}): MemoryRegion {
    this.assertOpen()
    if (!Number.isSafeInteger(lengthBytes) || lengthBytes < 1) {
      throw new ArgumentError('lengthBytes', `memory needs a length of at least one byte, not ${lengthBytes}`)
    }
    return this.memories.add(new MemoryRegion(this, this.provider.allocate(lengthBytes, access, options)))
  }

  /**
   * Register an existing buffer: ibv_reg_mr(3). With `origin` it is a mapping of that memory object at that offset, which peers map too;
   * without, the shm provider reaches it by cross-process copy and remote atomics on it fail.
   */
  register(buffer: Registrable, access: number, origin?: BufferOrigin): MemoryRegion {
    this.assertOpen()
    const bytes = bytesOf(buffer)
    if (bytes.byteLength === 0) throw new ArgumentError('buffer', 'an empty buffer cannot be registered')
    return this.memories.add(new MemoryRegion(this, this.provider.register(bytes, access, origin)))
  }

  /** ibv_create_qp(3). */
  createQueuePair(options: QueuePairOptions): QueuePair {
    this.assertOpen()
    return this.queuePairs.add(QueuePair.create(this, options))
  }

  protected release(): void {
    this.queuePairs.closeAll()
    this.memories.closeAll()
    this.provider.destroy()
    this.device.domains.remove(this)
  }
}
