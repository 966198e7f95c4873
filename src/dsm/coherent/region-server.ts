import type { Mesh } from '../../cluster/index.ts'
import {
  type CoherenceMessage,
  CoherenceNode,
  type EpochMembers,
  EpochNode,
  type EpochPort,
  type FrameReference,
  isForDirectory,
  isPersistent,
  isRequest,
  livingHome,
  type NodeOptions,
  type Protocol,
  type RecoveryMessage,
  type Restoration,
  refusalOf,
} from '../coherence/index.ts'
import { PageRight, PageWords } from '../mmu/page-words.ts'
import { WindowTable } from '../mmu/window-table.ts'
import type { RegionWatchers } from '../observation/index.ts'
import { RecordedNode, Recorder } from '../recording/index.ts'
import type { MemoryUse } from '../region.ts'
import { CoherenceCodec } from './coherence-channel.ts'
import { Demands } from './demands.ts'
import type { FaultLane } from './fault-lane.ts'
import { FrameMemory, type RegisteredFrame } from './frame-memory.ts'
import { FrameUnits } from './frame-units.ts'
import type { Frames } from './frames.ts'
import { HomeClaims, type HomeMessage } from './home-claims.ts'
import { PageEvictions } from './page-evictions.ts'
import { PageFailures } from './page-failures.ts'
import { PageRequests } from './page-requests.ts'
import { PageRights } from './page-rights.ts'
import { PageSaving } from './page-saving.ts'
import type { PageFinding } from './page-waits.ts'
import { homeFunction, NO_HOME } from './placement.ts'
import { type PageRange, Readahead } from './readahead.ts'
import { encodeRecovery } from './recovery-channel.ts'
import { RegionEvents } from './region-events.ts'
import { type PageFailure, pageCount, type RegionPlan } from './region-plan.ts'
import type { RegionProcess } from './region-process.ts'
import type { ReplicaStore } from './replica-store.ts'

export interface RegionServerOptions {
  readonly id: number
  readonly plan: RegionPlan
  /** Ranks that had ended when the region was made: they are the home of no page, and no page was lost with them. */
  readonly ended: readonly number[]
  readonly protocol: Protocol
  readonly mesh: Mesh
  readonly view: EpochMembers
  /** As in {@link EpochNode}. */
  readonly recovered: number
  readonly heirs: ReadonlyMap<number, number> | undefined
  readonly process: RegionProcess
  /** What this rank keeps for others. */
  readonly replicas: ReplicaStore
  /** Who watches. */
  readonly observation: RegionWatchers
  /** Directory in which what happens to the node is written down. */
  readonly recordTo: string | undefined
}

/** What one rank knows of a page. */
export interface PageKnowledge {
  /** {@link NO_HOME} where it does not know. */
  readonly home: number
  /** The rank that knows the home, if this rank does not. */
  readonly register?: number
  /** The state of its own copy. */
  readonly copy: string
  /** Only at the page's home. */
  readonly directory?: ReturnType<EpochNode['directory']>
}

/**
 * One region in the agent: real frames, page rights and queue pairs around an {@link EpochNode}. Its parts:
 *
 * - {@link PageRequests}: what this rank asks for. Demands, pages ahead of them, homes by first touch.
 * - {@link Demands}: which threads wait for which page, and since when.
 * - {@link PageRights}: what the program may do with a page. Its word, the page table, how long it is held.
 * - {@link PageEvictions}: copies that leave. The bounded cache, and what the program gives up.
 * - {@link PageSaving}: what is kept by other ranks, in regions with replicas.
 * - {@link RegionEvents}: who is told. Counters, trace, watchers, adviser.
 */
export class RegionServer implements EpochPort {
  readonly id: number
  readonly plan: RegionPlan
  readonly windows: WindowTable
  readonly events: RegionEvents
  readonly rights: PageRights
  readonly requests: PageRequests
  /** Pages that threads of this process wait for. */
  readonly demands: Demands
  readonly #options: RegionServerOptions
  readonly #node: EpochNode
  readonly #recorder: Recorder | undefined
  readonly #words: PageWords
  readonly #frames: Frames
  readonly #memory: FrameMemory
  readonly #claims: HomeClaims
  readonly #evictions: PageEvictions
  readonly #codec = new CoherenceCodec()
  readonly #failures = new PageFailures()
  /** While every founder lives. */
  readonly #homeOf: (page: number) => number
  /** Where the region has replicas. */
  readonly #saving: PageSaving | undefined

  constructor(options: RegionServerOptions) {
    const { id, plan, process, mesh, protocol, observation, view, recovered } = options
    const { rank, size: ranks } = mesh
    const pages = pageCount(plan.size, plan.pageSize)
    const founders = Array.from({ length: ranks }, (_, founder) => founder).filter(
      (founder) => !options.ended.includes(founder),
    )
    this.id = id
    this.plan = plan
    this.#options = options
    const placedAt = homeFunction(plan.placement, pages, ranks)
    this.#homeOf = (page) => livingHome(placedAt(page), ranks, founders)
    this.windows = new WindowTable(plan.windows)
    this.#words = new PageWords(plan.words)
    const words = this.#words
    const units = new FrameUnits({
      pages,
      pageBytes: plan.pageSize,
      limitBytes: plan.cacheBytes,
      placement: plan.placement.agreed,
      isHome: (page) => this.#homeOf(page) === rank,
    })
    const frames = process.openFrames(plan, units.unitBytes)
    this.#frames = frames
    this.#memory = new FrameMemory(frames, units, mesh, plan.pageSize, (offsetBytes, lengthBytes) =>
      this.#markUntouched(offsetBytes, lengthBytes),
    )
    const memory = this.#memory
    const events = new RegionEvents({ id, plan, protocol, rank, ranks, process, observation, frames })
    this.events = events
    const demands = new Demands(process)
    this.demands = demands
    const { cacheBytes = Number.POSITIVE_INFINITY } = plan
    const readahead = new Readahead(pages, plan.pageSize, cacheBytes / plan.pageSize)
    const rights = new PageRights({
      ...{ region: plan.name, process, words, demands, events },
      mmu: process.newMmu(this.windows, words, plan.pageSize),
      hasMemory: (page) => memory.has(page),
      isMarker: (page) => readahead.isMarker(page),
      retry: (page) => this.#retry(page),
    })
    this.rights = rights
    const evictions = new PageEvictions({
      ...{ plan, process, mesh, words, rights, units, memory, events },
      isHome: (page) => this.#isHome(page),
      evict: (page) => this.#node.evict(page),
    })
    this.#evictions = evictions
    const claims = this.#newClaims(founders)
    this.#claims = claims
    this.requests = new PageRequests({
      ...{ words, rights, demands, claims, readahead, evictions, failures: this.#failures, events },
      defers: (page, write) => this.#saving?.defers(page, write) === true,
      reserve: (page) => this.#reserve(page),
      ask: (page, write) => this.#node.demand(page, write),
    })
    this.#recorder = newRecorder(options)
    this.#node = this.#newNode()
    events.attach(this.#node)
    if (plan.replicas > 0) this.#saving = this.#newSaving(founders)
    // Now that all is there: it may end before it returns.
    if (recovered < view.epoch) this.#node.recover()
    else this.#saving?.begin()
  }

  openLane(lane: FaultLane): void {
    lane.open(this.id, this.#words, this.windows, this.plan.pageSize)
  }

  receive(message: CoherenceMessage, epoch: number): void {
    this.events.receiving(message, this.#node, () => this.#take(message, epoch))
  }

  /** A claim for the home of a page, or what was decided. False where it makes no sense. */
  receiveHome(from: number, message: HomeMessage): boolean {
    return this.#claims.receive(from, message)
  }

  receiveRecovery(from: number, message: RecoveryMessage): void {
    this.#node.receiveRecovery(from, message)
  }

  /** Rank `from` keeps what it was sent with this token. */
  replicaKept(from: number, token: number): void {
    this.#saving?.kept(from, token)
  }

  /** Whether the region has such a page. */
  has(page: number): boolean {
    return page < pageCount(this.plan.size, this.plan.pageSize)
  }

  /** Whether a message for the page can be one to this rank. */
  isFor({ page, kind }: CoherenceMessage): boolean {
    if (!this.has(page)) return false
    // Every rank takes note of it, also one that has never used the page.
    if (isPersistent(kind)) return true
    return this.#claims.isKnown(page) || (isForDirectory(kind) && this.#claims.isOwn(page))
  }

  viewChanged(view: EpochMembers): void {
    this.#saving?.stop()
    // Ahead of what the node says, on the same connections.
    this.#claims.viewChanged(view.members)
    this.#node.viewChanged(view)
    this.#saving?.membersChanged()
  }

  /**
   * What was written here until now is to be kept by other ranks, too, where the region has replicas; `done` is called
   * when it is.
   */
  fence(done: () => void): void {
    if (this.#saving === undefined) done()
    else this.#saving.fence(done)
  }

  /** Give up the copies of a range that can be given up now; `done` is called when they are gone. */
  giveUp(range: PageRange, done: () => void): void {
    const giveUp = (): void => this.#evictions.giveUp(range, done)
    // A page that was written leaves when it is kept elsewhere.
    if (this.#saving === undefined) giveUp()
    else this.#saving.fence(giveUp, range)
  }

  /** What this node knows of a page. */
  describe(page: number): PageKnowledge {
    const home = this.#node.homeOf(page)
    const copy = this.#node.copyState(page)
    if (home === NO_HOME) return { home, register: this.#claims.registerOf(page), copy }
    return home === this.#options.mesh.rank ? { home, copy, directory: this.#node.directory(page) } : { home, copy }
  }

  /** What this node can report about a page that a thread has waited for too long. */
  finding(page: number): PageFinding {
    const home = this.#node.homeOf(page)
    const found = {
      right: this.#words.right(page),
      pinned: this.#words.isPinned(page),
      copy: this.#node.copyState(page),
      recovering: !this.#node.isServing,
      home,
      register: this.#claims.registerOf(page),
    }
    if (home !== this.#options.mesh.rank) return found
    const { state, owner, sharers } = this.#node.directory(page)
    return { ...found, entry: { state, owner, sharers, ...this.#node.serving(page) } }
  }

  memoryUse(): Omit<MemoryUse, 'cacheSize'> {
    const { allocatedBytes: residentBytes } = this.#frames
    const { registeredBytes } = this.#memory
    const { keptBytes: replicaBytes } = this.#options.replicas
    const { framePages: pages } = this.plan
    return { residentBytes, registeredBytes, cachedBytes: this.#evictions.cachedBytes, replicaBytes, pages }
  }

  /**
   * Why a page cannot be had; undefined where nothing is known against it. Memory may be freed: then it may be asked
   * for once more.
   */
  explainFailure(page: number): PageFailure | undefined {
    const failure = this.#failures.get(page)
    if (failure?.kind === 'memoryExhausted') {
      this.#failures.delete(page)
      this.#words.forgive(page)
    }
    return failure
  }

  /** No rank has the region open any more: nothing more is asked for. */
  free(): void {
    this.demands.clear()
    this.#claims.forget()
    this.requests.close()
    this.#evictions.close()
  }

  /** True if no message about a page of it is under way that a rank waits for. */
  isQuiescent(): boolean {
    return this.#node.isQuiescent() && this.#claims.isQuiescent() && this.#saving?.isQuiescent() !== false
  }

  /** Hand what was recorded to the kernel: from then on it outlives the process. */
  flushRecording(): void {
    this.#recorder?.flush()
  }

  /** `giveBack`: every rank has closed the region, and no view of it is left. */
  close(giveBack: boolean): void {
    this.#recorder?.close()
    this.events.close()
    this.#evictions.close()
    this.#memory.close(giveBack)
  }

  // ---- what the coherence node asks for
  // -------------------------------------------------------------------------------------

  send(to: number, message: CoherenceMessage, epoch: number): void {
    this.events.sent(to, message)
    this.#options.mesh.send(to, this.#codec.encode(this.id, message, epoch))
  }

  sendRecovery(to: number, message: RecoveryMessage): void {
    for (const bytes of encodeRecovery(this.id, message)) this.#options.mesh.send(to, bytes)
  }

  push(page: number, to: number, frame: FrameReference): void {
    this.rights.mustNotBeWritable(page)
    this.events.pushed(to, page)
    this.#options.mesh.write(to, this.#frame(page).local, this.plan.pageSize, frame)
  }

  ownFrame(page: number): FrameReference {
    this.#evictions.enter(page)
    return this.#frame(page).remote
  }

  mapReadOnly(page: number): void {
    this.rights.grant(page, PageRight.Read)
    this.#evictions.granted(page)
  }

  mapWritable(page: number): void {
    this.rights.grant(page, PageRight.Write)
    this.#saving?.written(page)
    this.#evictions.granted(page)
  }

  protect(page: number): void {
    this.rights.protect(page)
  }

  unmap(page: number): void {
    this.#saving?.forget(page)
    this.rights.unmap(page, this.#evictions.isEvicting(page))
  }

  mustHold(page: number): boolean {
    return this.rights.mustHold(page) || this.#saving?.isSaved(page) === false
  }

  evicted(page: number): void {
    this.#evictions.evicted(page)
  }

  failed(page: number, rank: number, wantsMemory: boolean): void {
    this.#fail(page, { kind: wantsMemory ? 'memoryExhausted' : 'memberDied', rank })
  }

  isAlive(rank: number): boolean {
    return this.#options.mesh.isAlive(rank)
  }

  restore(page: number): Restoration {
    return this.#saving?.restore(page) ?? 'unknown'
  }

  /** The members agree again on who has what, and the region is served. */
  recovered(): void {
    this.#claims.recovered()
    this.events.recovered(this.#node.epoch)
    this.#evictions.recovered()
    this.#saving?.begin()
  }

  // ---- details
  // ---------------------------------------------------------------------------------------------------------------

  #take(message: CoherenceMessage, epoch: number): void {
    const isRefused = isRequest(message.kind) && !this.#memory.tryTake(message.page)
    this.#words.touch(message.page)
    // Home has no memory to serve a request from: the requester is told, and may ask again.
    if (isRefused) this.send(message.from, refusalOf(message, this.#options.mesh.rank), this.#node.epoch)
    else this.#node.receive(message, epoch)
  }

  #retry(page: number): void {
    this.#node.retry(page)
    this.events.changed(page)
  }

  /**
   * Before a page is asked for, its chunk must have memory: a peer is going to write into it. False where there is none
   * left.
   */
  #reserve(page: number): boolean {
    if (this.#memory.tryTake(page)) return true
    this.#fail(page, { kind: 'memoryExhausted', rank: this.#options.mesh.rank })
    return false
  }

  #fail(page: number, failure: PageFailure): void {
    this.#failures.add(page, failure)
    this.events.failed(page, failure)
    this.#saving?.forget(page)
    this.#evictions.evicted(page)
    this.#words.fail(page)
    const demand = this.demands.take(page)
    if (demand === undefined || demand.thread === 0) return
    this.flushRecording()
    const { process, mesh } = this.#options
    this.#failures.end(process, mesh.rank, this.plan.name, page)
  }

  #frame(page: number): RegisteredFrame {
    const frame = this.#memory.frame(page)
    this.#words.touch(page)
    return frame
  }

  /** Pages of ours in memory that was just taken. */
  #markUntouched(offsetBytes: number, lengthBytes: number): void {
    const { size, pageSize } = this.plan
    const end = Math.min(pageCount(size, pageSize), (offsetBytes + lengthBytes) / pageSize)
    for (let page = offsetBytes / pageSize; page < end; page += 1)
      if (this.#homeOf(page) === this.#options.mesh.rank) this.#words.markUntouched(page)
  }

  /** Now, also after deaths. */
  #isHome(page: number): boolean {
    return this.#node.homeOf(page) === this.#options.mesh.rank
  }

  // ---- what it is made of
  // ---------------------------------------------------------------------------------------------------------------

  #newClaims(founders: readonly number[]): HomeClaims {
    const { mesh, replicas } = this.#options
    const { agreed, homes } = this.plan.placement
    return new HomeClaims({
      region: this.id,
      rank: mesh.rank,
      founders,
      homes: agreed === 'first-touch' ? homes : undefined,
      send: (to, bytes) => mesh.send(to, bytes),
      isAlive: (peer) => mesh.isAlive(peer),
      members: () => this.#node.members,
      isServing: () => this.#node.isServing,
      alsoKnown: () => replicas.homes(),
      onDecided: (page, write) => this.requests.ask(page, write),
      onLost: (page, peer) => this.#fail(page, { kind: 'memberDied', rank: peer }),
    })
  }

  #newNode(): EpochNode {
    const { mesh, protocol, view, recovered, heirs, process } = this.#options
    const recorder = this.#recorder
    const watch = this.events.transition
    return new EpochNode({
      rank: mesh.rank,
      ranks: mesh.size,
      protocol,
      homeOf: this.#homeOf,
      view,
      recovered,
      port: this,
      ...(heirs && { heirs }),
      makeNode: (node: NodeOptions) =>
        recorder === undefined
          ? new CoherenceNode({ ...node, watch })
          : new RecordedNode({ ...node, watch }, recorder, process.runtime),
    })
  }

  #newSaving(founders: readonly number[]): PageSaving {
    const { mesh, replicas: store } = this.#options
    return new PageSaving({
      region: this.id,
      mesh,
      pageBytes: this.plan.pageSize,
      founders,
      store,
      frames: this.#frames,
      rights: this.rights,
      placedAt: this.#homeOf,
      homeOf: (page) => this.#node.homeOf(page),
      members: () => this.#node.members,
      onSaved: (page) => {
        this.#node.restored(page)
        this.#retry(page)
      },
      ask: (page, write) => this.requests.ask(page, write),
    })
  }
}

function newRecorder({ recordTo: directory, plan, protocol, mesh }: RegionServerOptions): Recorder | undefined {
  if (directory === undefined) return undefined
  return new Recorder({ directory, region: plan.name, protocol: protocol.name, rank: mesh.rank, ranks: mesh.size })
}
