import {
  ASYNC_EVENT_WORDS,
  type VerbsAddon,
  type VerbsDeviceFacts,
  type VerbsPortFacts,
  type VerbsToken,
} from '../../native/index.ts'
import type {
  DeviceAttributes,
  OpenDeviceOptions,
  ProviderCompletionChannel,
  ProviderCompletionQueue,
  ProviderDevice,
  ProviderProtectionDomain,
} from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { Gid } from '../gid.ts'
import { IbverbsCompletionChannel } from './completion-channel.ts'
import { IbverbsCompletionQueue } from './completion-queue.ts'
import { DescriptorWatch } from './descriptor-watch.ts'
import { IbverbsPort } from './port.ts'
import { IbverbsProtectionDomain } from './protection-domain.ts'
import { attempt, check } from './verb.ts'

/** `enum ibv_event_type` */
const EVENT_COMPLETION_QUEUE_ERROR = 0
const EVENTS_AT_ONCE = 16

/** An open RDMA device, one per JavaScript environment and `openDevice`. */
export class IbverbsDevice implements ProviderDevice {
  readonly verbs: VerbsAddon
  readonly handle: VerbsToken
  readonly attributes: DeviceAttributes
  readonly facts: VerbsDeviceFacts
  readonly port: IbverbsPort
  readonly watch: DescriptorWatch = new DescriptorWatch()
  readonly domains: Set<IbverbsProtectionDomain> = new Set<IbverbsProtectionDomain>()
  readonly channels: Set<IbverbsCompletionChannel> = new Set<IbverbsCompletionChannel>()
  readonly queues: Map<VerbsToken, IbverbsCompletionQueue> = new Map<VerbsToken, IbverbsCompletionQueue>()
  readonly #events = new Float64Array(EVENTS_AT_ONCE * ASYNC_EVENT_WORDS)

  constructor(verbs: VerbsAddon, name: string, options: OpenDeviceOptions) {
    this.verbs = verbs
    this.handle = attempt(
      () => verbs.openDevice(name),
      (errno) => explainOpen(name, errno),
    ).handle
    try {
      this.facts = attempt(() => verbs.queryDevice(this.handle))
      this.port = new IbverbsPort(verbs, this.handle, name, options)
      this.attributes = attributesOf(name, this.facts, this.port.facts)
    } catch (error) {
      verbs.destroy(this.handle)
      throw error
    }
  }

  get gid(): Gid {
    return this.port.gid
  }

  get localIdentifier(): number | undefined {
    return this.port.localIdentifier
  }

  createProtectionDomain(): ProviderProtectionDomain {
    const handle = attempt(() => this.verbs.allocateDomain(this.handle))
    const domain = new IbverbsProtectionDomain(this, handle)
    this.domains.add(domain)
    return domain
  }

  createCompletionChannel(): ProviderCompletionChannel {
    const channel = new IbverbsCompletionChannel(this)
    this.channels.add(channel)
    return channel
  }

  createCompletionQueue(depth: number, channel: ProviderCompletionChannel | undefined): ProviderCompletionQueue {
    if (depth > this.facts.maxCompletions) {
      throw new VerbsError(
        'ibv_create_cq',
        Errno.EINVAL,
        `a queue of ${this.attributes.name} holds at most ${this.facts.maxCompletions} completions, not ${depth}`,
      )
    }
    const queue = new IbverbsCompletionQueue(this, depth, channel as IbverbsCompletionChannel | undefined)
    this.queues.set(queue.handle, queue)
    return queue
  }

  /** The device works by itself. */
  progress(): void {}

  /** Take the asynchronous events that wait. */
  takeEvents(): void {
    for (let count = EVENTS_AT_ONCE; count === EVENTS_AT_ONCE; ) {
      count = this.verbs.readAsyncEvents(this.handle, this.#events)
      for (let index = 0; index < count; index += 1) this.#takeEvent(index * ASYNC_EVENT_WORDS)
    }
  }

  destroy(): void {
    const { size } = this.domains
    if (size + this.queues.size + this.channels.size > 0) {
      const what = `${size} protection domains, ${this.queues.size} completion queues and ${this.channels.size} channels`
      throw new VerbsError('ibv_close_device', Errno.EBUSY, `${what} are still open`)
    }
    check('ibv_close_device', this.verbs.destroy(this.handle), () => 'the device could not be closed')
    this.watch.close()
  }

  #takeEvent(at: number): void {
    const subject = this.#events[at + 1] as number
    if (this.#events[at] === EVENT_COMPLETION_QUEUE_ERROR) this.queues.get(subject)?.markOverrun()
  }
}

const permissionErrors: ReadonlySet<number> = new Set<number>([Errno.EPERM, 13])

function explainOpen(name: string, errno: number): string | undefined {
  if (permissionErrors.has(errno)) {
    return `no permission to open ${name}: this user needs to read and write /dev/infiniband/uverbs*; join their group (often rdma), or in a container pass the devices in (--device /dev/infiniband)`
  }
  if (errno === Errno.ENOENT || errno === Errno.ENODEV)
    return `${name} cannot be opened: /dev/infiniband has no device for it; load the module (modprobe ib_uverbs), or pass the devices into the container`
  return undefined
}

function attributesOf(name: string, facts: VerbsDeviceFacts, port: VerbsPortFacts): DeviceAttributes {
  return {
    name,
    provider: 'ibverbs',
    maxQueuePairs: facts.maxQueuePairs,
    maxRequests: facts.maxRequests,
    maxSegments: facts.maxSegments,
    // No verb tells: what a queue pair gets is in its capacities.
    maxInlineBytes: 0,
    maxCompletionQueues: facts.maxCompletionQueues,
    maxCompletions: facts.maxCompletions,
    maxMemoryRegions: facts.maxMemoryRegions,
    maxMemoryRegionBytes: facts.maxMemoryRegionBytes,
    maxMessageBytes: port.maxMessageBytes,
    maxReadAtomic: Math.min(facts.maxReadAtomicInitiator, facts.maxReadAtomicTarget),
    portCount: facts.portCount,
    linkLayer: port.linkLayer === 1 ? 'infiniband' : 'ethernet',
  }
}
