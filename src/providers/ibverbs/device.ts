import type { OpenedVerbsDevice, VerbsAddon, VerbsDeviceFacts, VerbsToken } from '../../native/index.ts'
import type { ProviderAsyncEvent } from '../async-event.ts'
import type { ProviderCompletionChannel, ProviderCompletionQueue } from '../completion-contract.ts'
import type { DeviceAttributes, OpenDeviceOptions, ProviderDevice, ProviderProtectionDomain } from '../contract.ts'
import { DescriptorWatch } from '../descriptor-watch.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { Gid } from '../gid.ts'
import type { ProviderDeviceMemory, ProviderThreadDomain } from '../memory-contract.ts'
import type { GidEntry, PortAttributes } from '../port.ts'
import type { ProviderXrcDomain, XrcDomainOptions } from '../xrc-domain.ts'
import { AsyncEventQueue } from './async-event-queue.ts'
import { IbverbsCompletionChannel } from './completion-channel.ts'
import { IbverbsCompletionQueue } from './completion-queue.ts'
import { deviceAttributes } from './device-attributes.ts'
import { IbverbsDeviceMemory } from './device-memory.ts'
import { probeMaxInlineBytes } from './inline-limit.ts'
import type { IbverbsMemoryWindow } from './memory-window.ts'
import { IbverbsPort } from './port.ts'
import { gidEntry, portAttributes } from './port-attributes.ts'
import { IbverbsProtectionDomain } from './protection-domain.ts'
import type { IbverbsQueuePair } from './queue-pair.ts'
import type { IbverbsSharedReceiveQueue } from './shared-receive-queue.ts'
import { IbverbsThreadDomain } from './thread-domain.ts'
import { attempt, check } from './verb.ts'
import { IbverbsXrcDomain } from './xrc-domain.ts'

const RXE_VENDOR = 0xffffff

/** Open an RDMA device. */
export function openRdmaDevice(verbs: VerbsAddon, name: string, options: OpenDeviceOptions): IbverbsDevice {
  const opened = attempt(
    () => verbs.openDevice(name),
    (errno) => explainOpen(name, errno),
  )
  return new IbverbsDevice(verbs, 'ibverbs', name, opened, options)
}

/**
 * An open device behind the functions of libibverbs, one per JavaScript environment and `openDevice`: an RDMA device,
 * or one of the tcp provider.
 */
export class IbverbsDevice implements ProviderDevice {
  readonly verbs: VerbsAddon
  readonly handle: VerbsToken
  readonly attributes: DeviceAttributes
  readonly facts: VerbsDeviceFacts
  readonly port: IbverbsPort
  readonly asyncDescriptor: number
  readonly watch: DescriptorWatch = new DescriptorWatch()
  readonly domains: Set<IbverbsProtectionDomain> = new Set<IbverbsProtectionDomain>()
  readonly channels: Set<IbverbsCompletionChannel> = new Set<IbverbsCompletionChannel>()
  // By token, as events and requests name them.
  readonly queues: Map<VerbsToken, IbverbsCompletionQueue> = new Map<VerbsToken, IbverbsCompletionQueue>()
  readonly pairs: Map<VerbsToken, IbverbsQueuePair> = new Map<VerbsToken, IbverbsQueuePair>()
  readonly sharedReceives: Map<VerbsToken, IbverbsSharedReceiveQueue> = new Map<VerbsToken, IbverbsSharedReceiveQueue>()
  readonly windows: Map<VerbsToken, IbverbsMemoryWindow> = new Map<VerbsToken, IbverbsMemoryWindow>()
  readonly #events: AsyncEventQueue

  constructor(
    verbs: VerbsAddon,
    provider: string,
    name: string,
    opened: OpenedVerbsDevice,
    options: OpenDeviceOptions,
  ) {
    this.verbs = verbs
    this.handle = opened.handle
    this.asyncDescriptor = opened.asyncDescriptor
    this.#events = new AsyncEventQueue(this)
    try {
      this.facts = attempt(() => verbs.queryDevice(this.handle))
      this.port = new IbverbsPort(verbs, this.handle, name, options)
      this.attributes = deviceAttributes(
        { name, provider, completionVectors: opened.completionVectors },
        this.facts,
        this.port.facts,
        () => attempt(() => probeMaxInlineBytes(verbs, this.handle)),
      )
    } catch (error) {
      verbs.destroy(this.handle)
      throw error
    }
  }

  /** True for soft-RoCE, which needs some special care. */
  get isRxe(): boolean {
    return this.facts.vendorId === RXE_VENDOR
  }

  get portNumber(): number {
    return this.port.number
  }

  get gid(): Gid {
    return this.port.gid
  }

  queryPort(port: number): PortAttributes {
    return portAttributes(
      port,
      attempt(() => this.verbs.queryPort(this.handle, port)),
    )
  }

  gids(port: number): readonly GidEntry[] {
    const { gidCount } = this.queryPort(port)
    const entries = attempt(() => this.verbs.queryGids(this.handle, port, gidCount))
    return entries.filter((entry) => entry.gid !== 0n).map(gidEntry)
  }

  // ---- objects
  // -----------------------------------------------------------------------------------------------------------------

  createProtectionDomain(): ProviderProtectionDomain {
    const handle = attempt(() => this.verbs.allocateDomain(this.handle))
    return new IbverbsProtectionDomain(this, handle, undefined)
  }

  createCompletionChannel(): ProviderCompletionChannel {
    const channel = new IbverbsCompletionChannel(this)
    this.channels.add(channel)
    return channel
  }

  createCompletionQueue(
    depth: number,
    channel: ProviderCompletionChannel | undefined,
    vector: number,
  ): ProviderCompletionQueue {
    if (depth > this.facts.maxCompletions) {
      throw new VerbsError(
        'ibv_create_cq',
        Errno.EINVAL,
        `a queue of ${this.attributes.name} holds at most ${this.facts.maxCompletions} completions, not ${depth}`,
      )
    }
    const queue = new IbverbsCompletionQueue(this, depth, channel as IbverbsCompletionChannel | undefined, vector)
    this.queues.set(queue.handle, queue)
    return queue
  }

  allocateDeviceMemory(lengthBytes: number, alignmentExponent: number): ProviderDeviceMemory {
    return new IbverbsDeviceMemory(this, lengthBytes, alignmentExponent)
  }

  createThreadDomain(): ProviderThreadDomain {
    return new IbverbsThreadDomain(this)
  }

  openXrcDomain(options: XrcDomainOptions): ProviderXrcDomain {
    return new IbverbsXrcDomain(this, options)
  }

  // ---- asynchronous events
  // -----------------------------------------------------------------------------------------------------

  drainEvents(take: (event: ProviderAsyncEvent) => void): number {
    return this.#events.drain(take)
  }

  whenEvent(ready: () => void, keepAlive: boolean): () => void {
    return this.#events.whenReadable(ready, keepAlive)
  }

  /** Take events off the device for a caller that looks for their effect. They are kept for `drainEvents`. */
  noticeEvents(): void {
    this.#events.collect()
  }

  /** The device makes progress by itself. */
  progress(): void {}

  destroy(): void {
    const { size } = this.domains
    if (size + this.queues.size + this.channels.size > 0) {
      const what = `${size} protection domains, ${this.queues.size} completion queues and ${this.channels.size} channels`
      throw new VerbsError('ibv_close_device', Errno.EBUSY, `${what} are still open`)
    }
    this.#events.close()
    check('ibv_close_device', this.verbs.destroy(this.handle), () => 'objects of the device are still open')
    this.watch.close()
  }
}

const EACCES = 13
const permissionErrors: ReadonlySet<number> = new Set<number>([Errno.EPERM, EACCES])

function explainOpen(name: string, errno: number): string | undefined {
  if (permissionErrors.has(errno)) {
    return `no permission to open ${name}: this user needs to read and write /dev/infiniband/uverbs*; join their group (often rdma), or in a container pass the devices in (--device /dev/infiniband)`
  }
  if (errno === Errno.ENOENT || errno === Errno.ENODEV)
    return `${name} cannot be opened: /dev/infiniband has no device for it; load the module (modprobe ib_uverbs), or pass the devices into the container`
  return undefined
}
