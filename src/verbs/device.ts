import { ArgumentError } from '../native/index.ts'
import {
  type DeviceAttributes,
  type Gid,
  type GidEntry,
  listDeviceNames,
  type OpenDeviceOptions,
  openProviderDevice,
  type PortAttributes,
  type ProviderDevice,
  type XrcDomainOptions,
} from '../providers/index.ts'
import { type AsyncEvent, drainAsyncEvents, type EventOptions, iterateAsyncEvents } from './async-events.ts'
import { CompletionChannel } from './completion-channel.ts'
import { CompletionQueue, type CompletionQueueOptions } from './completion-queue.ts'
import { DeviceMemory } from './device-memory.ts'
import { DeviceMeter } from './device-meter.ts'
import { Children, Closable } from './lifetime.ts'
import { ProtectionDomain } from './protection-domain.ts'
import { ThreadDomain } from './thread-domain.ts'
import { XrcDomain } from './xrc-domain.ts'

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
  /** @internal Undefined where nobody profiles. */
  readonly meter: DeviceMeter | undefined
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
  /** @internal */
  readonly xrcDomains: Children<XrcDomain> = new Children<XrcDomain>()
  /** @internal Called once when the device closes. */
  readonly onClose: Set<() => void> = new Set<() => void>()

  /** @internal Made by {@link openDevice}. */
  constructor(provider: ProviderDevice) {
    super()
    this.provider = provider
    this.attributes = provider.attributes
    this.gid = provider.gid
    this.label = `device ${provider.attributes.name}`
    this.meter = DeviceMeter.of(provider.attributes.name)
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
   * ibv_alloc_dm(3): memory on the device, its start a multiple of `alignmentBytes` (a power of two; default 1, which
   * also serves atomics on shm). Throws VerbsError ENOMEM when the device has no more, UnsupportedError when it has
   * none to give.
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

  /**
   * ibv_open_xrcd(3). EEXIST and ENOENT as `exclusive` and `create` say; UnsupportedError where the device has no XRC.
   */
  openXrcDomain(options: XrcDomainOptions = {}): XrcDomain {
    this.assertOpen()
    return this.xrcDomains.add(new XrcDomain(this, this.provider.openXrcDomain(options)))
  }

  /** The port that it talks through; 1 where it was not opened with another. */
  get port(): number {
    return this.provider.portNumber
  }

  /** ibv_query_port(3), of its own port where none is named. Ports count from 1; EINVAL where there is no such port. */
  queryPort(port: number = this.port): PortAttributes {
    this.assertOpen()
    return this.provider.queryPort(port)
  }

  /** The port's gids that are in use: ibv_query_gid_table(3). */
  gids(port: number = this.port): readonly GidEntry[] {
    this.assertOpen()
    return this.provider.gids(port)
  }

  /**
   * Asynchronous events as they come, until the device is closed; each is seen by one iteration only.
   * ibv_get_async_event(3).
   */
  events(options: EventOptions = {}): AsyncGenerator<AsyncEvent, void> {
    this.assertOpen()
    return iterateAsyncEvents(this, options)
  }

  /** The asynchronous events that wait, oldest first, without blocking. */
  drainEvents(): AsyncEvent[] {
    this.assertOpen()
    return drainAsyncEvents(this)
  }

  /** Readable while an asynchronous event waits, for poll(2) and friends. */
  get asyncDescriptor(): number {
    this.assertOpen()
    return this.provider.asyncDescriptor
  }

  /** Let pending work advance (retries, timers, deaths of peers). Polling does the same. */
  progress(): void {
    this.assertOpen()
    this.provider.progress()
  }

  protected release(): void {
    this.domains.closeAll()
    this.xrcDomains.closeAll()
    this.completionQueues.closeAll()
    this.channels.closeAll()
    this.threadDomains.closeAll()
    this.deviceMemories.closeAll()
    for (const closing of [...this.onClose]) closing()
    this.provider.destroy()
    this.meter?.close()
  }
}
