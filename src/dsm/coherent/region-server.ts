import type { Mesh } from '../../cluster/index.ts'
import { AetherError, FaultAnswer } from '../../native/index.ts'
import { type CounterBlock, type HistogramBlock, threadProfiling } from '../../profiling/index.ts'
import { type AdviceAnswer, type AdviceQuestion, answerAdvice } from '../advice/gathering.ts'
import {
  type CoherenceMessage,
  CoherenceNode,
  carriesBytes,
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
  type TransitionWatch,
} from '../coherence/index.ts'
import type { Mmu } from '../mmu/mmu.ts'
import { PageRight, PageWords } from '../mmu/page-words.ts'
import { WindowTable } from '../mmu/window-table.ts'
import { RegionWatch, type RegionWatchers } from '../observation/index.ts'
import { RecordedNode, Recorder } from '../recording/index.ts'
import type { MemoryUse } from '../region.ts'
import { BusyPages } from './busy-pages.ts'
import { COHERENCE_MESSAGE_BYTES, CoherenceCodec } from './coherence-channel.ts'
import type { FaultLane, ReadFault } from './fault-lane.ts'
import { FrameMemory, type RegisteredFrame } from './frame-memory.ts'
import { FrameUnits } from './frame-units.ts'
import type { Frames } from './frames.ts'
import { GivingUp } from './giving-up.ts'
import { Holds } from './holds.ts'
import { HomeClaims, type HomeMessage } from './home-claims.ts'
import { PageCache } from './page-cache.ts'
import { faultHistogram, pageCounters } from './page-counters.ts'
import { PageFailures } from './page-failures.ts'
import { PageSaving } from './page-saving.ts'
import type { PageFinding } from './page-waits.ts'
import { homeFunction, NO_HOME } from './placement.ts'
import { type PageRange, Readahead } from './readahead.ts'
import { encodeRecovery } from './recovery-channel.ts'
import { RegionAdviser } from './region-adviser.ts'
import { type PageFailure, pageCount, type RegionPlan } from './region-plan.ts'
import type { RegionProcess } from './region-process.ts'
import { RegionTrace } from './region-trace.ts'
import type { ReplicaStore } from './replica-store.ts'
import { countTransitions } from './transition-counters.ts'

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

/** Since when a page is waited for, and which thread faulted on it (0: an explicit call). */
interface Demand {
  readonly sinceNs: number
  readonly write: boolean
  readonly thread: number
  /** How often the thread had been on a processor; looked up while the answer is on its way. */
  turns: number
}

const NO_PAGE = -1

/** Not looked up yet. */
const TURNS_UNKNOWN = -2

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

/** One region in the agent: real frames, page rights and queue pairs around an {@link EpochNode}. */
export class RegionServer implements EpochPort {
  readonly id: number
  readonly plan: RegionPlan
  readonly windows: WindowTable
  readonly #options: RegionServerOptions
  readonly #node: EpochNode
  readonly #recorder: Recorder | undefined
  readonly #watch: RegionWatch
  readonly #counters: CounterBlock<(typeof pageCounters.counters)[number]>
  readonly #faultNs: HistogramBlock
  readonly #words: PageWords
  readonly #units: FrameUnits
  readonly #frames: Frames
  readonly #memory: FrameMemory
  readonly #cache: PageCache
  readonly #readahead: Readahead
  readonly #givingUp = new GivingUp((page) => this.#beginEviction(page))
  readonly #mmu: Mmu
  readonly #holds: Holds
  readonly #codec = new CoherenceCodec()
  readonly #demands = new Map<number, Demand>()
  readonly #failures = new PageFailures()
  /** Pages that user threads have pinned and that others wait for. */
  readonly #pinned = new Set<number>()
  readonly #homeOf: (page: number) => number
  readonly #claims: HomeClaims
  readonly #pages: number
  /** The page that the lane has opened and that the protocol is being told of. */
  #opened = NO_PAGE
  /** Where the region has replicas. */
  readonly #saving: PageSaving | undefined
  /** If profiling is on. */
  readonly #busyPages: BusyPages | undefined
  readonly #trace: RegionTrace
  /** Where the region is open with `advise`. */
  readonly #adviser: RegionAdviser | undefined
  /** The page that is being given up: it is not taken away meanwhile. */
  #evicting = NO_PAGE
  #isFree = false

  constructor(options: RegionServerOptions) {
    const { plan, process } = options
    const { runtime } = process
    this.#trace = new RegionTrace(plan.name, options.id, options.mesh.rank)
    this.#options = options
    this.id = options.id
    this.plan = plan
    this.#counters = threadProfiling().counters(pageCounters, plan.name)
    this.#faultNs = threadProfiling().histogram(faultHistogram, plan.name)
    this.#busyPages = BusyPages.of(plan.name)
    this.windows = new WindowTable(plan.windows)
    this.#words = new PageWords(plan.words)
    const pages = pageCount(plan.size, plan.pageSize)
    this.#pages = pages
    this.#mmu = process.newMmu(this.windows, this.#words, plan.pageSize)
    this.#holds = new Holds({
      runtime,
      threadTurns: (thread) => process.threadTurns(thread),
      isFresh: (page) => this.#words.isFresh(page),
      waiterOf: (page) => this.#demands.get(page)?.thread ?? 0,
      release: (page) => this.#retry(page),
    })
    const { rank, size } = options.mesh
    const founders = Array.from({ length: size }, (_, founder) => founder).filter(
      (founder) => !options.ended.includes(founder),
    )
    const placedAt = homeFunction(plan.placement, pages, size)
    this.#homeOf = (page) => livingHome(placedAt(page), size, founders)
    this.#units = new FrameUnits({
      pages,
      pageBytes: plan.pageSize,
      limitBytes: plan.cacheBytes,
      placement: plan.placement.agreed,
      isHome: (page) => this.#homeOf(page) === rank,
    })
    const frames = process.openFrames(plan, this.#units.unitBytes)
    this.#frames = frames
    this.#memory = new FrameMemory(frames, this.#units, options.mesh, plan.pageSize, (offsetBytes, lengthBytes) =>
      this.#markUntouched(offsetBytes, lengthBytes),
    )
    if (plan.advise) {
      const { id, mesh } = options
      this.#adviser = new RegionAdviser({ id, plan, rank, ranks: mesh.size, runtime, frames })
    }
    this.#cache = new PageCache({
      limitBytes: plan.cacheBytes,
      unitBytes: this.#units.unitBytes,
      pageBytes: plan.pageSize,
      now: () => runtime.now(),
      at: (ns, run) => runtime.timers.at(ns, run),
      isHere: (page) => this.#words.right(page) !== PageRight.None,
      isBusy: (page) => this.#isBusy(page),
      takeUsed: (page) => this.#words.takeUsed(page),
      evict: (page) => this.#evict(page),
      release: (unit, isUnused, done) => this.#releaseUnit(unit, isUnused, done),
    })
    const { cacheBytes = Number.POSITIVE_INFINITY } = plan
    this.#readahead = new Readahead(pages, plan.pageSize, cacheBytes / plan.pageSize)
    this.#claims = new HomeClaims({
      region: options.id,
      rank,
      founders,
      homes: plan.placement.agreed === 'first-touch' ? plan.placement.homes : undefined,
      send: (to, bytes) => options.mesh.send(to, bytes),
      isAlive: (peer) => options.mesh.isAlive(peer),
      members: () => this.#node.members,
      isServing: () => this.#node.isServing,
      alsoKnown: () => options.replicas.homes(),
      onDecided: (page, write) => this.#ask(page, write),
      onLost: (page, peer) => this.#fail(page, { kind: 'memberDied', rank: peer }),
    })
    const { protocol, view, recovered, heirs, recordTo: directory } = options
    const homeOf = this.#homeOf
    const recorder =
      directory === undefined
        ? undefined
        : new Recorder({ directory, region: plan.name, protocol: protocol.name, rank, ranks: size })
    this.#recorder = recorder
    const facts = {
      id: options.id,
      name: plan.name,
      protocol: protocol.name,
      pages,
      pageBytes: plan.pageSize,
      size: plan.size,
    }
    this.#watch = new RegionWatch(options.observation, protocol, facts, COHERENCE_MESSAGE_BYTES, this.#adviser?.watch)
    const watch = countedToo(this.#watch.transition, countTransitions(protocol))
    this.#node = new EpochNode({
      rank,
      ranks: size,
      protocol,
      homeOf,
      view,
      recovered,
      port: this,
      ...(heirs && { heirs }),
      makeNode: (node: NodeOptions) =>
        recorder === undefined
          ? new CoherenceNode({ ...node, watch })
          : new RecordedNode({ ...node, watch }, recorder, runtime),
    })
    this.#watch.attach(this.#node)
    if (plan.replicas > 0) this.#saving = this.#newSaving(frames, founders)
    // Now that all is there: it may end before it returns.
    if (recovered < view.epoch) this.#node.recover()
    else this.#saving?.begin()
  }

  /** A thread of this process wants `page`; `thread` is its id where it faulted, else 0. */
  demand(page: number, write: boolean, thread: number): void {
    const { runtime } = this.#options.process
    this.#counters.add('demands', 1)
    if (thread === 0) this.#busyPages?.count(page, 'calls')
    if (thread !== 0 || !this.#demands.has(page))
      this.#demands.set(page, { sinceNs: runtime.now(), write, thread, turns: TURNS_UNKNOWN })
    this.#trace.demanded(page, write, thread === 0 ? 'call' : 'touch')
    const ahead = thread === 0 ? undefined : this.#readahead.faulted(page)
    if (this.#claims.isKnown(page)) this.#ask(page, write)
    else this.#claims.claim(page, write)
    if (ahead !== undefined) this.#fetchAhead(ahead, write)
  }

  /** A thread of this process has faulted on a page. */
  countFault(page: number, write: boolean): void {
    const event = write ? 'writeFaults' : 'readFaults'
    this.#counters.add(event, 1)
    this.#busyPages?.count(page, event)
  }

  /** A thread has faulted on `page`, and that was answered where it was read. */
  answered(page: number, { write, answer, tookNs }: ReadFault): void {
    if (answer === FaultAnswer.Opened) this.#makeGood(page, write, tookNs)
    this.#fetchAhead(this.#readahead.faulted(page), write)
  }

  /** The lane has opened a page of ours that no rank had: now the protocol is told. */
  #makeGood(page: number, write: boolean, tookNs: number): void {
    this.#faultNs.record(tookNs)
    this.#trace.opened(page, write, tookNs)
    this.#opened = page
    this.#fetch(page, write)
    this.#opened = NO_PAGE
    if (this.#words.right(page) < (write ? PageRight.Write : PageRight.Read)) this.#mmu.unmap(page)
    else this.#holds.begin(page, 0, 0)
  }

  openLane(lane: FaultLane): void {
    lane.open(this.id, this.#words, this.windows, this.plan.pageSize)
  }

  /** Pages of ours in memory that was just taken. */
  #markUntouched(offsetBytes: number, lengthBytes: number): void {
    const { pageSize } = this.plan
    const { rank } = this.#options.mesh
    const end = Math.min(this.#pages, (offsetBytes + lengthBytes) / pageSize)
    for (let page = offsetBytes / pageSize; page < end; page += 1)
      if (this.#homeOf(page) === rank) this.#words.markUntouched(page)
  }

  /** Pages that no thread waits for yet. A page without a home is left alone: its first user is to become its home. */
  #fetchAhead({ from, to }: PageRange, write: boolean): void {
    const right = write ? PageRight.Write : PageRight.Read
    for (let page = from; page < to; page += 1) {
      const isWanted = this.#demands.has(page) || this.#words.right(page) >= right
      if (isWanted || !this.#claims.isKnown(page) || this.#failures.get(page) !== undefined) continue
      this.#counters.add('prefetches', 1)
      this.#trace.demanded(page, write, 'prefetch')
      this.#ask(page, write)
    }
  }

  #ask(page: number, write: boolean): void {
    if (this.#isHome(page) || this.#cache.tryEnter(page, () => this.#fetch(page, write))) this.#fetch(page, write)
  }

  #fetch(page: number, write: boolean): void {
    if (this.#isFree || this.#saving?.defers(page, write) === true || !this.#reserve(page)) return
    this.#words.touch(page)
    this.#watch.wanted(page, write)
    this.#node.demand(page, write)
    this.#watch.changed(page)
    // The request is under way: what the grant will need to know of the thread is looked up meanwhile.
    const waiting = this.#demands.get(page)
    if (waiting !== undefined) waiting.turns = this.#turnsOf(waiting)
  }

  receive(message: CoherenceMessage, epoch: number): void {
    if (this.#trace.listens) this.#trace.receiving(message, this.#node, () => this.#receive(message, epoch))
    else this.#receive(message, epoch)
  }

  #receive(message: CoherenceMessage, epoch: number): void {
    if (message.from !== this.#options.mesh.rank) this.#countReceived(message)
    const isRefused = isRequest(message) && !this.#memory.tryTake(message.page)
    this.#words.touch(message.page)
    this.#watch.received(message)
    if (isRefused) this.#refuse(message)
    else this.#node.receive(message, epoch)
    this.#watch.changed(message.page)
  }

  /** A claim for the home of a page, or what was decided. False where it makes no sense. */
  receiveHome(from: number, message: HomeMessage): boolean {
    return this.#claims.receive(from, message)
  }

  /** User threads may have released pages (they ring): serve requests that wait for those. */
  retryPinned(): void {
    const pages = [...this.#pinned]
    this.#pinned.clear()
    for (const page of pages) this.#retry(page)
  }

  #retry(page: number): void {
    this.#node.retry(page)
    this.#watch.changed(page)
  }

  /** Whether the region has such a page. */
  has(page: number): boolean {
    return page < this.#pages
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

  /** Rank `from` keeps what it was sent with this token. */
  replicaKept(from: number, token: number): void {
    this.#saving?.kept(from, token)
  }

  /**
   * What was written here until now is to be kept by other ranks, too, where the region has replicas; `done` is called
   * when it is.
   */
  fence(done: () => void): void {
    if (this.#saving === undefined) done()
    else this.#saving.fence(done)
  }

  receiveRecovery(from: number, message: RecoveryMessage): void {
    this.#node.receiveRecovery(from, message)
  }

  /** What this node knows of a page. */
  describe(page: number): PageKnowledge {
    const home = this.#node.homeOf(page)
    const copy = this.#node.copyState(page)
    if (home === NO_HOME) return { home, register: this.#claims.registerOf(page), copy }
    return home === this.#options.mesh.rank ? { home, copy, directory: this.#node.directory(page) } : { home, copy }
  }

  /**
   * Pages that threads of this process wait for, and since when; those first that are waited for longest, more or less.
   */
  *demands(): Iterable<{ readonly page: number; readonly write: boolean; readonly sinceNs: number }> {
    for (const [page, { write, sinceNs }] of this.#demands) yield { page, write, sinceNs }
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

  /** Give up the copies of a range that can be given up now; `done` is called when they are gone. */
  giveUp(range: PageRange, done: () => void): void {
    // A page that was written leaves when it is kept elsewhere.
    if (this.#saving === undefined) this.#giveUpSaved(range, done)
    else this.#saving.fence(() => this.#giveUpSaved(range, done), range)
  }

  #giveUpSaved({ from, to }: PageRange, done: () => void): void {
    const pages = new Set<number>()
    for (let page = from; page < to; page += 1)
      if (this.#words.right(page) !== PageRight.None && !this.#isBusy(page) && this.#evict(page)) pages.add(page)
    this.#givingUp.add(pages, done)
  }

  /** The members agree again on who has what, and the region is served. */
  recovered(): void {
    this.#claims.recovered()
    this.#watch.changedAll()
    this.#trace.recovered(this.#node.epoch)
    this.#givingUp.beginAgain()
    this.#cache.recovered()
    this.#saving?.begin()
  }

  /** What this rank saw of a page that bounces. */
  adviceAnswer(question: AdviceQuestion): AdviceAnswer {
    return answerAdvice(this.#adviser?.watch, question)
  }

  memoryUse(): Omit<MemoryUse, 'cacheSize'> {
    const { allocatedBytes: residentBytes } = this.#frames
    const { registeredBytes } = this.#memory
    const { keptBytes: replicaBytes } = this.#options.replicas
    const { framePages: pages } = this.plan
    return { residentBytes, registeredBytes, cachedBytes: this.#cache.usedBytes, replicaBytes, pages }
  }

  /** No rank has the region open any more: nothing more is asked for. */
  free(): void {
    this.#isFree = true
    this.#demands.clear()
    this.#claims.forget()
    this.#cache.close()
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
    this.#watch.close()
    this.#recorder?.close()
    this.#counters.close()
    this.#adviser?.close()
    this.#faultNs.close()
    this.#busyPages?.close()
    this.#cache.close()
    this.#memory.close(giveBack)
  }

  // ---- what the coherence node asks for
  // -------------------------------------------------------------------------------------

  send(to: number, message: CoherenceMessage, epoch: number): void {
    this.#counters.add('messagesSent', 1)
    this.#watch.sent(to, message)
    this.#trace.sent(to, message)
    this.#options.mesh.send(to, this.#codec.encode(this.id, message, epoch))
  }

  sendRecovery(to: number, message: RecoveryMessage): void {
    for (const bytes of encodeRecovery(this.id, message)) this.#options.mesh.send(to, bytes)
  }

  restore(page: number): Restoration {
    return this.#saving?.restore(page) ?? 'unknown'
  }

  push(page: number, to: number, frame: FrameReference): void {
    const { mesh } = this.#options
    if (this.#words.right(page) === PageRight.Write) this.#defect(page, 'it is sent while the program may write it')
    this.#counters.add('pagesSent', 1)
    this.#counters.add('bytesSent', this.plan.pageSize)
    this.#watch.pushed(to, page)
    mesh.write(to, this.#frame(page).local, this.plan.pageSize, frame)
  }

  ownFrame(page: number): FrameReference {
    if (!this.#isHome(page)) this.#cache.enter(page)
    return this.#frame(page).remote
  }

  mapReadOnly(page: number): void {
    this.#grant(page, PageRight.Read, () => this.#mmu.mapReadOnly(page))
  }

  mapWritable(page: number): void {
    this.#grant(page, PageRight.Write, () => this.#mmu.mapWritable(page))
  }

  protect(page: number): void {
    this.#mustBeLoose(page)
    this.#counters.add('downgrades', 1)
    this.#busyPages?.count(page, 'downgrades')
    this.#trace.taken(page, 'read')
    this.#mmu.protect(page)
    this.#words.take(page, PageRight.Read)
    this.#adviser?.protected(page)
  }

  unmap(page: number): void {
    this.#mustBeLoose(page)
    this.#counters.add('invalidations', 1)
    if (page !== this.#evicting) this.#busyPages?.count(page, 'invalidations')
    this.#watch.lost(page)
    this.#trace.taken(page, 'none')
    this.#saving?.forget(page)
    this.#mmu.unmap(page)
    const had = this.#words.right(page)
    this.#words.take(page, PageRight.None)
    this.#adviser?.unmapped(page, had, page === this.#evicting)
  }

  evicted(page: number): void {
    this.#cache.evicted(page)
    this.#givingUp.gone(page)
  }

  failed(page: number, rank: number, wantsMemory: boolean): void {
    this.#fail(page, { kind: wantsMemory ? 'memoryExhausted' : 'memberDied', rank })
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

  #fail(page: number, failure: PageFailure): void {
    this.#failures.add(page, failure)
    this.#trace.failed(page, failure.kind, failure.rank)
    this.#saving?.forget(page)
    this.evicted(page)
    this.#words.fail(page)
    const demand = this.#demands.get(page)
    this.#demands.delete(page)
    if (demand === undefined || demand.thread === 0) return
    this.flushRecording()
    const { process, mesh } = this.#options
    this.#failures.end(process, mesh.rank, this.plan.name, page)
  }

  mustHold(page: number): boolean {
    if (this.#holds.mustStay(page)) {
      this.#counters.add('holds', 1)
      return true
    }
    if (this.#words.want(page)) return this.#saving?.isSaved(page) === false
    this.#pinned.add(page)
    return true
  }

  isAlive(rank: number): boolean {
    return this.#options.mesh.isAlive(rank)
  }

  // ---- details
  // ---------------------------------------------------------------------------------------------------------------

  #grant(page: number, right: number, map: () => void): void {
    this.#trace.granted(page, right === PageRight.Write)
    const demand = this.#demands.get(page)
    if (demand !== undefined) {
      this.#demands.delete(page)
      this.#holds.begin(page, demand.thread, this.#turnsOf(demand))
      const tookNs = this.#options.process.clockNs() - demand.sinceNs
      this.#faultNs.record(tookNs)
      this.#watch.granted(page, right, tookNs)
    }
    // What the lane has opened may have been written by now.
    if (right === PageRight.Write && page !== this.#opened) this.#adviser?.writable(page, this.#words.right(page))
    // Left unmapped, so that the first touch is seen.
    if (page !== this.#opened && (demand !== undefined || !this.#readahead.isMarker(page))) map()
    this.#words.grant(page, right)
    if (right === PageRight.Write) this.#saving?.written(page)
    if (!this.#isHome(page)) this.#cache.granted(page)
    this.#givingUp.gone(page)
  }

  /** What would otherwise be written behind the back of a thread that copies, or be copied half. */
  #mustBeLoose(page: number): void {
    if (this.#words.isPinned(page)) this.#defect(page, 'it is taken away while a thread has it pinned')
  }

  /** Going on would corrupt memory: the process ends. */
  #defect(page: number, what: string): never {
    throw new AetherError(
      'ERR_AETHER_AGENT',
      `page ${page} of region '${this.plan.name}': ${what}; this is a defect, please report it with the trace`,
    )
  }

  #frame(page: number): RegisteredFrame {
    const frame = this.#memory.frame(page)
    this.#words.touch(page)
    return frame
  }

  #newSaving(frames: Frames, founders: readonly number[]): PageSaving {
    const { mesh, replicas: store, id: region } = this.#options
    return new PageSaving({
      region,
      mesh,
      pageBytes: this.plan.pageSize,
      founders,
      store,
      frames,
      words: this.#words,
      mmu: this.#mmu,
      placedAt: this.#homeOf,
      homeOf: (page) => this.#node.homeOf(page),
      members: () => this.#node.members,
      isAwaited: (page) => this.#pinned.has(page),
      onSaved: (page) => {
        this.#node.restored(page)
        this.#retry(page)
      },
      ask: (page, write) => this.#ask(page, write),
    })
  }

  #isHome(page: number): boolean {
    return this.#node.homeOf(page) === this.#options.mesh.rank
  }

  /** In use just now, or about to be. */
  #isBusy(page: number): boolean {
    return this.#words.isPinned(page) || this.#holds.isHeld(page)
  }

  #evict(page: number): boolean {
    const begun = this.#beginEviction(page)
    if (begun) this.#counters.add('evictions', 1)
    this.#watch.changed(page)
    return begun
  }

  #beginEviction(page: number): boolean {
    if (this.#isFree) return false
    this.#evicting = page
    const begun = this.#node.evict(page)
    this.#evicting = NO_PAGE
    return begun
  }

  #releaseUnit(unit: number, isUnused: () => boolean, done: () => void): void {
    this.#options.mesh.afterWrites(() => {
      if (isUnused() && !this.#hasInherited(unit)) this.#release(unit)
      done()
    })
  }

  #release(unit: number): void {
    for (const page of this.#pagesOf(unit))
      if (this.#words.right(page) !== PageRight.None) this.#defect(page, 'its memory is given back while it is here')
    this.#memory.release(unit)
  }

  /** A dead home's pages may have become ours: then the unit is their memory. */
  #hasInherited(unit: number): boolean {
    for (const page of this.#pagesOf(unit)) if (this.#isHome(page)) return true
    return false
  }

  *#pagesOf(unit: number): Generator<number> {
    const { unitBytes } = this.#units
    const end = Math.min(this.#pages, Math.ceil(((unit + 1) * unitBytes) / this.plan.pageSize))
    for (let page = Math.floor((unit * unitBytes) / this.plan.pageSize); page < end; page += 1) yield page
  }

  #countReceived(message: CoherenceMessage): void {
    if (!carriesBytes(message.kind)) return
    this.#counters.add('pagesReceived', 1)
    this.#counters.add('bytesReceived', this.plan.pageSize)
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

  #turnsOf({ thread, turns }: Demand): number {
    if (thread === 0) return 0
    return turns === TURNS_UNKNOWN ? this.#options.process.threadTurns(thread) : turns
  }

  /** Home has no memory to serve a request from: the requester is told, and may ask again. */
  #refuse(message: CoherenceMessage): void {
    this.send(message.from, refusalOf(message, this.#options.mesh.rank), this.#node.epoch)
  }
}

/** What is counted for profiles beside what is told to those who watch. */
function countedToo(watch: TransitionWatch, count: TransitionWatch | undefined): TransitionWatch {
  if (count === undefined) return watch
  return (side, state, event) => {
    watch(side, state, event)
    count(side, state, event)
  }
}
