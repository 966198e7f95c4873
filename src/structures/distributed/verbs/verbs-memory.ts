import { ArgumentError, ClosedError } from '../../../native/index.ts'
import {
  Access,
  CompletionBatch,
  type CompletionChannel,
  type CompletionQueue,
  CompletionStatus,
  type Device,
  explainStatus,
  type MemoryRegion,
  type RemoteEndpoint,
} from '../../../verbs/index.ts'
import type { Command } from '../memory/command.ts'
import { BATCH_MAX, type GroupMemory } from '../memory/group-memory.ts'
import { BatchInFlight, stagedBytes } from './batch-in-flight.ts'
import { HomeLink, type PartAddress, REQUESTS_MAX } from './home-link.ts'
import type { MemoryRuntime } from './memory-runtime.ts'
import { StagingSlabs } from './staging-slabs.ts'

const COMPLETIONS_AT_ONCE = 64
const WHAT = 'the structures of the group'

/** What {@link VerbsMemory} is made of. */
export interface VerbsMemoryOptions {
  readonly rank: number
  readonly ranks: number
  /** Closed with it. */
  readonly device: Device
  /** Bytes at each home, and at this rank: one that keeps nothing needs none to speak of. */
  readonly lengthBytes: number
  readonly ownBytes: number
  readonly runtime: MemoryRuntime
  /**
   * How long a batch may be waited for, once it is on its way, before its home counts as lost. Time in which this
   * program did not run does not count.
   */
  readonly timeoutMs: number
  /** Carries a ring to another rank, whose {@link VerbsMemory.rung} is called then. Waits for nothing. */
  readonly ring: (rank: number, home: number, place: number) => void
}

/**
 * The seam over verbs, for every provider. A rank reaches its own memory over a queue pair that is connected to itself.
 * A device's atomics are atomic among themselves, and not always towards the processor (`device.attributes.atomics`).
 */
export class VerbsMemory implements GroupMemory {
  readonly rank: number
  readonly ranks: number
  readonly lengthBytes: number
  roundTrips = 0
  /** This rank's part; for its own recovery, and for tests. */
  readonly part: MemoryRegion
  /** The same, in words. */
  readonly #own: BigInt64Array
  readonly #options: VerbsMemoryOptions
  readonly #staging: StagingSlabs
  readonly #channel: CompletionChannel
  readonly #queue: CompletionQueue
  readonly #links: readonly HomeLink[]
  readonly #byNumber: ReadonlyMap<number, HomeLink>
  readonly #batch = new CompletionBatch(COMPLETIONS_AT_ONCE)
  readonly #sleepers = new Set<() => void>()
  #onRing: (home: number, place: number) => void = () => {}
  readonly #gone = new Set<number>()
  readonly #turn = (): boolean => this.#progress()
  readonly #arm = (): boolean => this.#prepareSleep()

  constructor(options: VerbsMemoryOptions) {
    const { rank, ranks, device, lengthBytes, ownBytes } = options
    this.rank = rank
    this.ranks = ranks
    this.lengthBytes = lengthBytes
    this.#options = options
    const domain = device.createProtectionDomain()
    const all = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic
    this.part = domain.allocate(ownBytes, all)
    const { buffer, byteOffset } = this.part.bytes
    this.#own = new BigInt64Array(buffer, byteOffset, ownBytes / 8)
    this.#staging = new StagingSlabs(domain)
    this.#channel = device.createCompletionChannel()
    this.#queue = device.createCompletionQueue({ depth: ranks * (REQUESTS_MAX + 1), channel: this.#channel })
    this.#links = Array.from({ length: ranks }, (_, home) => new HomeLink(home, options.timeoutMs, domain, this.#queue))
    this.#byNumber = new Map(this.#links.map((link) => [link.number, link]))
    this.connect(rank, this.endpointFor(rank), this.place)
  }

  /** Where this rank's part is, for the others. */
  get place(): PartAddress {
    return { address: this.part.address, key: this.part.remoteKey }
  }

  /** What rank `peer` connects to. */
  endpointFor(peer: number): RemoteEndpoint {
    return this.#link(peer).endpoint
  }

  connect(peer: number, remote: RemoteEndpoint, memory: PartAddress): void {
    this.#link(peer).connect(remote, memory, this.#options.device.attributes.linkLayer)
  }

  /** Rank `rank` is out of the group: nothing reaches it any more, and nothing of it this rank's memory. */
  memberEnded(rank: number, why: string): void {
    this.#gone.add(rank)
    if (!this.closed) this.#link(rank).lose(why)
    for (const wake of [...this.#sleepers]) wake()
  }

  get closed(): boolean {
    return this.#options.device.closed
  }

  isMember(rank: number): boolean {
    return !this.#gone.has(rank)
  }

  nowMs(): number {
    return this.#options.runtime.nowMs()
  }

  random(): number {
    return this.#options.runtime.random()
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        cancel()
        this.#sleepers.delete(wake)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      this.#sleepers.add(wake)
      const cancel = this.#options.runtime.after(ms, wake)
      signal?.addEventListener('abort', wake)
    })
  }

  ring(rank: number, home: number, place: number): void {
    if (!this.closed) this.#options.ring(rank, home, place)
  }

  onRing(listener: (home: number, place: number) => void): void {
    this.#onRing = listener
  }

  /** Another rank has rung. */
  rung(home: number, place: number): void {
    if (!this.closed) this.#onRing(home, place)
  }

  run(home: number, what: string, commands: readonly Command[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#check(commands)
      const staged = this.#staging.take(stagedBytes(commands))
      this.roundTrips += 1
      this.#link(home).start(new BatchInFlight(what, commands, staged, { resolve, reject }))
      this.#options.runtime.drive(this.#channel, this.#turn, this.#arm)
    })
  }

  storeOwn(offset: number, value: bigint): void {
    // A full barrier: in shared memory this thread itself carries out what it begins next, and must not do so before
    // others can see this.
    if (!this.closed) Atomics.store(this.#own, offset / 8, value)
  }

  loadOwn(offset: number): bigint {
    return this.closed ? 0n : BigInt.asUintN(64, Atomics.load(this.#own, offset / 8))
  }

  close(): void {
    if (this.closed) return
    const closed = (): Error => new ClosedError(WHAT)
    for (const link of this.#links) link.lose('the structures were closed', closed)
    for (const wake of [...this.#sleepers]) wake()
    this.#options.device.close()
  }

  #check(commands: readonly Command[]): void {
    if (this.closed) throw new ClosedError(WHAT)
    if (commands.length < 1 || commands.length > BATCH_MAX)
      throw new ArgumentError('batch', `a batch has 1 to ${BATCH_MAX} commands, not ${commands.length}`)
    for (const { offset, length } of commands) {
      if (offset >= 0 && offset + length <= this.lengthBytes) continue
      throw new ArgumentError('offset', `[${offset}, ${offset + length}) is not within ${this.lengthBytes} bytes`)
    }
  }

  /** Take what has completed. True while something is under way. */
  #progress(): boolean {
    if (this.closed) return false
    const batch = this.#batch
    for (let count = this.#queue.poll(batch); count > 0; count = this.#queue.poll(batch)) {
      for (let row = 0; row < count; row += 1) this.#complete(batch, row)
    }
    const now = this.nowMs()
    let any = false
    for (const link of this.#links) {
      link.lookedAt(now)
      if (link.outstanding > 0) any = true
    }
    return any
  }

  #complete(batch: CompletionBatch, row: number): void {
    const link = this.#byNumber.get(batch.queuePairNumber[row]!)
    const status = batch.status[row]!
    if (status === CompletionStatus.Success) link?.completed()
    else link?.lose(explainStatus(status))
  }

  #prepareSleep(): boolean {
    if (this.closed) return false
    this.#queue.arm()
    const before = this.#queue.poll(this.#batch)
    for (let row = 0; row < before; row += 1) this.#complete(this.#batch, row)
    return before === 0
  }

  #link(home: number): HomeLink {
    const link = this.#links[home]
    if (link === undefined) throw new ArgumentError('rank', `there is no rank ${home} of ${this.ranks}`)
    return link
  }
}
