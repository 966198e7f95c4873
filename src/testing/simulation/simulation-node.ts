import { Mesh, type MeshMessage } from '../../cluster/index.ts'
import {
  CoherenceCodec,
  type CoherenceMessage,
  CoherenceNode,
  type FrameReference,
  type NodePort,
  type Protocol,
} from '../../dsm/index.ts'
import type { SimulatedCluster, SimulatedHost, SimulatedProcess, Stream } from '../../providers/index.ts'
import type { MemoryRegion, RemoteEndpoint } from '../../verbs/index.ts'
import type { Access, Observation } from './access.ts'
import { type Observer, PageRight, ViolationError } from './observer.ts'
import type { SimulationThread, ThreadHost } from './simulation-thread.ts'

/** An agent never sleeps longer, so that a wake-up that was lost is no more than a delay. */
const SLEEP_NS_MAX = 100_000_000
const REGION = 1
const LINE_BYTES = 64
const NOWHERE = { descriptor: -1, offsetBytes: 0 }

export interface SimulationNodeOptions {
  readonly cluster: SimulatedCluster
  readonly rank: number
  readonly ranks: number
  readonly protocol: Protocol
  readonly observer: Observer
  readonly threads: readonly SimulationThread[]
  /** Which page is given up. */
  readonly stream: Stream
}

/**
 * A member: the coherence engine and the mesh of the agents over a simulated device, and the threads of a program. One process of its host runs all of it, in steps;
 * what a step does happens at one moment.
 */
export class SimulationNode implements NodePort, ThreadHost {
  readonly rank: number
  readonly engine: CoherenceNode
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
      onEnd: (peer, reason) => this.#lost(peer, reason),
      onSuspicion: (peer, reason) => this.#lost(peer, reason),
    })
    this.#memory = this.#mesh.register(new Uint8Array(observer.pages * observer.pageBytes), NOWHERE)
    this.engine = new CoherenceNode({ rank, ranks, protocol, homeOf: (page) => page % ranks, port: this })
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

  /** The bytes of a page as they are here. */
  frame(page: number): Uint8Array {
    const { pageBytes } = this.#options.observer
    return this.#memory.bytes.subarray(page * pageBytes, (page + 1) * pageBytes)
  }

  close(): void {
    this.#cancelWait()
    this.#mesh.close()
  }

  // ---- what its threads ask for --------------------------------------------------------------------------------------------------

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

  // ---- what the engine asks for --------------------------------------------------------------------------------------------------

  send(to: number, message: CoherenceMessage): void {
    this.#mesh.send(to, this.#codec.encode(REGION, message, 0))
  }

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
    throw new ViolationError(`progress: page ${page} cannot be had at rank ${this.rank}, because of rank ${rank}`)
  }

  mustHold(page: number): boolean {
    const right = this.right(page)
    return this.#options.threads.some((thread) => thread.needs(page, right))
  }

  isAlive(): boolean {
    return true
  }

  // ---- running -------------------------------------------------------------------------------------------------------------------

  #step(): void {
    this.#cancelWait()
    for (;;) {
      while (this.#mesh.turn() || this.#runThreads());
      if (this.#mesh.prepareSleep()) break
    }
    this.#sleep()
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
    this.#process.wakeAt(Math.min(thinking, kernel.nowNs + SLEEP_NS_MAX))
  }

  #receive({ from, bytes }: MeshMessage): void {
    const decoded = this.#codec.decode(from, bytes)
    if (decoded === undefined) throw new ViolationError(`rank ${from} sent a message that is none`)
    this.#options.cluster.kernel.trace.add(decoded.message.kind)
    this.engine.receive(decoded.message)
  }

  #setRight(page: number, right: PageRight): void {
    this.#options.observer.rightChanged(this.rank, page, right, this.frame(page))
    this.#changed.add(page)
  }

  #lost(peer: number, reason: string): never {
    throw new ViolationError(`connection: rank ${this.rank} has lost rank ${peer}: ${reason}`)
  }
}

function nothing(): void {
  return
}
