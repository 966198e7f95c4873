import { setImmediate } from 'node:timers/promises'
import {
  openSimulatedCluster,
  type SimulatedCluster,
  type SimulatedFault,
  type SimulatedHost,
  type SimulatedProcess,
  type SimulationOptions,
  Stream,
} from '../../../src/providers/index.ts'
import { GroupStructures } from '../../../src/structures/distributed/group-structures.ts'
import type { MemoryRuntime } from '../../../src/structures/distributed/verbs/memory-runtime.ts'
import { VerbsMemory } from '../../../src/structures/distributed/verbs/verbs-memory.ts'
import { type CompletionChannel, openDevice } from '../../../src/verbs/index.ts'

/** Nobody sleeps longer, so that a wake-up that was lost is no more than a delay. */
const SLEEP_NS_MAX = 5_000_000
/** From a ring until the other rank is told. */
const RING_NS = 30_000
/** From a crash until the others are told. */
const NEWS_NS = 2_000_000

/** The structures of a group over simulated adapters, in virtual time. */
export class SimulatedWorld implements Disposable {
  readonly cluster: SimulatedCluster
  readonly ranks: readonly VerbsMemory[]
  readonly structures: readonly GroupStructures[]
  readonly crashed: Set<number> = new Set<number>()
  #dirty = false
  readonly #hosts: SimulatedHost[] = []
  /** Rings that a rank was told of. */
  rings = 0

  constructor(
    ranks: number,
    seed: number,
    options: SimulationOptions = {},
    homes?: readonly number[],
    segmentBytes?: number,
    lengthBytes: number = 1024 * 1024,
  ) {
    this.cluster = openSimulatedCluster(seed, options)
    this.ranks = Array.from({ length: ranks }, (_, rank) => {
      const host = this.cluster.addHost()
      this.#hosts.push(host)
      const device = openDevice(`${this.cluster.device}/${host.index}`)
      const runtime = new SimulatedRuntime(this.cluster, host, new Stream(seed, `rank ${rank}`, undefined), () => {
        this.#dirty = true
      })
      const ring = (to: number, home: number, place: number): void => this.#ring(rank, { to, home, place })
      return new VerbsMemory({
        rank,
        ranks,
        device,
        lengthBytes,
        ownBytes: lengthBytes,
        runtime,
        timeoutMs: 60_000,
        ring,
      })
    })
    for (const one of this.ranks)
      for (const other of this.ranks)
        if (one !== other) one.connect(other.rank, other.endpointFor(one.rank), other.place)
    const all = homes ?? this.ranks.map(({ rank }) => rank)
    this.structures = this.ranks.map((memory) => new GroupStructures(memory, all, async () => {}, segmentBytes))
  }

  /** A rank ends then, and the others hear of it a while later. */
  crash(rank: number, atNs: number): void {
    this.cluster.inject({ kind: 'crash', host: rank, atNs, lingerNs: 100_000 } satisfies SimulatedFault)
    this.cluster.kernel.at(atNs, () => this.crashed.add(rank))
    this.cluster.kernel.at(atNs + NEWS_NS, () => this.#tell(rank))
  }

  /** Let time pass until `work` is done. */
  async play<T>(work: Promise<T>): Promise<T> {
    let done = false
    const finished = work.finally(() => (done = true))
    finished.catch(() => {})
    await setImmediate()
    while (!done) {
      this.#dirty = false
      while (!this.#dirty) if (!this.cluster.kernel.step()) throw new Error('nothing happens any more')
      await setImmediate()
    }
    return await finished
  }

  [Symbol.dispose](): void {
    for (const memory of this.ranks) memory.close()
    this.cluster.close()
  }

  /**
   * Over channels of the group that lose nothing, unless an end of them is gone; a host that is paused is told when it
   * goes on.
   */
  #ring(
    from: number,
    { to, home, place }: { readonly to: number; readonly home: number; readonly place: number },
  ): void {
    if (this.crashed.has(from)) return
    const told = this.#hosts[to]!.spawn(() => {
      this.#dirty = true
      if (this.crashed.has(to)) return
      this.rings += 1
      this.ranks[to]!.rung(home, place)
    })
    told.wakeAt(this.cluster.nowNs + RING_NS)
  }

  #tell(rank: number): void {
    for (const memory of this.ranks) {
      if (this.crashed.has(memory.rank)) continue
      memory.memberEnded(rank, 'it crashed')
      this.structures[memory.rank]?.settle(rank).catch(() => {})
    }
    this.#dirty = true
  }
}

/**
 * A program on a simulated host: it goes on when its adapter has something for it, and not while the host is paused or
 * gone.
 */
class SimulatedRuntime implements MemoryRuntime {
  readonly #cluster: SimulatedCluster
  readonly #host: SimulatedHost
  readonly #stream: Stream
  readonly #ran: () => void
  #process: SimulatedProcess | undefined
  #cancelWait: () => void = () => {}

  constructor(cluster: SimulatedCluster, host: SimulatedHost, stream: Stream, ran: () => void) {
    this.#cluster = cluster
    this.#host = host
    this.#stream = stream
    this.#ran = ran
  }

  nowMs(): number {
    return this.#cluster.nowNs / 1e6
  }

  random(): number {
    return this.#stream.below(1000) / 1000
  }

  after(ms: number, done: () => void): () => void {
    let cancelled = false
    const process = this.#host.spawn(() => {
      this.#ran()
      if (!cancelled) done()
    })
    process.wakeAt(this.#cluster.nowNs + Math.ceil(ms * 1e6))
    return () => (cancelled = true)
  }

  drive(channel: CompletionChannel, turn: () => boolean, arm: () => boolean): void {
    this.#process ??= this.#host.spawn(() => this.#step(channel, turn, arm))
    this.#process.wake()
  }

  #step(channel: CompletionChannel, turn: () => boolean, arm: () => boolean): void {
    this.#cancelWait()
    this.#ran()
    if (!turn()) return
    channel.drain()
    if (!arm()) this.#process?.wake()
    this.#cancelWait = this.#host.whenReadable(channel.descriptor, () => this.#process?.wake())
    this.#process?.wakeAt(this.#cluster.nowNs + SLEEP_NS_MAX)
  }
}
