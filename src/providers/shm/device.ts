import { randomInt } from 'node:crypto'
import { native } from '../../native/index.ts'
import type { AddressVector, ProviderAddressHandle } from '../address.ts'
import type { ProviderAsyncEvent } from '../async-event.ts'
import type { ProviderCompletionChannel, ProviderCompletionQueue } from '../completion-contract.ts'
import type { DeviceAttributes, OpenDeviceOptions, ProviderDevice, ProviderProtectionDomain } from '../contract.ts'
import { DescriptorWatch } from '../descriptor-watch.ts'
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
import type { SoftMemoryRegion } from '../soft/memory-region.ts'
import type { SoftMemoryWindow } from '../soft/memory-window.ts'
import { OnlyPort } from '../soft/only-port.ts'
import { OpenedPair } from '../soft/opened-pair.ts'
import { OwnThreadDomain } from '../soft/own-thread-domain.ts'
import { type DomainDevice, SoftProtectionDomain } from '../soft/protection-domain.ts'
import { Tokens } from '../soft/tokens.ts'
import type { ProviderXrcDomain, XrcDomainOptions } from '../xrc-domain.ts'
import { ShmAddressHandle } from './address-handle.ts'
import { ShmBackings } from './backings.ts'
import { shmCapabilities } from './capabilities.ts'
import { ShmCompletionChannel } from './completion-channel.ts'
import { ShmCompletionQueue } from './completion-queue.ts'
import { DIRECTORY_WORDS, DirectoryWord, MAX_COMPLETION_QUEUES, MAX_QUEUE_PAIRS } from './layout.ts'
import { OpenedBlock } from './opened-block.ts'
import type { OwnBlock } from './own-block.ts'
import type { Waiting } from './own-device.ts'
import { PeerDevice } from './peer-device.ts'
import { PiecePages } from './piece-pages.ts'
import { PipeSignal } from './pipe-signal.ts'
import { ShmQueuePair } from './queue-pair.ts'
import { Segment } from './segment.ts'
import { SharedKeyTable } from './shared-key-table.ts'
import { ShmSharedReceiveQueue } from './shared-receive-queue.ts'
import { INSIDE_TIMEOUT_MS, Visitors } from './visitors.ts'
import { ShmXrcDomain } from './xrc-domain.ts'

/** How often waiting requests are tried again from the event loop; polls try them at once. */
const PROGRESS_INTERVAL_MS = 1
const QUEUE_PAIR_INDEX_BITS = 12
/** How long a work request that revokes a key waits at a time for a peer in the middle of an access. */
const SHORT_WAIT_MS = 10

/**
 * An open shm device: one per JavaScript environment and `openDevice`. It owns a segment, a doorbell, and the peers it
 * talks to.
 */
export class ShmDevice implements ProviderDevice, DomainDevice {
  readonly attributes: DeviceAttributes
  readonly segment: Segment
  readonly keys: SharedKeyTable
  readonly events: SoftAsyncEvents
  readonly port: OnlyPort
  readonly #eventSignal: PipeSignal
  readonly visitors: Visitors
  readonly xrcDomains: Set<ShmXrcDomain> = new Set<ShmXrcDomain>()
  readonly domains: Set<SoftProtectionDomain> = new Set<SoftProtectionDomain>()
  readonly addressHandles: Tokens<ShmAddressHandle> = new Tokens<ShmAddressHandle>()
  readonly channels: Set<ShmCompletionChannel> = new Set<ShmCompletionChannel>()
  readonly threadDomains: Set<OwnThreadDomain> = new Set<OwnThreadDomain>()
  readonly watch: DescriptorWatch = new DescriptorWatch()
  pendingCount = 0
  readonly deviceMemories: Set<SoftDeviceMemory> = new Set<SoftDeviceMemory>()
  readonly regions: Tokens<SoftMemoryRegion> = new Tokens<SoftMemoryRegion>()
  readonly windows: Tokens<SoftMemoryWindow> = new Tokens<SoftMemoryWindow>()
  readonly indirectKeys: Tokens<SoftIndirectKey> = new Tokens<SoftIndirectKey>()
  readonly backings: ShmBackings
  readonly #doorbell: readonly [number, number]
  readonly #queues = new Map<number, ShmCompletionQueue>()
  readonly #pairs = new Map<number, ShmQueuePair>()
  readonly #peers = new Map<Gid, PeerDevice>()
  readonly #sharedQueues = new Map<number, ShmSharedReceiveQueue>()
  readonly #pending = new Set<Waiting>()
  #listens = false
  #nextDomain = 1
  #timer: NodeJS.Timeout | undefined

  constructor(name: string, options: OpenDeviceOptions) {
    this.attributes = deviceAttributes({
      name,
      provider: 'shm',
      maxQueuePairs: MAX_QUEUE_PAIRS,
      maxCompletionQueues: MAX_COMPLETION_QUEUES,
      atomics: 'global',
      linkLayer: 'shared-memory',
    })
    this.backings = new ShmBackings(options)
    this.#doorbell = native.createPipe()
    let segment: Segment | undefined
    try {
      segment = new Segment(this.#doorbell[1])
      this.segment = segment
      this.keys = new SharedKeyTable(segment)
      this.port = new OnlyPort('the shm device', 'shared-memory', 'shared-memory', segment.gid)
      this.#eventSignal = new PipeSignal(this.watch)
      this.events = new SoftAsyncEvents(this.#eventSignal)
      this.visitors = new Visitors(segment)
    } catch (error) {
      segment?.close()
      this.#releaseOwn()
      throw error
    }
  }

  readonly portNumber = 1

  get gid(): Gid {
    return this.segment.gid
  }

  get asyncDescriptor(): number {
    return this.#eventSignal.descriptor
  }

  queryPort(port: number): PortAttributes {
    // It is up as long as the process lives. Memory has no lanes, so its speed has no meaning.
    return this.port.query(port, true, 0)
  }

  gids(port: number): readonly GidEntry[] {
    return this.port.gids(port)
  }

  drainEvents(take: (event: ProviderAsyncEvent) => void): number {
    return this.events.drain(take)
  }

  whenEvent(ready: () => void, keepAlive: boolean): () => void {
    return this.#eventSignal.wait(ready, keepAlive)
  }

  // ---- objects
  // -----------------------------------------------------------------------------------------------------------------

  createProtectionDomain(): ProviderProtectionDomain {
    const domain = new SoftProtectionDomain(this, this.#nextDomain)
    this.#nextDomain += 1
    this.domains.add(domain)
    return domain
  }

  createCompletionChannel(): ProviderCompletionChannel {
    return new ShmCompletionChannel(this.watch, this.channels)
  }

  openXrcDomain(options: XrcDomainOptions): ProviderXrcDomain {
    const domain = new ShmXrcDomain(this.gid, this.xrcDomains, options)
    this.listen()
    return domain
  }

  createCompletionQueue(
    depth: number,
    channel: ProviderCompletionChannel | undefined,
    vector: number,
  ): ProviderCompletionQueue {
    checkNewQueue(depth, vector)
    const index = lowestFree(this.#queues, MAX_COMPLETION_QUEUES)
    if (index < 0)
      throw new VerbsError('ibv_create_cq', Errno.ENOMEM, `all ${MAX_COMPLETION_QUEUES} completion queues are in use`)
    const queue = new ShmCompletionQueue(this, index, depth, channel as ShmCompletionChannel | undefined)
    this.#queues.set(index, queue)
    return queue
  }

  createThreadDomain(): ProviderThreadDomain {
    return new OwnThreadDomain(this.threadDomains)
  }

  allocateDeviceMemory(lengthBytes: number, alignmentExponent: number): ProviderDeviceMemory {
    return new SoftDeviceMemory(this, lengthBytes, alignmentExponent)
  }

  // ---- in a protection domain
  // ----------------------------------------------------------------------------------------------------

  makePieceRoom(maxPieces: number): PieceRoom {
    return new PiecePages(this.segment, this.keys, maxPieces)
  }

  makeQueuePair(domain: SoftProtectionDomain, options: ProviderQueuePairOptions): ProviderQueuePair {
    return new ShmQueuePair(this, domain, options)
  }

  openQueuePair(domain: ProviderXrcDomain, number: number): ProviderQueuePair {
    const block = new OpenedBlock(this, domain as ShmXrcDomain, number)
    return new OpenedPair('shm', shmCapabilities, block, () => block.close())
  }

  makeSharedReceiveQueue(
    domain: SoftProtectionDomain,
    options: ProviderSharedReceiveQueueOptions,
  ): ProviderSharedReceiveQueue {
    return new ShmSharedReceiveQueue(this, domain, options)
  }

  makeAddressHandle(domain: SoftProtectionDomain, vector: AddressVector): ProviderAddressHandle {
    return new ShmAddressHandle(this, domain, vector)
  }

  // ---- its objects
  // ----------------------------------------------------------------------------------------------------

  forgetQueue(queue: ShmCompletionQueue): void {
    this.#queues.delete(queue.index)
  }

  /** Give a queue pair its number, and publish where its block is. `prepare` first writes the number into the block. */
  addPair(pair: ShmQueuePair, own: OwnBlock, prepare: (number: number) => void): number {
    const number = this.#enter(own, prepare)
    this.#pairs.set(indexOf(number), pair)
    return number
  }

  removePair(pair: ShmQueuePair): void {
    this.#leave(pair.number)
    this.#pairs.delete(indexOf(pair.number))
  }

  findPair(number: number): ShmQueuePair | undefined {
    const pair = this.#pairs.get(indexOf(number))
    return pair?.number === number ? pair : undefined
  }

  /** Shared receive queues are found like queue pairs, and take their numbers from the same table. */
  addSharedQueue(queue: ShmSharedReceiveQueue, own: OwnBlock, prepare: (number: number) => void): number {
    const number = this.#enter(own, prepare)
    this.#sharedQueues.set(indexOf(number), queue)
    this.listen()
    return number
  }

  removeSharedQueue(queue: ShmSharedReceiveQueue): void {
    this.#leave(queue.blockNumber)
    this.#sharedQueues.delete(indexOf(queue.blockNumber))
  }

  /** The block of `number` has moved, and the old one is no longer used. */
  moveEntry(number: number, own: OwnBlock): void {
    const { directory } = this.segment
    const at = indexOf(number) * DIRECTORY_WORDS
    Atomics.store(directory, at + DirectoryWord.Number, 0)
    directory[at + DirectoryWord.FirstPage] = own.firstPage
    directory[at + DirectoryWord.Pages] = own.pages
    Atomics.store(directory, at + DirectoryWord.Number, number)
  }

  #enter(own: OwnBlock, prepare: (number: number) => void): number {
    const index = this.#freeIndex()
    const number = (randomInt(1, 1 << QUEUE_PAIR_INDEX_BITS) << QUEUE_PAIR_INDEX_BITS) | index
    prepare(number)
    this.moveEntry(number, own)
    return number
  }

  #leave(number: number): void {
    Atomics.store(this.segment.directory, indexOf(number) * DIRECTORY_WORDS + DirectoryWord.Number, 0)
  }

  destroy(): void {
    const { domains, channels, threadDomains, deviceMemories } = this
    const further = threadDomains.size + deviceMemories.size + this.xrcDomains.size
    if (domains.size + this.#queues.size + channels.size + further > 0) {
      const queues = `${this.#queues.size} completion queues, ${channels.size} channels`
      const others = `${threadDomains.size} thread domains, ${this.xrcDomains.size} XRC domains and ${deviceMemories.size} pieces of device memory`
      const what = `${domains.size} protection domains, ${queues}, ${others}`
      throw new VerbsError('ibv_close_device', Errno.EBUSY, `${what} are still open`)
    }
    clearTimeout(this.#timer)
    this.#eventSignal.close()
    this.watch.close()
    this.segment.close()
    this.#releaseOwn()
  }

  #releaseOwn(): void {
    this.backings.close()
    for (const descriptor of this.#doorbell) native.closeDescriptor(descriptor)
  }

  // ---- peers
  // -------------------------------------------------------------------------------------------------------------------

  openPeer(gid: Gid): PeerDevice {
    const known = this.#peers.get(gid)
    if (known !== undefined && !known.gone) return known.acquire()
    if (gid !== this.gid) this.listen()
    const peer = PeerDevice.open(this, gid)
    this.#peers.set(gid, peer)
    return peer.acquire()
  }

  closePeer(peer: PeerDevice): void {
    if (peer.release() && this.#peers.get(peer.gid) === peer) this.#peers.delete(peer.gid)
  }

  /** A process ended. What waited for it fails now. Completions that it may have left unannounced are looked for. */
  peerDied(): void {
    this.progress()
    for (const queue of this.#queues.values()) queue.ringIfMissed()
  }

  /**
   * Waits until no peer is in the middle of an access; EBUSY if one stays inside. After it, no peer uses a key that was
   * revoked before. `pairNumber` names the one queue pair whose peer could use the key; 0 means that every peer could.
   *
   * Callers may go ahead after EBUSY, since the peer may be stopped forever. Rights are then advisory: the peer's own
   * processor writes, so a WRITE that was stopped in the middle finishes when the peer is continued.
   */
  awaitPeersOutside(verb: string, pairNumber = 0): void {
    for (const pair of this.#pairsOf(pairNumber)) {
      if (!pair.awaitOutside())
        throw new VerbsError(
          verb,
          Errno.EBUSY,
          `the peer of queue pair ${pair.number} stays in the middle of an access; the keys are revoked, try again`,
        )
    }
    if (pairNumber !== 0 || this.visitors.awaitOutside(performance.now() + INSIDE_TIMEOUT_MS)) return
    throw new VerbsError(
      verb,
      Errno.EBUSY,
      'a sender stays in the middle of a message; the keys are revoked, try again',
    )
  }

  /**
   * Waits a little until peers have finished the accesses that they were in; false if one has not. After true, no peer
   * uses a key that was revoked before. `pairNumber` is as for `awaitPeersOutside`.
   */
  peersOutside(pairNumber = 0): boolean {
    for (const pair of this.#pairsOf(pairNumber)) if (!pair.awaitOutside(SHORT_WAIT_MS)) return false
    return pairNumber !== 0 || this.visitors.awaitOutside(performance.now() + SHORT_WAIT_MS)
  }

  /** The queue pairs whose peers could use a key. One that is gone has no peer. */
  #pairsOf(pairNumber: number): Iterable<ShmQueuePair> {
    if (pairNumber === 0) return this.#pairs.values()
    const pair = this.findPair(pairNumber)
    return pair === undefined ? [] : [pair]
  }

  // ---- progress
  // ----------------------------------------------------------------------------------------------------------------

  /** Look for everything that a peer may have rung for. */
  lookAround(): void {
    for (const queue of this.#sharedQueues.values()) queue.lookAround()
    for (const pair of this.#pairs.values()) pair.lookAround()
    if (this.visitors.full) this.visitors.sweep((visitor) => this.#reap(visitor))
    this.progress()
  }

  progress(): void {
    if (this.#pending.size === 0) return
    const now = performance.now()
    for (const pair of this.#pending) if (pair.progress(now)) this.removePending(pair)
  }

  addPending(pair: Waiting): void {
    this.#pending.add(pair)
    this.pendingCount = this.#pending.size
    this.#schedule()
  }

  removePending(pair: Waiting): void {
    this.#pending.delete(pair)
    this.pendingCount = this.#pending.size
  }

  // ---- watching
  // ----------------------------------------------------------------------------------------------------------------

  /**
   * Peers ring the doorbell when they have posted a receive that a request here waits for, and when a shared receive
   * queue runs low. They also ring about anything that no completion queue reports.
   */
  listen(): void {
    if (this.#listens) return
    this.#listens = true
    const token = this.watch.add(this.#doorbell[0], () => {
      native.drainPipe(this.#doorbell[0])
      this.watch.rewatch(token)
      this.lookAround()
    })
  }

  #schedule(): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.progress()
      if (this.pendingCount > 0) this.#schedule()
    }, PROGRESS_INTERVAL_MS)
    this.#timer.unref()
  }

  /** Take back what a dead visitor had claimed. Returns true if nothing of it is left. */
  #reap(visitor: number): boolean {
    let left = false
    for (const queue of this.#sharedQueues.values()) if (!queue.reap(visitor)) left = true
    for (const pair of this.#pairs.values()) if (!pair.reap(visitor)) left = true
    return !left
  }

  #freeIndex(): number {
    for (let index = 0; index < MAX_QUEUE_PAIRS; index += 1)
      if (!this.#pairs.has(index) && !this.#sharedQueues.has(index)) return index
    const what = `all ${MAX_QUEUE_PAIRS} queue pairs and shared receive queues are in use`
    throw new VerbsError('ibv_create_qp', Errno.ENOMEM, what)
  }
}

function indexOf(number: number): number {
  return number & (MAX_QUEUE_PAIRS - 1)
}

/** The lowest index that is not a key of `map`, or -1. Creation is rare, and the maps are small. */
function lowestFree(map: ReadonlyMap<number, unknown>, limit: number): number {
  for (let index = 0; index < limit; index += 1) if (!map.has(index)) return index
  return -1
}
