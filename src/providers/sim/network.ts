import type { Gid } from '../gid.ts'
import type { Host } from './host.ts'
import type { Kernel } from './kernel.ts'
import type { NetworkOptions } from './options.ts'
import { HEADER_BYTES, type Packet, PacketKind } from './packet.ts'
import type { Stream } from './stream.ts'

/** What is wrong with the path from one host to another. */
interface Path {
  cuts: number
  loss: number
  delayNs: number
}

/** A device on the network. */
interface AttachedDevice {
  readonly host: Host
  findPair(number: number): { take(packet: Packet): void } | undefined
}

/**
 * Carries packets: each may be late, lost, or arrive twice. Packets from one queue pair to another keep their order
 * unless an option says otherwise.
 */
export class Network {
  readonly devices: Map<Gid, AttachedDevice> = new Map<Gid, AttachedDevice>()
  readonly #kernel: Kernel
  readonly #options: NetworkOptions
  readonly #paths = new Map<number, Path>()
  readonly #streams = new Map<string, Stream>()
  /** Packets that were put on a link. */
  packets = 0
  lost = 0

  constructor(kernel: Kernel, options: NetworkOptions) {
    this.#kernel = kernel
    this.#options = options
  }

  /** The time that a packet with that many bytes of payload takes on a link. */
  wireNs(payloadBytes: number): number {
    return Math.ceil(((payloadBytes + HEADER_BYTES) * 8) / this.#options.gigabitsPerSecond)
  }

  /** What is wrong with the path; faults change it. */
  path(from: number, to: number): Path {
    const key = from * 65_536 + to
    let path = this.#paths.get(key)
    if (path === undefined) {
      path = { cuts: 0, loss: 0, delayNs: 0 }
      this.#paths.set(key, path)
    }
    return path
  }

  /** The packet leaves its host now. */
  send(packet: Packet): void {
    const { host } = packet.source
    const target = this.devices.get(packet.targetGid)
    this.packets += 1
    if (target === undefined || this.#isLost(host, target.host)) {
      this.lost += 1
      return
    }
    const arrivalNs = this.#arrivalNs(packet, host, target.host)
    this.#kernel.at(arrivalNs, () => this.#deliver(packet))
    if (!this.#stream('duplicate').chance(this.#options.duplicate)) return
    const againNs = arrivalNs + this.#stream('duplicate').between(0, this.#options.delayNs)
    this.#kernel.at(againNs, () => this.#deliver(packet))
  }

  #isLost(from: Host, to: Host): boolean {
    const lost = this.#stream('loss').chance(this.#options.loss)
    const path = this.#paths.get(from.index * 65_536 + to.index)
    if (!from.linkUp || path === undefined) return lost || !from.linkUp
    return lost || path.cuts > 0 || this.#stream('path').chance(path.loss)
  }

  #arrivalNs(packet: Packet, from: Host, to: Host): number {
    const { delayNs, jitterNs, tail, tailNs, reorder } = this.#options
    const clogNs = this.#paths.get(from.index * 65_536 + to.index)?.delayNs ?? 0
    const lateNs = this.#stream('tail').chance(tail) ? this.#stream('tail').between(0, tailNs) : 0
    const soonestNs = this.#kernel.nowNs + delayNs + this.#stream('delay').between(0, jitterNs) + lateNs + clogNs
    const { flow } = packet
    if (this.#stream('reorder').chance(reorder)) return soonestNs + this.#stream('reorder').between(0, 2 * delayNs)
    flow.lastArrivalNs = Math.max(flow.lastArrivalNs, soonestNs)
    return flow.lastArrivalNs
  }

  #deliver(packet: Packet): void {
    const target = this.devices.get(packet.targetGid)
    if (target === undefined || !target.host.serving || !target.host.linkUp) return
    if (packet.source.host.isInWrite && packet.kind === PacketKind.Request) return
    const { trace } = this.#kernel
    trace.add(packet.kind)
    trace.add(packet.targetNumber)
    trace.add(packet.payload.length)
    target.findPair(packet.targetNumber)?.take(packet)
  }

  #stream(what: string): Stream {
    let stream = this.#streams.get(what)
    if (stream === undefined) {
      stream = this.#kernel.stream(`net.${what}`)
      this.#streams.set(what, stream)
    }
    return stream
  }
}
