import type { AddressVector, ProviderAddressHandle } from '../address.ts'
import { AsyncEventType, type ProviderAsyncEvent } from '../async-event.ts'
import type { ProviderCompletionChannel, ProviderCompletionQueue } from '../completion-contract.ts'
import type { DeviceAttributes, OpenDeviceOptions, ProviderDevice, ProviderProtectionDomain } from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { Gid } from '../gid.ts'
import type { ProviderDeviceMemory, ProviderThreadDomain } from '../memory-contract.ts'
import type { GidEntry, PortAttributes } from '../port.ts'
import type { ProviderQueuePair, ProviderQueuePairOptions } from '../queue-pair-contract.ts'
import type { ProviderSharedReceiveQueue, ProviderSharedReceiveQueueOptions } from '../shared-receive-queue.ts'
import { SoftAsyncEvents } from '../soft/async-events.ts'
import { checkNewQueue } from '../soft/completion-queue-rules.ts'
import { deviceAttributes } from '../soft/device-attributes.ts'
import { SoftDeviceMemory } from '../soft/device-memory.ts'
import type { PieceRoom, SoftIndirectKey } from '../soft/indirect-key.ts'
import { MANY } from '../soft/limits.ts'
import type { SoftMemoryRegion } from '../soft/memory-region.ts'
import type { SoftMemoryWindow } from '../soft/memory-window.ts'
import { OnlyPort } from '../soft/only-port.ts'
import { noPairOf, OpenedPair } from '../soft/opened-pair.ts'
import { OwnThreadDomain } from '../soft/own-thread-domain.ts'
import { type DomainDevice, SoftProtectionDomain } from '../soft/protection-domain.ts'
import { Tokens } from '../soft/tokens.ts'
import type { ProviderXrcDomain, XrcDomainOptions } from '../xrc-domain.ts'
import { SimAddressHandle } from './address-handle.ts'
import { AddressSpace } from './address-space.ts'
import { SimBackings } from './backings.ts'
import { simCapabilities } from './capabilities.ts'
import { SimCompletionChannel } from './completion-channel.ts'
import { SimCompletionQueue } from './completion-queue.ts'
import type { SimClusterContext } from './context.ts'
import { Dma } from './dma.ts'
import type { Host, HostListener } from './host.ts'
import { KeyTable } from './key-table.ts'
import type { Network } from './network.ts'
import type { Piece } from './piece-list.ts'
import { SimQueuePair } from './queue-pair.ts'
import { SimSharedReceiveQueue } from './shared-receive-queue.ts'
import { Signal } from './signal.ts'
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
export class SimDevice implements ProviderDevice, DomainDevice, HostListener {
  readonly attributes: DeviceAttributes
  readonly portNumber = 1
  readonly gid: Gid
  readonly cluster: DeviceCluster
  readonly host: Host
  readonly network: Network
  readonly dma: Dma
  readonly backings: SimBackings
  readonly keys: KeyTable
  readonly eventSignal: Signal = new Signal()
  readonly events: SoftAsyncEvents = new SoftAsyncEvents(this.eventSignal)
  readonly port: OnlyPort
  readonly domains: Set<SoftProtectionDomain> = new Set<SoftProtectionDomain>()
  readonly channels: Set<SimCompletionChannel> = new Set<SimCompletionChannel>()
  readonly queues: Set<SimCompletionQueue> = new Set<SimCompletionQueue>()
  readonly xrcDomains: Set<SimXrcDomain> = new Set<SimXrcDomain>()
  readonly threadDomains: Set<OwnThreadDomain> = new Set<OwnThreadDomain>()
  readonly deviceMemories: Set<SoftDeviceMemory> = new Set<SoftDeviceMemory>()
  readonly regions: Tokens<SoftMemoryRegion> = new Tokens<SoftMemoryRegion>()
  readonly windows: Tokens<SoftMemoryWindow> = new Tokens<SoftMemoryWindow>()
  readonly indirectKeys: Tokens<SoftIndirectKey> = new Tokens<SoftIndirectKey>()
  readonly addressHandles: Tokens<SimAddressHandle> = new Tokens<SimAddressHandle>()
  readonly #pairs = new Map<number, SimQueuePair>()
  #atomicFreeNs = 0

  constructor(cluster: DeviceCluster, host: Host, gid: Gid, name: string, options: OpenDeviceOptions) {
    const { physicalBytes = 0 } = options
    this.cluster = cluster
    this.host = host
    this.gid = gid
    this.network = cluster.network
    this.attributes = deviceAttributes({
      name,
      provider: 'sim',
      maxQueuePairs: MANY,
      maxCompletionQueues: MANY,
      atomics: cluster.atomics,
      linkLayer: 'ethernet',
    })
    this.port = new OnlyPort('a simulated device', 'ethernet', 'roce-v2', gid)
    this.dma = new Dma(host)
    const space = new AddressSpace()
    this.keys = new KeyTable(space, cluster.names)
    this.backings = new SimBackings(space, physicalBytes)
    host.listeners.add(this)
    this.network.devices.set(gid, this)
  }

  get asyncDescriptor(): number {
    return this.eventSignal.descriptor
  }

  queryPort(port: number): PortAttributes {
    return this.port.query(port, this.host.linkUp, this.cluster.gigabitsPerSecond)
  }

  gids(port: number): readonly GidEntry[] {
    return this.port.gids(port)
  }

  drainEvents(take: (event: ProviderAsyncEvent) => void): number {
    return this.events.drain(take)
  }

  whenEvent(ready: () => void): () => void {
    return this.eventSignal.wait(ready)
  }

  createProtectionDomain(): ProviderProtectionDomain {
    const domain = new SoftProtectionDomain(this, this.cluster.nextNumber())
    this.domains.add(domain)
    return domain
  }

  createCompletionChannel(): ProviderCompletionChannel {
    return new SimCompletionChannel(this.host, this.channels)
  }

  createCompletionQueue(
    depth: number,
    channel: ProviderCompletionChannel | undefined,
    vector: number,
  ): ProviderCompletionQueue {
    checkNewQueue(depth, vector)
    const queue = new SimCompletionQueue(this, depth, channel as SimCompletionChannel | undefined)
    this.queues.add(queue)
    return queue
  }

  createThreadDomain(): ProviderThreadDomain {
    return new OwnThreadDomain(this.threadDomains)
  }

  allocateDeviceMemory(lengthBytes: number, alignmentExponent: number): ProviderDeviceMemory {
    return new SoftDeviceMemory(this, lengthBytes, alignmentExponent)
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
    this.eventSignal.close()
  }

  // ---- in a protection domain
  // ----------------------------------------------------------------------------------------------------

  makePieceRoom(maxPieces: number): PieceRoom {
    const publish: PieceRoom['publish'] = (fields, pieces) => this.keys.publishPieces(fields, pieces)
    return { maxPieces, publish, release: () => undefined }
  }

  makeQueuePair(domain: SoftProtectionDomain, options: ProviderQueuePairOptions): ProviderQueuePair {
    return new SimQueuePair(this, domain, options)
  }

  openQueuePair(domain: ProviderXrcDomain, number: number): ProviderQueuePair {
    const pair = (domain as SimXrcDomain).members.pairs.get(number)
    if (pair === undefined) throw noPairOf(number)
    return new OpenedPair('sim', simCapabilities(this.host.adapter), pair, () => undefined)
  }

  makeSharedReceiveQueue(
    domain: SoftProtectionDomain,
    options: ProviderSharedReceiveQueueOptions,
  ): ProviderSharedReceiveQueue {
    return new SimSharedReceiveQueue(this, domain, options)
  }

  makeAddressHandle(domain: SoftProtectionDomain, vector: AddressVector): ProviderAddressHandle {
    return new SimAddressHandle(this, domain, vector)
  }

  /** A key that was withdrawn has no users: the adapter looks at the key of each packet. */
  peersOutside(): boolean {
    return true
  }

  awaitPeersOutside(): void {
    return
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
    return this.eventSignal.isOn(descriptor) ? this.eventSignal.wait(ready) : undefined
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
