import {
  checkBoolean,
  checkBytes,
  checkOptions,
  checkText,
  checkWhole,
  mustBe,
  type OptionNames,
} from '../native/index.ts'
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
import {
  type AsyncEvent,
  checkEvents,
  drainAsyncEvents,
  type EventOptions,
  iterateAsyncEvents,
} from './async-events.ts'
import { CompletionChannel } from './completion-channel.ts'
import { CompletionQueue, type CompletionQueueOptions } from './completion-queue.ts'
import { DeviceMemory } from './device-memory.ts'
import { DeviceMeter } from './device-meter.ts'
import { Children, Closable } from './lifetime.ts'
import { type DomainDevice, ProtectionDomain } from './protection-domain.ts'
import { ThreadDomain } from './thread-domain.ts'
import { XrcDomain } from './xrc-domain.ts'

/** Return the names that {@link openDevice} knows on this machine. */
export function deviceNames(): string[] {
  return listDeviceNames()
}

/**
 * Open a device; the embedded one is called `shm0`. Each JavaScript environment (a Worker, for example) opens its own.
 * Throws VerbsError ENODEV for an unknown name.
 */
export function openDevice(name: string, options: OpenDeviceOptions = {}): Device {
  if (typeof name !== 'string' || name === '') throw mustBe('name', `one of ${listDeviceNames().join(', ')}`, name)
  checkOpening(options)
  return new Device(openProviderDevice(name, options))
}

const openNames: OptionNames<OpenDeviceOptions> = {
  allowProcessCopy: true,
  physicalBytes: true,
  port: true,
  sourceGidIndex: true,
  addressFamily: true,
  secret: true,
}

function checkOpening(options: OpenDeviceOptions): void {
  checkOptions('openDevice', options, openNames)
  const {
    allowProcessCopy = false,
    physicalBytes = 0,
    port = 1,
    sourceGidIndex = 0,
    addressFamily = 'ipv4',
    secret,
  } = options
  checkBoolean('options.allowProcessCopy', allowProcessCopy)
  checkWhole('options.physicalBytes', physicalBytes, 0, PHYSICAL_BYTES_MAX)
  checkWhole('options.port', port, 1, PORT_MAX)
  checkWhole('options.sourceGidIndex', sourceGidIndex, 0, 0xffff)
  if (addressFamily !== 'ipv4' && addressFamily !== 'ipv6')
    throw mustBe('options.addressFamily', "'ipv4' or 'ipv6'", addressFamily)
  if (secret !== undefined) checkBytes('options.secret', secret)
  if (secret?.length === 0) throw mustBe('options.secret', 'at least one byte', secret)
}

function checkPath(path: string): void {
  checkText('options.path', path)
  if (path.includes('\0') || path.length > PATH_LENGTH_MAX)
    throw mustBe('options.path', `a path of at most ${PATH_LENGTH_MAX} characters, none of them 0`, path)
}

/** PATH_MAX of Linux, with the 0 at its end. */
const PATH_LENGTH_MAX = 4095
/** Ports of a device have a number of one byte. */
const PORT_MAX = 255
const PHYSICAL_BYTES_MAX = 2 ** 40
const DEVICE_MEMORY_BYTES_MAX = 2 ** 40

interface DeviceMemoryOptions {
  readonly alignmentBytes?: number
}

const memoryNames: OptionNames<DeviceMemoryOptions> = { alignmentBytes: true }
const xrcNames: OptionNames<XrcDomainOptions> = { path: true, create: true, exclusive: true }

/** An open device: ibv_open_device(3). */
export class Device extends Closable implements DomainDevice {
  readonly label: string
  readonly attributes: DeviceAttributes
  /** What peers need to find this device; see {@link formatGid} for text. */
  readonly gid: Gid
  /** @internal */
  readonly provider: ProviderDevice
  /** @internal Undefined if profiling is off. */
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

  /** Create a protection domain: ibv_alloc_pd(3). */
  createProtectionDomain(): ProtectionDomain {
    this.assertOpen()
    return this.domains.add(new ProtectionDomain(this, this.provider.createProtectionDomain()))
  }

  /** Create a completion channel: ibv_create_comp_channel(3). */
  createCompletionChannel(): CompletionChannel {
    this.assertOpen()
    return this.channels.add(new CompletionChannel(this, this.provider.createCompletionChannel()))
  }

  /**
   * Create a completion queue: ibv_create_cq(3). `depth` must hold every completion that can be outstanding; an overrun
   * moves the queue pairs to the error state.
   */
  createCompletionQueue(options: CompletionQueueOptions): CompletionQueue {
    this.assertOpen()
    return this.completionQueues.add(CompletionQueue.create(this, options))
  }

  /**
   * Allocate memory on the device: ibv_alloc_dm(3). Its start is a multiple of `alignmentBytes`, a power of two; the
   * default 1 also serves atomics on shm. Throws VerbsError ENOMEM if the device has none left, UnsupportedError if it
   * has no memory to give.
   */
  allocateDeviceMemory(lengthBytes: number, options: DeviceMemoryOptions = {}): DeviceMemory {
    this.assertOpen()
    checkOptions('allocateDeviceMemory', options, memoryNames)
    const { alignmentBytes = 1 } = options
    const exponent = typeof alignmentBytes === 'number' ? Math.log2(alignmentBytes) : -1
    checkWhole('lengthBytes', lengthBytes, 1, DEVICE_MEMORY_BYTES_MAX)
    if (!Number.isInteger(exponent) || exponent < 0 || exponent > 30)
      throw mustBe('options.alignmentBytes', 'a power of two, at most 2^30', alignmentBytes)
    return this.deviceMemories.add(new DeviceMemory(this, this.provider.allocateDeviceMemory(lengthBytes, exponent)))
  }

  /** Create a thread domain: ibv_alloc_td(3). */
  createThreadDomain(): ThreadDomain {
    this.assertOpen()
    return this.threadDomains.add(new ThreadDomain(this, this.provider.createThreadDomain()))
  }

  /**
   * Open an XRC domain: ibv_open_xrcd(3). Throws EEXIST or ENOENT according to `exclusive` and `create`,
   * UnsupportedError if the device has no XRC.
   */
  openXrcDomain(options: XrcDomainOptions = {}): XrcDomain {
    this.assertOpen()
    checkOptions('openXrcDomain', options, xrcNames)
    if (options.path !== undefined) checkPath(options.path)
    checkBoolean('options.create', options.create ?? true)
    checkBoolean('options.exclusive', options.exclusive ?? false)
    return this.xrcDomains.add(new XrcDomain(this, this.provider.openXrcDomain(options)))
  }

  /** The number of the port this device was opened with; default 1. */
  get port(): number {
    return this.provider.portNumber
  }

  /**
   * Return the attributes of a port, by default this device's own: ibv_query_port(3). Ports count from 1. Throws EINVAL
   * if there is no such port.
   */
  queryPort(port: number = this.port): PortAttributes {
    this.assertOpen()
    checkWhole('port', port, 0, PORT_MAX)
    return this.provider.queryPort(port)
  }

  /** Return the GIDs in use on the port: ibv_query_gid_table(3). */
  gids(port: number = this.port): readonly GidEntry[] {
    this.assertOpen()
    checkWhole('port', port, 0, PORT_MAX)
    return this.provider.gids(port)
  }

  /**
   * Yield asynchronous events until the device is closed: ibv_get_async_event(3). Each event goes to one iteration
   * only.
   */
  events(options: EventOptions = {}): AsyncGenerator<AsyncEvent, void> {
    this.assertOpen()
    checkEvents(options)
    return iterateAsyncEvents(this, options)
  }

  /** Return the pending asynchronous events, oldest first, without blocking. */
  drainEvents(): AsyncEvent[] {
    this.assertOpen()
    return drainAsyncEvents(this)
  }

  /** A descriptor that is readable while an asynchronous event waits; for poll(2), epoll(7) and the like. */
  get asyncDescriptor(): number {
    this.assertOpen()
    return this.provider.asyncDescriptor
  }

  /** Advance pending work: retries, timers, deaths of peers. Polling does the same. */
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
