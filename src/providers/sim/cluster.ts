import { checkFunction, checkMilliseconds } from '../../native/index.ts'
import type { OpenDeviceOptions } from '../contract.ts'
import type { Gid } from '../gid.ts'
import type { Place } from './context.ts'
import { SimDevice } from './device.ts'
import { checkFault, type SimulatedFault } from './fault.ts'
import { Host } from './host.ts'
import { inject } from './inject.ts'
import { Kernel } from './kernel.ts'
import { Network } from './network.ts'
import { checkTime } from './numbers.ts'
import { type AdapterOptions, defaultAdapter, defaultNetwork, type SimulationOptions } from './options.ts'
import { Stream } from './stream.ts'
import type { XrcMembers } from './xrc-domain.ts'

/** The first 16 bits of every gid of this provider: a unique local address (RFC 4193). */
const GID_PREFIX = 0xfd53n

/** A cluster in one process, in virtual time: hosts, the network between them, and what goes wrong. */
export class SimulatedCluster {
  /**
   * A name for `openDevice`: each opening is a host of its own. For hosts with names of their own, see {@link addHost}.
   */
  readonly device: string
  /** @internal */
  readonly kernel: Kernel
  /** @internal */
  readonly network: Network
  /** @internal Draws numbers that only have to differ, so `choose` does not decide them. */
  readonly names: Stream
  readonly gigabitsPerSecond: number
  /** @internal */
  readonly atomics: 'device' | 'global'
  /** @internal */
  readonly xrcDomains: Map<string, XrcMembers> = new Map<string, XrcMembers>()
  readonly #adapter: AdapterOptions
  readonly #advanceOnPoll: boolean
  readonly #hosts: Host[] = []
  readonly #groups = new Map<Gid, Map<string, Place>>()
  readonly #onClose: () => void
  #numbers = 16
  #devices = 0

  /** @internal Created by {@link openSimulatedCluster}. */
  constructor(device: string, seed: number, options: SimulationOptions, onClose: () => void) {
    const network = withDefaults(defaultNetwork, options.network)
    this.device = device
    this.kernel = new Kernel(seed, options.choose)
    this.network = new Network(this.kernel, network)
    this.names = new Stream(seed, 'names', undefined)
    this.gigabitsPerSecond = network.gigabitsPerSecond
    this.atomics = options.atomics ?? 'device'
    this.#adapter = withDefaults(defaultAdapter, options.adapter)
    this.#advanceOnPoll = options.advanceOnPoll ?? false
    this.#onClose = onClose
    for (const fault of options.faults ?? []) this.inject(fault)
  }

  get nowNs(): number {
    return this.kernel.nowNs
  }

  /** Sixteen hexadecimal digits, equal for two runs that took the same course. */
  get traceHash(): string {
    return this.kernel.trace.text
  }

  get hosts(): readonly Host[] {
    return this.#hosts
  }

  /** Add a host; its device is opened by the name `${cluster.device}/${host.index}`. */
  addHost(): Host {
    const host = new Host(this.#hosts.length, this.kernel, this.#adapter)
    this.#hosts.push(host)
    return host
  }

  /** Let a fault happen at its time. Hosts that do not exist yet may be added until then. */
  inject(fault: SimulatedFault): void {
    checkFault(fault)
    inject(this, fault)
  }

  /** Let that much time pass. */
  advance(ns: number): void {
    checkTime('ns', ns)
    this.kernel.runTo(this.kernel.nowNs + ns)
  }

  /**
   * Let time pass until `predicate` holds; it is evaluated before the first event and after every event. Returns false
   * if it does not hold within `timeoutMs` of virtual time (default 10,000), or if nothing is left to happen.
   */
  runUntil(predicate: () => boolean, timeoutMs = 10_000): boolean {
    checkFunction('predicate', predicate, 'which returns whether to stop')
    checkMilliseconds('timeoutMs', timeoutMs)
    const deadlineNs = this.kernel.nowNs + timeoutMs * 1e6
    while (!predicate()) {
      if (this.kernel.nextNs > deadlineNs || !this.kernel.step()) return false
    }
    return true
  }

  close(): void {
    this.kernel.clear()
    this.#onClose()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  /** @internal */
  open(name: string, options: OpenDeviceOptions): SimDevice | undefined {
    if (name === this.device) return this.#open(this.addHost(), name, options)
    const [prefix, index] = name.split('/')
    const host = prefix === this.device ? this.#hosts[Number(index)] : undefined
    return host === undefined ? undefined : this.#open(host, name, options)
  }

  /** @internal Numbers of queue pairs, protection domains and shared receive queues: never reused. */
  nextNumber(): number {
    this.#numbers += 1
    return this.#numbers
  }

  /** @internal A program outside the simulation has found nothing to do. */
  polled(): void {
    if (this.#advanceOnPoll && !this.kernel.running) this.kernel.step()
  }

  /** @internal */
  join(group: Gid, member: Place): void {
    const members = this.#groups.get(group) ?? new Map<string, Place>()
    members.set(keyOf(member), member)
    this.#groups.set(group, members)
  }

  /** @internal */
  leave(group: Gid, member: Place): void {
    this.#groups.get(group)?.delete(keyOf(member))
  }

  /** @internal */
  multicastMembers(group: Gid): readonly Place[] {
    return [...(this.#groups.get(group)?.values() ?? [])]
  }

  #open(host: Host, name: string, options: OpenDeviceOptions): SimDevice {
    this.#devices += 1
    const gid = (GID_PREFIX << 112n) | (BigInt(host.index + 1) << 64n) | (BigInt(this.#devices) << 16n) | 1n
    return new SimDevice(this, host, gid, name, options)
  }
}

/** An option whose value is undefined counts as not given. */
function withDefaults<T extends object>(defaults: T, given: Partial<T> = {}): T {
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...defaults, ...(Object.fromEntries(set) as Partial<T>) }
}

function keyOf({ gid, number }: Place): string {
  return `${gid}/${number}`
}
