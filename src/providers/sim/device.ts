import { AsyncEventType, type ProviderAsyncEvent } from '../async-event.ts'
import type { ProviderCompletionChannel, ProviderCompletionQueue } from '../completion-contract.ts'
import type { DeviceAttributes, OpenDeviceOptions, ProviderDevice, ProviderProtectionDomain } from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { Gid } from '../gid.ts'
import type { ProviderDeviceMemory, ProviderThreadDomain } from '../memory-contract.ts'
import { OwnThreadDomain } from '../own-thread-domain.ts'
import type { GidEntry, PortAttributes } from '../port.ts'
import { Tokens } from '../tokens.ts'
import type { ProviderXrcDomain, XrcDomainOptions } from '../xrc-domain.ts'
import type { SimAddressHandle } from './address-handle.ts'
import { AddressSpace } from './address-space.ts'
import { SimAsyncEvents } from './async-events.ts'
import { SimCompletionChannel } from './completion-channel.ts'
import { SimCompletionQueue } from './completion-queue.ts'
import type { SimClusterContext } from './context.ts'
import { checkDepth, deviceAttributes, gidEntries, portAttributes } from './device-attributes.ts'
import { SimDeviceMemory } from './device-memory.ts'
import { Dma } from './dma.ts'
import type { Host, HostListener } from './host.ts'
import type { SimIndirectKey } from './indirect-key.ts'
import { KeyTable } from './key-table.ts'
import type { MemoryBlock } from './memory-block.ts'
import type { Backing, SimMemoryRegion } from './memory-region.ts'
import type { SimMemoryWindow } from './memory-window.ts'
import type { Network } from './network.ts'
import type { Piece } from './piece-list.ts'
import { SimProtectionDomain } from './protection-domain.ts'
import type { SimQueuePair } from './queue-pair.ts'
import type { Stream } from './stream.ts'
import { SimXrcDomain, type XrcMembers } from './xrc-domain.ts'

/** An atomic reads, and writes this much later. In between only other atomics of the device are kept out. */
const ATOMIC_NS = 20

/** The cluster that a device belongs to. */
interface DeviceCluster extends SimClusterContext {
  readonly network: Network
  readonly names: Stream
  readonly gigabitsPerSecond: number
  readonly atomics: 'device' | 'global'
  readonly xrcDomains: Map<string, XrcMembers>
  /** A program outside the simulation has found nothing to do. */
  polled(): void
}

/** An open simulated device: one process's use of one host's adapter. */
export class SimDevice implements ProviderDevice, HostListener {
  readonly attributes: DeviceAttributes
  readonly portNumber = 1
  readonly gid: Gid
  readonly cluster: DeviceCluster
  readonly host: Host
  readonly network: Network
  readonly dma: Dma
  readonly space: AddressSpace = new AddressSpace()
  readonly keys: KeyTable
  readonly events: SimAsyncEvents = new SimAsyncEvents()
  readonly domains: Set<SimProtectionDomain> = new Set<SimProtectionDomain>()
  readonly channels: Set<SimCompletionChannel> = new Set<SimCompletionChannel>()
  readonly queues: Set<SimCompletionQueue> = new Set<SimCompletionQueue>()
  readonly xrcDomains: Set<SimXrcDomain> = new Set<SimXrcDomain>()
  readonly threadDomains: Set<OwnThreadDomain> = new Set<OwnThreadDomain>()
  readonly deviceMemories: Set<SimDeviceMemory> = new Set<SimDeviceMemory>()
  readonly regions: Tokens<SimMemoryRegion> = new Tokens<SimMemoryRegion>()
  readonly windows: Tokens<SimMemoryWindow> = new Tokens<SimMemoryWindow>()
  readonly indirectKeys: Tokens<SimIndirectKey> = new Tokens<SimIndirectKey>()
  readonly addressHandles: Tokens<SimAddressHandle> = new Tokens<SimAddressHandle>()
  readonly #pairs = new Map<number, SimQueuePair>()
  readonly #physical: MemoryBlock | undefined
  #atomicFreeNs = 0

  constructor(cluster: DeviceCluster, host: Host, gid: Gid, name: string, options: OpenDeviceOptions) {
    const { physicalBytes = 0 } = options
    this.cluster = cluster
    this.host = host
    this.gid = gid
    this.network = cluster.network
    this.attributes = deviceAttributes(name, cluster.atomics)
    this.dma = new Dma(host)
    this.keys = new KeyTable(this.space, cluster.names)
    this.#physical = physicalBytes === 0 ? undefined : this.space.allocate(physicalBytes)
    host.listeners.add(this)
    this.network.devices.set(gid, this)
  }

  get asyncDescriptor(): number {
    return this.events.signal.descriptor
  }

  queryPort(port: number): PortAttributes {
    return portAttributes(port, this.host.linkUp, this.cluster.gigabitsPerSecond)
  }

  gids(port: number): readonly GidEntry[] {
    return gidEntries(port, this.gid)
  }

  drainEvents(take: (event: ProviderAsyncEvent) => void): number {
    return this.events.drain(take)
  }

  whenEvent(ready: () => void): () => void {
    return this.events.signal.wait(ready)
  }

  createProtectionDomain(): ProviderProtectionDomain {
    const domain = new SimProtectionDomain(this, this.cluster.nextNumber())
    this.domains.add(domain)
    return domain
  }

  createCompletionChannel(): ProviderCompletionChannel {
    const channel = new SimCompletionChannel(this)
    this.channels.add(channel)
    return channel
  }

  createCompletionQueue(
    depth: number,
    channel: ProviderCompletionChannel | undefined,
    vector: number,
  ): ProviderCompletionQueue {
    checkDepth('ibv_create_cq', depth)
    if (vector !== 0)
      throw new VerbsError('ibv_create_cq', Errno.EINVAL, `vector must be below completionVectors (1), not ${vector}`)
    const queue = new SimCompletionQueue(this, depth, channel as SimCompletionChannel | undefined)
    this.queues.add(queue)
    return queue
  }

  createThreadDomain(): ProviderThreadDomain {
    return new OwnThreadDomain(this.threadDomains)
  }

  allocateDeviceMemory(lengthBytes: number, alignmentExponent: number): ProviderDeviceMemory {
    return new SimDeviceMemory(this, lengthBytes, alignmentExponent)
  }

  openXrcDomain(options: XrcDomainOptions): ProviderXrcDomain {
    const domain = new SimXrcDomain(this, options)
    this.xrcDomains.add(domain)
    return domain
  }

  /** Time passes only in the kernel. */
  progress(): void {
    this.idle()
  }

  destroy(): void {
    const { domains, queues, channels, threadDomains, xrcDomains, deviceMemories } = this
    const used = domains.size + queues.size + channels.size + threadDomains.size + xrcDomains.size + deviceMemories.size
    if (used > 0) {
      const parts = `${domains.size} protection domains, ${queues.size} completion queues, ${channels.size} channels`
      const others = `${threadDomains.size} thread domains, ${xrcDomains.size} XRC domains, ${deviceMemories.size} pieces of device memory`
      throw new VerbsError('ibv_close_device', Errno.EBUSY, `still in use: ${parts}, ${others}`)
    }
    this.host.listeners.delete(this)
    this.network.devices.delete(this.gid)
    this.events.signal.close()
  }

  // ---- for its objects
  // ------------------------------------------------------------------------------------------------------------

  addPair(pair: SimQueuePair): number {
    const number = this.cluster.nextNumber()
    this.#pairs.set(number, pair)
    return number
  }

  removePair(pair: SimQueuePair): void {
    this.#pairs.delete(pair.number)
  }

  findPair(number: number): SimQueuePair | undefined {
    return this.#pairs.get(number)
  }

  /** A buffer of the program's as memory of its process. */
  backingOf(buffer: Uint8Array): Backing {
    return { block: this.space.adopt(buffer), offset: 0, length: buffer.length, zeroBased: false, owned: true }
  }

  releaseBacking({ block, owned }: Backing): void {
    if (owned && block !== undefined) this.space.remove(block)
  }

  /** The memory whose offsets are this device's physical addresses. EPERM if the program did not ask for any. */
  physicalMemory(): MemoryBlock {
    if (this.#physical !== undefined) return this.#physical
    const what = 'this device has no physical memory: open it with { physicalBytes }'
    throw new VerbsError('ibv_exp_reg_mr', Errno.EPERM, what)
  }

  /**
   * Change one word, not before `fromNs`, when no other atomic of the device is under way. Returns when it is done.
   * WRITEs are not kept out between its read and its write, nor is the processor, unless atomics are `global`.
   */
  atomically(fromNs: number, { block, offset }: Piece, change: (old: bigint) => bigint): number {
    const readNs = Math.max(fromNs, this.#atomicFreeNs)
    const writeNs = readNs + this.host.adapterNs(ATOMIC_NS)
    this.#atomicFreeNs = writeNs + 1
    this.host.kernel.at(readNs, () => {
      const old = block.word(offset)
      const next = change(old)
      const write = (): void => {
        if (next === old) return
        block.setWord(offset, next)
        this.host.changes += 1
      }
      if (this.attributes.atomics === 'global') write()
      else this.host.kernel.at(writeNs, write)
    })
    return writeNs
  }

  /** The program has found nothing to do. */
  idle(): void {
    this.cluster.polled()
  }

  whenReadable(descriptor: number, ready: () => void): (() => void) | undefined {
    for (const channel of this.channels) if (channel.isOn(descriptor)) return channel.whenReadable(ready)
    return this.events.signal.isOn(descriptor) ? this.events.signal.wait(ready) : undefined
  }

  linkChanged(up: boolean): void {
    this.events.raise(up ? AsyncEventType.PortActive : AsyncEventType.PortError, { port: 1 })
  }

  /** The kernel takes everything away: requests are no longer answered. */
  crashed(): void {
    this.host.listeners.delete(this)
    this.network.devices.delete(this.gid)
    for (const pair of this.#pairs.values()) pair.vanish()
    this.#pairs.clear()
  }
}
