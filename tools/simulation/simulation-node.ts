import { type MembershipView, Mesh, MeshChannel, type MeshMessage } from 'aether-dsm/internal/cluster'
import {
  CoherenceCodec,
  type CoherenceMessage,
  decodeRecovery,
  EpochNode,
  type EpochPort,
  encodeRecovery,
  type FrameReference,
  type Protocol,
  type RecoveryMessage,
  type Restoration,
} from 'aether-dsm/internal/dsm'
import type { SimulatedCluster, SimulatedHost, SimulatedProcess, Stream } from 'aether-dsm/internal/providers'
import type { MemoryRegion, RemoteEndpoint } from 'aether-dsm/internal/verbs'
import type { Access, Observation } from './access.ts'
import { type Observer, PageRight, ViolationError } from './observer.ts'
import { SimulationMembership } from './simulation-membership.ts'
import type { SimulationThread, ThreadHost } from './simulation-thread.ts'

/** The longest sleep of an agent, so that a lost wake-up is only a delay. */
const SLEEP_NS_MAX = 100_000_000
const REGION = 1
const LINE_BYTES = 64

export interface SimulationNodeOptions {
  readonly cluster: SimulatedCluster
  readonly rank: number
  readonly ranks: number
  readonly protocol: Protocol
  readonly observer: Observer
  readonly threads: readonly SimulationThread[]
  /** Which page is given up. */
  readonly stream: Stream
  /** If no node may die, none may be suspected. */
  readonly membersMayDie: boolean
  /** The node is in another epoch. */
  readonly onView: () => void
  /** The node's process has ended itself. */
  readonly onEnd: (rank: number) => void
}

/**
 * A member: the coherence engine and the mesh of the agents over a simulated device, and the threads of a program. One
 * process of its host runs all of it, in steps; what a step does happens at one moment.
 */
export class SimulationNode implements EpochPort, ThreadHost {
  readonly rank: number
  readonly engine: EpochNode
  readonly #options: SimulationNodeOptions
  readonly #host: SimulatedHost
  readonly #mesh: Mesh
  readonly #process: SimulatedProcess
  readonly #memory: MemoryRegion
  readonly #codec = new CoherenceCodec()
  /** Pages whose rights have changed in this step. */
  readonly #changed = new Set<number>()
  /** Pages that others may have now. */
  readonly #released = new Set<number>()
  readonly #membership: SimulationMembership
  /** Members whose end is certain, and has not been taken notice of. */
  #endings: number[] = []
  #hasEnded = false
  #cancelWait: () => void = nothing

  constructor(options: SimulationNodeOptions) {
    const { cluster, rank, ranks, protocol, observer } = options
    this.rank = rank
    this.#options = options
    this.#host = cluster.addHost()
    this.#mesh = new Mesh({
      rank,
      size: ranks,
      device: `${cluster.device}/${this.#host.index}`,
      onMessage: (message) => this.#receive(message),
      onEnd: (peer, reason) => this.#suspect(peer, reason),
      onSuspicion: (peer, reason) => this.#suspect(peer, reason),
    })
    this.#memory = this.#mesh.register(new Uint8Array(observer.pages * observer.pageBytes))
    this.#membership = new SimulationMembership({
      rank,
      size: ranks,
      mesh: this.#mesh,
      now: () => cluster.kernel.nowNs,
      onView: (view) => this.#viewChanged(view),
      onEnd: () => this.#end(),
    })
    const { view } = this.#membership
    this.engine = new EpochNode({
      rank,
      ranks,
      protocol,
      homeOf: (page) => page % ranks,
      view,
      recovered: 0,
      port: this,
    })
    this.#process = this.#host.spawn(() => this.#step())
  }

  endpointFor(peer: number): RemoteEndpoint {
    return this.#mesh.endpointFor(peer)
  }

  connect(peer: number, endpoint: RemoteEndpoint): void {
    this.#mesh.connect(peer, { endpoint, processId: undefined, pathMtu: undefined })
  }

  start(): void {
    this.#process.wake()
  }

  /** Its process is there, and has not found itself out of the group. */
  get isLive(): boolean {
    return this.#host.alive && !this.#hasEnded
  }

  get isPaused(): boolean {
    return this.#host.paused
  }

  get view(): MembershipView {
    return this.#membership.view
  }

  /** No other node waits for its program. */
  get isFinished(): boolean {
    return !this.isLive || this.#options.threads.every(({ done }) => done)
  }

  /** The end of a member's process is certain. */
  tellEnd(rank: number): void {
    this.#endings.push(rank)
    this.#process.wake()
  }

  /** The actions of its program no longer count. */
  seal(): void {
    for (const thread of this.#options.threads) thread.seal()
  }

  /** The bytes of a page as they are here. */
  frame(page: number): Uint8Array {
    const { pageBytes } = this.#options.observer
    return this.#memory.bytes.subarray(page * pageBytes, (page + 1) * pageBytes)
  }

  close(): void {
    this.#cancelWait()
    if (!this.#hasEnded) this.#mesh.close()
  }

  // ---- what its threads ask for
  // --------------------------------------------------------------------------------------------------

  right(page: number): number {
    return this.#options.observer.right(this.rank, page)
  }

  demand(page: number, write: boolean): void {
    this.engine.demand(page, write)
  }

  access(access: Access, value: number): Observation {
    const { observer, cluster } = this.#options
    const { kind, page, word } = access
    const offset = (word * LINE_BYTES) % observer.pageBytes
    const frame = this.frame(page)
    const view = new DataView(frame.buffer, frame.byteOffset + offset, 4)
    const seen = view.getInt32(0, true)
    const left = kind === 'load' ? undefined : kind === 'store' ? value : (seen + value) | 0
    if (left !== undefined) view.setInt32(0, left, true)
    observer.accessed(this.rank, page, offset, seen, left, frame)
    cluster.kernel.trace.add(seen)
    this.#released.add(page)
    return { kind, location: page * observer.pageBytes + offset, seen: kind === 'store' ? -1 : seen, left: left ?? -1 }
  }

  evictSome(): void {
    const page = this.#options.stream.below(this.#options.observer.pages)
    this.engine.evict(page)
  }

  // ---- what the engine asks for
  // --------------------------------------------------------------------------------------------------

  send(to: number, message: CoherenceMessage, epoch: number): void {
    this.#mesh.send(to, this.#codec.encode(REGION, message, epoch))
  }

  sendRecovery(to: number, message: RecoveryMessage): void {
    for (const bytes of encodeRecovery(REGION, message)) this.#mesh.send(to, bytes)
  }

  /** Nothing is kept of what was fenced. */
  restore(): Restoration {
    return 'unknown'
  }

  recovered(): void {}

  push(page: number, to: number, target: FrameReference): void {
    const { pageBytes } = this.#options.observer
    const source = { address: this.#memory.address + page * pageBytes, key: this.#memory.localKey }
    this.#mesh.write(to, source, pageBytes, target)
  }

  ownFrame(page: number): FrameReference {
    return {
      address: this.#memory.address + page * this.#options.observer.pageBytes,
      key: this.#memory.remoteKey,
    }
  }

  mapReadOnly(page: number): void {
    this.#setRight(page, PageRight.Read)
  }

  mapWritable(page: number): void {
    this.#setRight(page, PageRight.Write)
  }

  protect(page: number): void {
    this.#setRight(page, PageRight.Read)
  }

  unmap(page: number): void {
    this.#setRight(page, PageRight.None)
  }

  evicted(): void {}

  failed(page: number, rank: number): void {
    if (!this.#options.membersMayDie)
      throw new ViolationError(`progress: page ${page} cannot be had at rank ${this.rank}, because of rank ${rank}`)
    this.#options.observer.lost(this.rank, page)
    for (const thread of this.#options.threads) thread.failed(page)
    this.#released.add(page)
  }

  mustHold(page: number): boolean {
    const right = this.right(page)
    return this.#options.threads.some((thread) => thread.needs(page, right))
  }

  isAlive(rank: number): boolean {
    return this.#mesh.isAlive(rank)
  }

  // ---- running
  // -------------------------------------------------------------------------------------------------------------------

  #step(): void {
    this.#cancelWait()
    if (this.#hasEnded) return
    const endings = this.#endings
    this.#endings = []
    for (const rank of endings) this.#membership.ended(rank)
    do {
      this.#membership.run()
      while (!this.#hasEnded && (this.#mesh.turn() || this.#runThreads()));
    } while (!this.#hasEnded && !this.#mesh.prepareSleep())
    if (this.#hasEnded) this.#leave()
    else this.#sleep()
  }

  #runThreads(): boolean {
    const { kernel } = this.#options.cluster
    this.#tellThreads()
    let any = false
    for (const thread of this.#options.threads) if (thread.run(kernel.nowNs, this)) any = true
    for (const page of this.#released) this.engine.retry(page)
    any = any || this.#changed.size > 0
    this.#released.clear()
    return any
  }

  #tellThreads(): void {
    for (const page of this.#changed) {
      for (const thread of this.#options.threads) thread.rightChanged(page)
      this.#released.add(page)
    }
    this.#changed.clear()
  }

  /** Until something comes, a thread has thought enough, or for a while. */
  #sleep(): void {
    const { kernel } = this.#options.cluster
    const [descriptor] = this.#mesh.descriptors
    this.#cancelWait = this.#host.whenReadable(descriptor!, () => this.#process.wake())
    const thinking = Math.min(...this.#options.threads.map((thread) => thread.wakeNs))
    this.#process.wakeAt(Math.min(thinking, this.#membership.wakeNs, kernel.nowNs + SLEEP_NS_MAX))
  }

  #receive({ from, bytes }: MeshMessage): void {
    if (this.#hasEnded || bytes[0] === MeshChannel.Nothing) return
    if (bytes[0] === MeshChannel.Membership) this.#membership.hear(from, bytes)
    else if (bytes[0] === MeshChannel.Recovery) this.#receiveRecovery(from, bytes)
    else this.#receiveCoherence(from, bytes)
  }

  #receiveRecovery(from: number, bytes: Uint8Array): void {
    const decoded = decodeRecovery(bytes)
    if (decoded === undefined) throw new ViolationError(`rank ${from} sent words of a recovery that are none`)
    this.engine.receiveRecovery(from, decoded.message)
  }

  #receiveCoherence(from: number, bytes: Uint8Array): void {
    const decoded = this.#codec.decode(from, bytes)
    if (decoded === undefined) throw new ViolationError(`rank ${from} sent an invalid message`)
    this.#options.cluster.kernel.trace.add(decoded.message.kind)
    this.engine.receive(decoded.message, decoded.epoch)
  }

  #setRight(page: number, right: PageRight): void {
    this.#options.observer.rightChanged(this.rank, page, right, this.frame(page))
    this.#changed.add(page)
  }

  #suspect(peer: number, reason: string): void {
    if (!this.#options.membersMayDie)
      throw new ViolationError(`connection: rank ${this.rank} has lost rank ${peer}: ${reason}`)
    this.#membership.suspected(peer, reason)
  }

  #viewChanged(view: MembershipView): void {
    this.#options.onView()
    this.engine.viewChanged(view)
  }

  #end(): void {
    if (!this.#options.membersMayDie)
      throw new ViolationError(`membership: rank ${this.rank} finds itself out of a group in which no rank has died`)
    this.#hasEnded = true
  }

  /** As the kernel does where a process ends. */
  #leave(): void {
    this.seal()
    this.#mesh.close()
    this.#options.onEnd(this.rank)
  }
}

function nothing(): void {
  return
}
