import { ArgumentError } from '../native/index.ts'
import {
  type DeviceAttributes,
  type Gid,
  listDeviceNames,
  type OpenDeviceOptions,
  openProviderDevice,
  type ProviderDevice,
} from '../providers/index.ts'
import { CompletionChannel } from './completion-channel.ts'
import { CompletionQueue, type CompletionQueueOptions } from './completion-queue.ts'
import { DeviceMemory } from './device-memory.ts'
import { Children, Closable } from './lifetime.ts'
import { ProtectionDomain } from './protection-domain.ts'
import { ThreadDomain } from './thread-domain.ts'

/** Names that {@link openDevice} knows on this machine. */
export function deviceNames(): string[] {
  return listDeviceNames()
}

/**
 * Open a device, `shm0` for the embedded one. Each JavaScript environment (a Worker, say) opens its own.
 * Throws VerbsError ENODEV for an unknown name.
 */
export function openDevice(name: string, options: OpenDeviceOptions = {}): Device {
  return new Device(openProviderDevice(name, options))
}

/** An open device: ibv_open_device(3). */
export class Device extends Closable {
  readonly label: string
  readonly attributes: DeviceAttributes
  /** What peers need to find this device; see {@link formatGid} for text. */
  readonly gid: Gid
  /** @internal */
  readonly provider: ProviderDevice
  /** @internal */
  readonly domains: Children<ProtectionDomain> = new Children<ProtectionDomain>()
  /** @internal */
  readonly completionQueues: Children<CompletionQueue> = new Children<CompletionQueue>()
  /** @internal */
  readonly channels: Children<CompletionChannel> = new Children<CompletionChannel>()
  /** @internal */
  readonly deviceMemories: Children<DeviceMemory> = new Children<DeviceMemory>()
  /** @internal */
  readonly threadDomains: Children<ThreadDomain> = new Children<ThreadDomain>()

  /** @internal Made by {@link openDevice}. */
  constructor(provider: ProviderDevice) {
    super()
    this.provider = provider
    this.attributes = provider.attributes
    this.gid = provider.gid
    this.label = `device ${provider.attributes.name}`
  }

  get name(): string {
    return this.attributes.name
  }

  /** ibv_alloc_pd(3). */
  createProtectionDomain(): ProtectionDomain {
    this.assertOpen()
    return this.domains.add(new ProtectionDomain(this, this.provider.createProtectionDomain()))
  }

  /** ibv_create_comp_channel(3). */
  createCompletionChannel(): CompletionChannel {
    this.assertOpen()
    return this.channels.add(new CompletionChannel(this, this.provider.createCompletionChannel()))
  }

  /** ibv_create_cq(3). `depth` must hold every completion that can be outstanding: an overrun ends the queue pairs. */
  createCompletionQueue(options: CompletionQueueOptions): CompletionQueue {
    this.assertOpen()
    return this.completionQueues.add(CompletionQueue.create(this, options))
  }

  /**
   * ibv_alloc_dm(3): memory on the device, its start a multiple of `alignmentBytes` (a power of two; default 1, which also serves atomics
   * on shm). Throws VerbsError ENOMEM when the device has no more, UnsupportedError when it has none to give.
   */
  allocateDeviceMemory(lengthBytes: number, options: { readonly alignmentBytes?: number } = {}): DeviceMemory {
    this.assertOpen()
    const { alignmentBytes = 1 } = options
    const exponent = Math.log2(alignmentBytes)
    if (!Number.isSafeInteger(lengthBytes) || lengthBytes < 1)
      throw new ArgumentError('lengthBytes', `memory needs a length of at least one byte, not ${lengthBytes}`)
    if (!Number.isInteger(exponent) || exponent < 0)
      throw new ArgumentError('alignmentBytes', `must be a power of two, not ${alignmentBytes}`)
    return this.deviceMemories.add(new DeviceMemory(this, this.provider.allocateDeviceMemory(lengthBytes, exponent)))
  }

  /** ibv_alloc_td(3). */
  createThreadDomain(): ThreadDomain {
    this.assertOpen()
    return this.threadDomains.add(new ThreadDomain(this, this.provider.createThreadDomain()))
  }

  /** Let pending work advance (retries, timers, deaths of peers). Polling does the same. */
  progress(): void {
    this.assertOpen()
    this.provider.progress()
  }

  protected release(): void {
    this.domains.closeAll()
    this.completionQueues.closeAll()
    this.channels.closeAll()
    this.threadDomains.closeAll()
    this.deviceMemories.closeAll()
    this.provider.destroy()
  }
}
