import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import type { TestContext } from 'node:test'
import { openPeers, type PeerGroup, type PeerLimits, type Peers, type VerbsLink } from '../../../src/messaging/index.ts'
import {
  openSimulatedCluster,
  type SimulatedCluster,
  type SimulatedFault,
  type SimulationOptions,
} from '../../../src/providers/index.ts'
import { connectSimulated, openLinkHost } from '../simulated-links.ts'

export interface SimulatedMeshOptions extends PeerLimits {
  /**
   * Ask a silent peer whether it is there after so long; default 0, never, so that no probe moves on what has got
   * stuck.
   */
  readonly keepAliveMs?: number
  /** Connections between each two, all attached at once; default 1. */
  readonly linksEach?: number
}

/** Time goes from event to event, and at most by this, so that timers are in time. */
const STEP_NS_MAX = 1_000_000
const NS_PER_MS = 1e6

type Distribute<Fault> = Fault extends unknown ? Omit<Fault, 'atNs'> : never

/**
 * Everybody connected with everybody over a simulated network: each peer is a host. Timers and the clock of this
 * process stand still but for what `drive` lets pass, so that all limits of time are in virtual time and a seed takes
 * the same course on any machine.
 */
export class SimulatedMesh {
  readonly peers: readonly Peers[]
  readonly cluster: SimulatedCluster
  readonly #links: readonly (readonly VerbsLink[])[]
  readonly #timers: TestContext['mock']['timers']

  private constructor(
    cluster: SimulatedCluster,
    peers: readonly Peers[],
    links: readonly (readonly VerbsLink[])[],
    timers: TestContext['mock']['timers'],
  ) {
    this.cluster = cluster
    this.peers = peers
    this.#links = links
    this.#timers = timers
  }

  static async open(
    t: TestContext,
    size: number,
    seed: number,
    simulation: SimulationOptions,
    { keepAliveMs = 0, linksEach = 1, ...limits }: SimulatedMeshOptions = {},
  ): Promise<SimulatedMesh> {
    const cluster = openSimulatedCluster(seed, simulation)
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
    t.mock.method(performance, 'now', () => cluster.nowNs / NS_PER_MS)
    const peers = Array.from({ length: size }, (_, number) => openPeers({ number, ...limits }))
    const hosts = peers.map(() => openLinkHost(cluster.device))
    const links: VerbsLink[][] = peers.map(() => [])
    const meetings: Promise<unknown>[] = []
    for (let low = 0; low < size; low += 1) {
      for (let high = low + 1; high < size; high += 1) {
        const settings = { ringBytes: 4096, receives: 8, sends: 16, keepAliveMs }
        for (let link = 0; link < linksEach; link += 1) {
          const [here, there] = connectSimulated(hosts[low]!, hosts[high]!, settings)
          links[low]!.push(here)
          links[high]!.push(there)
          meetings.push(peers[low]!.attach(here), peers[high]!.attach(there))
        }
      }
    }
    const mesh = new SimulatedMesh(cluster, peers, links, t.mock.timers)
    await mesh.drive(Promise.all(meetings), 1000)
    return mesh
  }

  /** A group at each of the members, by rank. */
  groups(members: readonly number[] = this.peers.map(({ number }) => number)): PeerGroup[] {
    return members.map((member) => this.peers[member]!.group(members))
  }

  /** A fault so long from now on. */
  inject(afterMs: number, fault: Distribute<SimulatedFault>): void {
    this.cluster.inject({ ...fault, atNs: this.cluster.nowNs + afterMs * NS_PER_MS } as SimulatedFault)
  }

  /** Links of a peer that have not ended. */
  openLinksOf(number: number): number {
    return this.#links[number]!.filter((link) => link.open).length
  }

  get nowMs(): number {
    return this.cluster.nowNs / NS_PER_MS
  }

  /** Let time pass until the promise is settled. Fails where that takes more than so much virtual time. */
  async drive<T>(promise: Promise<T>, mostMs: number): Promise<T> {
    const untilNs = this.cluster.nowNs + mostMs * NS_PER_MS
    let settled = false
    const end = (): void => {
      settled = true
    }
    promise.then(end, end)
    for (;;) {
      const came = this.#pollAll()
      // Whatever hangs on it: promises, and what leaves at the end of a turn.
      await new Promise(setImmediate)
      if (settled) return await promise
      assert.ok(this.cluster.nowNs <= untilNs, `not over after ${mostMs} ms of virtual time`)
      if (came === 0) this.#pass()
    }
  }

  /** Those that are alive say goodbye. */
  async close(): Promise<void> {
    const living = this.peers.filter((_, number) => this.cluster.hosts[number]!.alive)
    // A peer that does not answer any more is waited for until closeTimeoutMs.
    await this.drive(Promise.all(living.map((peers) => peers.close())), 20_000)
    for (const [number, links] of this.#links.entries())
      if (!this.cluster.hosts[number]!.alive) for (const link of links) link.destroy()
    this.cluster.close()
  }

  /** Programs of hosts that are there and not paused look at what has come. */
  #pollAll(): number {
    let came = 0
    for (const [number, links] of this.#links.entries()) {
      const host = this.cluster.hosts[number]!
      if (host.alive && !host.paused) for (const link of links) came += link.poll()
    }
    return came
  }

  #pass(): void {
    const { kernel } = this.cluster
    const before = Math.floor(this.nowMs)
    this.cluster.advance(Math.max(1, Math.min(kernel.nextNs - kernel.nowNs, STEP_NS_MAX)))
    const passed = Math.floor(this.nowMs) - before
    if (passed > 0) this.#timers.tick(passed)
  }
}
