import {
  BarrierWord,
  GroupMachine,
  type GroupNote,
  type MembershipView,
  newBarrierWords,
} from 'aether-dsm/internal/cluster'
import {
  DemandRing,
  evaluatePlacement,
  type PageFailure,
  type PageKnowledge,
  PageWords,
  type Protocol,
  type RegionPlan,
  type RegionProcess,
  type RegionServer,
  RegionServers,
  WindowTable,
} from 'aether-dsm/internal/dsm'
import { WaitTable } from 'aether-dsm/internal/profiling'
import type { SimulatedCluster, SimulatedHost, SimulatedProcess } from 'aether-dsm/internal/providers'
import { Random, type Runtime, Timers } from 'aether-dsm/internal/runtime'
import type { RemoteEndpoint } from 'aether-dsm/internal/verbs'
import type { Access, Observation } from './access.ts'
import { type CallHost, CallThread } from './call-thread.ts'
import { LEASE_NS } from './hazard.ts'
import { type Observer, ViolationError } from './observer.ts'
import type { SimulationPlan } from './plan.ts'
import { SimulatedEnds } from './simulated-ends.ts'
import { SimulatedFrames } from './simulated-frames.ts'
import { SimulatedMmu } from './simulated-mmu.ts'
import type { SimulationThread } from './simulation-thread.ts'
import { type ViewHost, ViewThread } from './view-thread.ts'

/** The longest sleep of an agent, so that a lost wake-up is only a delay. */
const SLEEP_NS_MAX = 100_000_000
/** How long a process waits for the others at first. No pause is so long. */
const JOIN_NS_MAX = 40_000_000_000
const REGION_NAME = 'simulated'
/** Numbers of regions begin here. */
const NO_REGION = -1
const LINE_BYTES = 64

/** The process ends itself. */
class ProcessEnded extends Error {}

export interface SimulationNodeOptions {
  readonly cluster: SimulatedCluster
  readonly plan: SimulationPlan
  readonly rank: number
  readonly protocol: Protocol
  readonly observer: Observer
  /** What each thread does. */
  readonly programs: readonly { readonly isView: boolean; readonly accesses: readonly Access[]; readonly tag: number }[]
  /** If no node may die, none may be missed. */
  readonly membersMayDie: boolean
  /** The node is in another epoch. */
  readonly onView: () => void
  /** Another's process is to be killed. */
  readonly onKill: (rank: number) => void
  /** The node's process has ended itself. */
  readonly onEnd: (rank: number) => void
}

/**
 * A process of a group, on a host of its own. It has the parts of an agent over simulated devices, frames and page
 * tables, and the threads of a program. What a turn of the agent does happens at one moment.
 */
export class SimulationNode implements RegionProcess, CallHost, ViewHost {
  readonly rank: number
  readonly host: SimulatedHost
  readonly runtime: Runtime
  readonly words: PageWords
  readonly demands: DemandRing = new DemandRing()
  readonly mmu: SimulatedMmu
  region: number = NO_REGION
  readonly #options: SimulationNodeOptions
  readonly #timers = new Timers()
  readonly #plan: RegionPlan
  readonly #frames: SimulatedFrames
  readonly #ends: SimulatedEnds
  readonly #barrier: Int32Array
  readonly #group: GroupMachine
  readonly #regions: RegionServers
  readonly #agent: SimulatedProcess
  readonly #calls: CallThread[] = []
  readonly #views: ViewThread[] = []
  /** What the program's threads have asked the agent for. */
  readonly #commands: (() => void)[] = []
  #isOpening = false
  #hasLeft = false
  #hasEnded = false
  #cancelWait: () => void = nothing

  constructor(options: SimulationNodeOptions) {
    const { cluster, rank, protocol, observer, plan } = options
    const { kernel } = cluster
    this.rank = rank
    this.#options = options
    this.host = cluster.addHost()
    this.runtime = { now: () => kernel.nowNs, timers: this.#timers, random: new Random(plan.seed + rank) }
    this.words = new PageWords(plan.pages)
    this.mmu = new SimulatedMmu(this.words, plan.pages, (page) => this.#wakeFrom(page))
    this.#plan = regionPlan(plan, protocol, observer.pageBytes, this.words)
    this.#frames = new SimulatedFrames(plan.pages * observer.pageBytes)
    this.#ends = new SimulatedEnds(options.onKill)
    const barrierWords = newBarrierWords(plan.nodes)
    this.#barrier = new Int32Array(barrierWords)
    const start = {
      ...{ rank, size: plan.nodes, barrierWords, leaseMs: LEASE_NS / 1e6, control: undefined },
      device: `${cluster.device}/${this.host.index}`,
    }
    const context = {
      runtime: this.runtime,
      notify: (note: unknown) => this.#noted(note as GroupNote),
      exit: (code: number, message: string) => this.exit(code, message),
    }
    this.#group = new GroupMachine(context, start, this.#ends, { table: new WaitTable(), times: undefined })
    this.#regions = new RegionServers({
      group: this.#group,
      process: this,
      observation: { journal: undefined, add: nothing, remove: nothing },
      lane: undefined,
      recordTo: undefined,
      protocols: new Map([[protocol.name, protocol]]),
    })
    this.#group.listen({
      message: (from, bytes) => this.#regions.receive(from, bytes),
      memberDied: (peer) => this.#regions.memberDied(peer),
      viewChanged: (view) => this.#viewChanged(view),
      regionFree: (id) => this.#regions.free(id),
      answer: () => null,
    })
    for (const { isView, accesses, tag } of options.programs)
      if (isView) this.#views.push(new ViewThread(this, accesses, tag))
      else this.#calls.push(new CallThread(this, accesses, tag))
    this.#agent = this.host.spawn(() => this.#run())
  }

  get endpoints(): RemoteEndpoint[] {
    return this.#group.endpoints()
  }

  /** Join the group. `endpoints`: how each rank is reached from here. */
  start(endpoints: readonly RemoteEndpoint[]): void {
    const peers = endpoints.map((endpoint, rank) => ({ rank, endpoint, processId: undefined, pathMtu: undefined }))
    this.#group.connect(peers.filter(({ rank }) => rank !== this.rank))
    Atomics.store(this.#barrier, BarrierWord.Entered, 1)
    this.#timers.at(JOIN_NS_MAX, () => {
      if (!this.#isOpening) this.exit(1, 'the group did not come together in time')
    })
    this.ring()
  }

  /** Its process is there, and has not found itself out of the group. */
  get isLive(): boolean {
    return this.host.alive && !this.#hasEnded
  }

  get isPaused(): boolean {
    return this.host.paused
  }

  get view(): MembershipView {
    return this.#group.view
  }

  get threads(): readonly SimulationThread[] {
    return [...this.#calls, ...this.#views]
  }

  /** No other node waits for its program. */
  get isFinished(): boolean {
    return !this.isLive || this.threads.every(({ done }) => done)
  }

  /** Nothing is under way. */
  get isAtRest(): boolean {
    return !this.isLive || (this.#commands.length === 0 && this.#server?.isQuiescent() !== false)
  }

  /** The region's memory is the system's again. */
  get hasGivenBack(): boolean {
    return !this.isLive || this.#frames.isClosed
  }

  /** It has left the group, and all others have, too. */
  get hasLeft(): boolean {
    return !this.isLive || this.#hasLeft
  }

  /** What it knows of a page; undefined where it has not opened the region. */
  describe(page: number): PageKnowledge | undefined {
    return this.#server?.describe(page)
  }

  /** The page, which its program may look at, is what it should be. */
  compare(page: number): void {
    this.#options.observer.compare(this.rank, page, this.#frame(page), 'has at rest')
  }

  /** The end of a member's process is certain. */
  tellEnd(rank: number): void {
    this.#ends.tell(rank)
    this.ring()
  }

  /** Its process is killed. */
  kill(): void {
    this.host.crash(false, 0)
    this.seal()
  }

  /** The actions of its program no longer count. */
  seal(): void {
    for (const thread of this.threads) thread.seal()
  }

  /** The program has no more use for the region. */
  closeRegion(): void {
    this.#command(() => this.#group.closeRegion(REGION_NAME, nothing))
  }

  /** The program is done. */
  leave(): void {
    this.#command(() =>
      this.#group.leave({
        resolve: () => {
          this.#hasLeft = true
        },
        reject: (error) => {
          throw error
        },
      }),
    )
  }

  close(): void {
    this.#cancelWait()
    this.#regions.close()
    if (!this.#hasEnded) this.#group.close()
  }

  // ---- what its threads ask for
  // --------------------------------------------------------------------------------------------------

  get nowNs(): number {
    return this.#options.cluster.kernel.nowNs
  }

  ring(): void {
    this.#agent.wake()
  }

  access(access: Access, value: number): Observation {
    const { observer, cluster } = this.#options
    const { kind, page, word } = access
    const offset = (word * LINE_BYTES) % observer.pageBytes
    const frame = this.#frame(page)
    const view = new DataView(frame.buffer, frame.byteOffset + offset, 4)
    const seen = view.getInt32(0, true)
    const left = kind === 'load' ? undefined : kind === 'store' ? value : (seen + value) | 0
    if (left !== undefined) view.setInt32(0, left, true)
    observer.accessed(this.rank, page, offset, seen, left, frame)
    cluster.kernel.trace.add(seen)
    return { kind, location: page * observer.pageBytes + offset, seen: kind === 'store' ? -1 : seen, left: left ?? -1 }
  }

  giveUp(from: number, to: number): void {
    this.#command(() => this.#server?.giveUp({ from, to }, nothing))
  }

  fence(): void {
    const ends = this.#options.observer.fenceBegins(this.rank)
    this.#command(() => this.#server?.fence(ends))
  }

  explainFailure(page: number, done: (failure: PageFailure | undefined) => void): void {
    this.#command(() => done(this.#server?.explainFailure(page)))
  }

  refused(page: number): void {
    const { observer, membersMayDie } = this.#options
    if (!membersMayDie) throw new ViolationError(`progress: page ${page} cannot be had at rank ${this.rank}`)
    const { home, register } = this.describe(page)!
    if (home >= 0) observer.lost(this.rank, page)
    else if (this.view.members.includes(register!))
      throw new ViolationError(
        `progress: page ${page} cannot be had at rank ${this.rank}, though rank ${register} can say where`,
      )
  }

  // ---- what its regions ask for
  // --------------------------------------------------------------------------------------------------

  clockNs(): number {
    return this.nowNs
  }

  openFrames(): SimulatedFrames {
    return this.#frames
  }

  newMmu(): SimulatedMmu {
    return this.mmu
  }

  threadTurns(thread: number): number {
    return this.#views[thread - 1]!.turns
  }

  exit(code: number, message: string): never {
    if (!this.#options.membersMayDie)
      throw new ViolationError(
        `membership: rank ${this.rank} ends itself in a group in which no rank has died: ${message}`,
      )
    this.#options.cluster.kernel.trace.add(code)
    throw new ProcessEnded(message)
  }

  // ---- running
  // -------------------------------------------------------------------------------------------------------------------

  #run(): void {
    this.#cancelWait()
    if (this.#hasEnded) return
    try {
      do while (this.#turn());
      while (!this.#group.prepareSleep())
    } catch (error) {
      if (!(error instanceof ProcessEnded)) throw error
      this.#end()
      return
    }
    this.#showRights()
    for (const thread of this.#calls) thread.agentRan()
    this.#sleep()
  }

  /** As the agent's loop and its machine do. */
  #turn(): boolean {
    const commands = this.#commands.splice(0)
    for (const command of commands) command()
    let any = this.#timers.runDue(this.nowNs) || commands.length > 0
    any = this.#group.turn() || any
    any = this.#takeFaults() || any
    any = this.demands.drain((_, page, write) => this.#server?.requests.demand(page, write, 0)) > 0 || any
    this.#regions.turn()
    this.#open()
    return any
  }

  #takeFaults(): boolean {
    let any = false
    for (const [index, thread] of this.#views.entries()) {
      const fault = thread.takeFault()
      if (fault === undefined) continue
      any = true
      this.#server?.events.faulted(fault.page, fault.write)
      this.#server?.requests.demand(fault.page, fault.write, index + 1)
    }
    return any
  }

  /** The group is whole: the program opens the region. */
  #open(): void {
    if (this.#isOpening) return
    if (Atomics.load(this.#barrier, BarrierWord.Released) === 0) {
      if (Atomics.load(this.#barrier, BarrierWord.Failed) !== 0) this.exit(1, 'the group did not come together')
      return
    }
    this.#isOpening = true
    this.#regions.open(this.#plan, JSON.stringify(this.#options.plan.placement), (answer) => {
      // The keeper of the names has ended. `openRegion` throws, and that ends the program.
      if (answer.kind !== 'opened') return this.exit(1, 'the region cannot be opened')
      this.region = answer.id
      for (const thread of this.threads) thread.start()
    })
  }

  get #server(): RegionServer | undefined {
    return this.#regions.get(this.region)
  }

  #command(command: () => void): void {
    this.#commands.push(command)
    this.ring()
  }

  #wakeFrom(page: number): void {
    for (const thread of this.#views) thread.wakeFrom(page)
  }

  /** Until something comes, a timer is due, or for a while. */
  #sleep(): void {
    this.#cancelWait = this.#group.mesh.whenReadable(() => this.#agent.wake())
    this.#agent.wakeAt(Math.min(this.#timers.nextNs, this.nowNs + SLEEP_NS_MAX))
  }

  /** What the program may do with each page, by calls or by views. */
  #showRights(): void {
    // The program has no window on what was given back.
    if (this.#frames.isClosed) return
    const { observer, plan } = this.#options
    for (let page = 0; page < plan.pages; page += 1) {
      const right = this.words.right(page)
      if (this.mmu.right(page) > right)
        throw new ViolationError(`mmu: rank ${this.rank} has page ${page} mapped, and its word says that it may not`)
      if (right !== observer.right(this.rank, page)) observer.rightChanged(this.rank, page, right, this.#frame(page))
    }
  }

  #frame(page: number): Uint8Array {
    const { pageBytes } = this.#options.observer
    return this.#frames.chunkAt().bytes.subarray(page * pageBytes, (page + 1) * pageBytes)
  }

  #noted(note: GroupNote): void {
    if (note.type === 'died' && !this.#options.membersMayDie)
      throw new ViolationError(`connection: rank ${this.rank} has lost rank ${note.rank}: ${note.reason}`)
  }

  #viewChanged(view: MembershipView): void {
    this.#showRights()
    this.#options.onView()
    this.#regions.viewChanged(view)
  }

  /** As the kernel does where a process ends. */
  #end(): void {
    this.#hasEnded = true
    this.#showRights()
    for (const { fault } of this.#views) if (fault !== undefined && this.#isLost(fault.page)) this.refused(fault.page)
    this.seal()
    this.#group.close()
    this.#options.onEnd(this.rank)
  }

  #isLost(page: number): boolean {
    return this.#server?.explainFailure(page)?.kind === 'memberDied'
  }
}

function regionPlan(
  { pages, nodes, placement, cachePages, replicas }: SimulationPlan,
  protocol: Protocol,
  pageSize: number,
  words: PageWords,
): RegionPlan {
  return {
    name: REGION_NAME,
    size: pages * pageSize,
    pageSize,
    placement: evaluatePlacement(placement, pages, nodes),
    coherence: protocol.name as RegionPlan['coherence'],
    words: words.buffer,
    windows: new WindowTable().buffer,
    framesDescriptor: -1,
    framePages: 'ordinary',
    cacheBytes: cachePages === undefined ? undefined : cachePages * pageSize,
    replicas,
    advise: false,
  }
}

function nothing(): void {
  return
}
