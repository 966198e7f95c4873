import { TraceLevel, traceChannel } from '../../profiling/index.ts'
import {
  Access,
  type BufferOrigin,
  CompletionBatch,
  type CompletionChannel,
  CompletionOpcode,
  type CompletionQueue,
  CompletionStatus,
  type Device,
  explainStatus,
  type MemoryRegion,
  openDevice,
  type ProtectionDomain,
  type RemoteEndpoint,
} from '../../verbs/index.ts'
import { MESSAGE_BYTES_MAX, RECEIVES_PER_LINK, SENDS_PER_LINK } from './mesh-limits.ts'
import { MeshLink, NO_RANK } from './mesh-link.ts'
import type { PeerEnds } from './peer-ends.ts'

const trace = traceChannel('cluster')
/** Idle turns between two looks for deaths. */
const IDLE_TURNS = 256

/** A message as its handler sees it: valid until the handler returns. */
export interface MeshMessage {
  readonly from: number
  readonly bytes: Uint8Array
}

/** How a peer is reached. */
export interface MeshPeer {
  readonly endpoint: RemoteEndpoint
  /** Undefined if its process number has no meaning here. */
  readonly processId: number | undefined
  /** The longest packet, in bytes; undefined if that does not apply. */
  readonly pathMtu: number | undefined
}

export interface MeshOptions {
  readonly rank: number
  readonly size: number
  /** The peers at first; by default all other ranks. */
  readonly peers?: readonly number[]
  /** How many peers there may be at a time; by default all other ranks. */
  readonly peersMax?: number
  /** Name of the verbs device. */
  readonly device: string
  readonly ends: PeerEnds
  /** A message has arrived. Its first byte says which channel it is for. */
  readonly onMessage: (message: MeshMessage) => void
  /**
   * A peer's process has ended. Everything it had sent has been handled, and the connection is closed. Called once per
   * peer.
   */
  readonly onEnd: (rank: number, reason: string) => void
  /**
   * A peer that was given up is stopped in the middle of a WRITE into memory of this process, and cannot be ended. It
   * would finish the WRITE if it were continued.
   */
  readonly onStuck: (rank: number) => void
  /** A peer cannot be reached, or does what no rank does; whether it has ended is not known. Called once per peer. */
  readonly onSuspicion: (rank: number, reason: string) => void
}

/**
 * Reliable connections from this agent to every other rank's: small messages in order, and one-sided writes ordered
 * with them. Belongs to the agent's thread. Nothing here waits: what does not fit into a send queue is kept, and posted
 * later, in order.
 *
 * Fencing: a survivor installs a view together with the queue pairs to excluded ranks in the error state. On RDMA
 * devices nothing from those ranks lands any more. On shm a rank that was stopped in the middle of a WRITE would finish
 * it. Its queue pair shows that; then the survivor ends that process before it uses the memory again. This holds for
 * the agents' memory, not for the rings between programs. An excluded rank finds its requests failing, has no quorum,
 * and ends with status 72.
 */
export class Mesh {
  readonly rank: number
  readonly size: number
  readonly #options: MeshOptions
  readonly #device: Device
  readonly #domain: ProtectionDomain
  readonly #channel: CompletionChannel
  readonly #queue: CompletionQueue
  readonly #links: (MeshLink | undefined)[]
  readonly #byNumber = new Map<number, MeshLink>()
  /** Links to processes that may become members. */
  readonly #candidates = new Map<number, MeshLink>()
  /** What a candidate sent before it was a member here. */
  #early: { readonly link: MeshLink; readonly bytes: Uint8Array }[] = []
  readonly #batch = new CompletionBatch(64)
  /** Received and not handled yet: link and slot, in order of arrival. */
  readonly #inbox: { link: MeshLink; slot: number; length: number }[] = []
  #idleTurns = 0

  constructor(options: MeshOptions) {
    const { rank, size } = options
    this.rank = rank
    this.size = size
    this.#options = options
    this.#device = openDevice(options.device)
    try {
      this.#domain = this.#device.createProtectionDomain()
      this.#channel = this.#device.createCompletionChannel()
      const { peersMax = size - 1 } = options
      const depth = Math.max(16, peersMax * (SENDS_PER_LINK + RECEIVES_PER_LINK))
      this.#queue = this.#device.createCompletionQueue({ depth, channel: this.#channel })
      this.#links = Array.from({ length: size }, (_, peer) =>
        peer === rank || options.peers?.includes(peer) === false ? undefined : this.#newLink(peer),
      )
    } catch (error) {
      this.#device.close()
      throw error
    }
  }

  #newLink(peer: number): MeshLink {
    const link = new MeshLink(peer, this.#domain, this.#queue)
    this.#byNumber.set(link.number, link)
    return link
  }

  // ---- candidates
  // ----------------------------------------------------------------------------------------------------------------

  /** Make ready for a process that may become a member. Returns how it reaches us. */
  prepare(candidate: number, { endpoint, pathMtu }: Omit<MeshPeer, 'processId'>): RemoteEndpoint {
    const link = this.#newLink(NO_RANK)
    this.#candidates.set(candidate, link)
    try {
      link.connect(endpoint, this.#device.attributes.linkLayer, pathMtu)
      return link.endpoint
    } catch (error) {
      this.drop(candidate)
      throw error
    }
  }

  /** The candidate is rank `rank` now. What it has sent is handled from now on. False if nothing is known of it. */
  promote(candidate: number, rank: number): boolean {
    const link = this.#candidates.get(candidate)
    if (link === undefined) return false
    this.#candidates.delete(candidate)
    link.peer = rank
    this.#links[rank] = link
    return true
  }

  /** The candidate cannot become a member. */
  drop(candidate: number): void {
    const link = this.#candidates.get(candidate)
    if (link === undefined) return
    this.#candidates.delete(candidate)
    this.#byNumber.delete(link.number)
    link.close()
    this.#early = this.#early.filter(({ link }) => !link.dead)
  }

  /** Watch over the process of a member. False if it has ended. */
  watch(peer: number, processId: number): boolean {
    return this.#options.ends.watch(peer, processId)
  }

  /** What each peer needs to connect to us, by its rank. */
  endpointFor(peer: number): RemoteEndpoint {
    return this.#links[peer]!.endpoint
  }

  /**
   * Connect to `peer`, whose agent is in process `processId` of this machine, or on another. Returns false if that
   * process has ended.
   */
  connect(peer: number, { endpoint, processId, pathMtu }: MeshPeer): boolean {
    const { ends } = this.#options
    if (processId !== undefined && !ends.watch(peer, processId)) return false
    try {
      this.#links[peer]!.connect(endpoint, this.#device.attributes.linkLayer, pathMtu)
      return true
    } catch (error) {
      if (processId !== undefined && ends.isEnding(peer)) return false
      throw error
    }
  }

  /** Register memory that peers write pages to, and that we write pages from. Simulated devices need no `origin`. */
  register(bytes: Uint8Array, origin?: BufferOrigin): MemoryRegion {
    return this.#domain.register(bytes, Access.LocalWrite | Access.RemoteWrite, origin)
  }

  isAlive(peer: number): boolean {
    return peer === this.rank || this.#links[peer]?.dead === false
  }

  /** Send a copy of `bytes` (at most {@link MESSAGE_BYTES_MAX}). If the peer is dead, nothing happens. */
  send(peer: number, bytes: Uint8Array): void {
    this.#links[peer]?.send(bytes)
  }

  /**
   * Write registered memory into the peer's, before every later message to it. The source must not change until the
   * peer has answered.
   */
  write(
    peer: number,
    source: { address: number; key: number },
    lengthBytes: number,
    target: { address: number; key: number },
  ): void {
    this.#links[peer]?.write(source, lengthBytes, target)
  }

  /** Call `done` when all that was queued to be written has completed: the sources are no longer read. */
  afterWrites(done: () => void): void {
    const links = this.#links.filter((link) => link !== undefined)
    let left = links.length
    if (left === 0) done()
    for (const link of links) {
      link.afterWrites(() => {
        left -= 1
        if (left === 0) done()
      })
    }
  }

  /** Call `ready` once when a message has arrived, without a descriptor. Returns a function that cancels it. */
  whenReadable(ready: () => void): () => void {
    return this.#channel.whenReadable(ready)
  }

  /** For poll(2): readable while there is something to do. */
  get descriptors(): number[] {
    return [this.#channel.descriptor, ...this.#options.ends.descriptors]
  }

  /** Handle what has arrived. Returns true if there was anything. */
  turn(): boolean {
    this.#reap()
    if (this.#handleInbox()) return true
    // Look for deaths when there is nothing else to do: before sleeping (a readable descriptor ends the sleep at once),
    // and from time to time if no sleep comes.
    this.#idleTurns = (this.#idleTurns + 1) % IDLE_TURNS
    return this.#idleTurns === 0 && this.#lookForDeaths()
  }

  /** Arm the completion channel. Returns false if something has arrived in the meantime. */
  prepareSleep(): boolean {
    this.#channel.drain()
    this.#queue.arm()
    this.#reap()
    return this.#inbox.length === 0 && !this.#lookForDeaths()
  }

  /** The peer has sent what no rank sends: nothing more is sent to it. */
  reject(peer: number): void {
    const link = this.#links[peer]
    if (link !== undefined) link.broken ??= 'it sent a malformed message'
  }

  /** Ranks that have sent something since the last call. */
  takeHeard(): number[] {
    const heard: number[] = []
    for (const link of this.#links) {
      if (link?.heard !== true) continue
      link.heard = false
      heard.push(link.peer)
    }
    return heard
  }

  /**
   * Close the connection to `peer` for good, after what it has sent was handled. Nothing that it may still have under
   * way arrives here.
   */
  bury(peer: number): void {
    const link = this.#links[peer]
    if (link?.dead === false) this.#bury(link)
  }

  close(): void {
    this.#options.ends.close()
    this.#device.close()
  }

  /** Take completions off the queue: sends make room, receives go to the inbox. */
  #reap(): void {
    const batch = this.#batch
    for (let count = this.#queue.poll(batch); count > 0; count = this.#queue.poll(batch)) {
      for (let row = 0; row < count; row += 1) this.#complete(batch, row)
    }
  }

  #complete(batch: CompletionBatch, row: number): void {
    const link = this.#byNumber.get(batch.queuePairNumber[row]!)
    if (link === undefined || link.dead) return
    const status = batch.status[row]!
    if (status !== CompletionStatus.Success) link.broken ??= explainStatus(status)
    else if (batch.opcode[row] === CompletionOpcode.Receive)
      this.#inbox.push({ link, slot: batch.id[row]!, length: batch.byteLength[row]! })
    else link.completed(batch.id[row]!)
  }

  #handleInbox(): boolean {
    const any = this.#handleEarly()
    const count = this.#inbox.length
    for (let left = count; left > 0; left -= 1) {
      // A handler may bury a peer, which handles everything that is here.
      const received = this.#inbox.shift()
      if (received === undefined) break
      const { link, slot, length } = received
      link.heard = true
      const bytes = link.received(slot, length)
      if (link.peer === NO_RANK) this.#early.push({ link, bytes: bytes.slice() })
      else this.#options.onMessage({ from: link.peer, bytes })
      link.repost(slot)
    }
    return count > 0 || any
  }

  /** It comes before what a new member has sent since. */
  #handleEarly(): boolean {
    const isReady = ({ link }: { readonly link: MeshLink }): boolean => link.peer !== NO_RANK
    const ready = this.#early.length === 0 ? [] : this.#early.filter(isReady)
    if (ready.length === 0) return false
    this.#early = this.#early.filter((each) => !isReady(each))
    for (const { link, bytes } of ready) if (!link.dead) this.#options.onMessage({ from: link.peer, bytes })
    return true
  }

  #lookForDeaths(): boolean {
    const { ends } = this.#options
    ends.refresh()
    let any = false
    for (const link of this.#links) {
      if (link === undefined || link.dead) continue
      const notice = ends.look(link.peer)
      if (notice?.certain === true) any = this.#end(link, notice.why)
      else if (link.broken !== undefined || notice !== undefined)
        any = this.#suspect(link, notice?.why ?? link.broken!) || any
    }
    return any
  }

  #end(link: MeshLink, reason: string): true {
    this.#bury(link)
    this.#options.onEnd(link.peer, reason)
    return true
  }

  #suspect(link: MeshLink, reason: string): boolean {
    if (link.suspected) return false
    link.suspected = true
    this.#options.onSuspicion(link.peer, reason)
    return true
  }

  #kill(peer: number): boolean {
    trace.publish(TraceLevel.Warn, 'killed', () => ({ of: peer, why: 'it was stopped in the middle of a WRITE' }))
    return this.#options.ends.kill(peer)
  }

  #bury(link: MeshLink): void {
    // What it sent before it ended comes first.
    this.#reap()
    while (this.#handleInbox()) this.#reap()
    // A message that was handled now may have buried it.
    if (link.dead) return
    const { ends, onStuck, peersMax } = this.#options
    if (!link.bury() && !this.#kill(link.peer)) onStuck(link.peer)
    ends.forget(link.peer)
    // In a group that grows its rank is not given again.
    if (peersMax === undefined) return
    this.#byNumber.delete(link.number)
    link.close()
  }
}
