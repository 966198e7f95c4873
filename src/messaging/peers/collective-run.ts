import type { BufferName, ElementArray, Kernel, Plan, Range, RunMemory } from '../../collectives/index.ts'
import { combining } from './combining.ts'
import { FrameKind } from './frame.ts'
import { IncomingPieces, OutgoingStream } from './streams.ts'

/** What a run needs from its group. */
export interface RunOwner {
  readonly group: number
  readonly eagerBytes: number
  /** The stream has bytes that may leave. */
  push(rank: number, stream: OutgoingStream): void
  drop(rank: number, stream: OutgoingStream): void
  /** The rank may send this many bytes of its stream. */
  grant(rank: number, run: CollectiveRun, limit: number): void
  /** Everything is done here. */
  finished(run: CollectiveRun): void
  /** The caller's own function threw. */
  threw(error: unknown): void
}

let runs = 0

/**
 * One collective under way: executes a schedule, round by round, as bytes come and room is found. It has no clock and
 * no promises.
 */
export class CollectiveRun {
  readonly sequence: number
  readonly plan: Plan
  /** Unique in this thread: a thread may be in several groups, and traces its slices. */
  readonly id: number = ++runs
  readonly #owner: RunOwner
  readonly #kernel: Kernel | undefined
  readonly #arrays: Readonly<Record<BufferName, ElementArray>>
  readonly #bytes: Readonly<Record<BufferName, Uint8Array>>
  readonly #incoming = new Map<number, IncomingPieces>()
  readonly #outgoing = new Map<number, OutgoingStream>()
  #round = -1
  /** Exchanges of this round that are not done. */
  #pending = 0
  #advancing = false
  /** True once it is done here, or given up. */
  over = false

  constructor(sequence: number, plan: Plan, memory: RunMemory, owner: RunOwner) {
    this.sequence = sequence
    this.plan = plan
    this.#owner = owner
    this.#kernel = memory.kernel
    const scratch = plan.kind.allocate(plan.schedule.scratchCount)
    this.#arrays = { input: memory.input, output: memory.output, scratch }
    this.#bytes = { input: bytesOf(memory.input), output: bytesOf(memory.output), scratch: bytesOf(scratch) }
    for (const [rank, total] of plan.receives) this.#incoming.set(rank, new IncomingPieces(total, owner.eagerBytes))
    const sent = (ranges: number): void => this.#done(ranges)
    for (const [rank, total] of plan.sends) {
      const stream = new OutgoingStream({
        kind: FrameKind.Data,
        sequence,
        signature: plan.signature,
        group: owner.group,
        total,
        limit: owner.eagerBytes,
        sent,
      })
      this.#outgoing.set(rank, stream)
    }
  }

  /** Ranks whose bytes are awaited. */
  awaited(): number[] {
    return [...this.#incoming].filter(([, stream]) => stream.awaited).map(([rank]) => rank)
  }

  /** Ranks that have not yet taken what this round sends them. */
  unsent(): number[] {
    return [...this.#outgoing].filter(([, stream]) => stream.unsent).map(([rank]) => rank)
  }

  /** True if all that comes from a rank has come, and all that goes to it has left. */
  isDoneWith(rank: number): boolean {
    const { complete: hasCome = true } = this.#incoming.get(rank) ?? {}
    const { complete: hasLeft = true } = this.#outgoing.get(rank) ?? {}
    return hasCome && hasLeft
  }

  start(): void {
    this.#advance()
  }

  /**
   * Bytes have come from a rank; `total` is what it says it will send. Returns false if that does not fit what was
   * called here.
   */
  take(rank: number, total: number, bytes: Uint8Array, at: number, length: number): boolean {
    const stream = this.#incoming.get(rank)
    if (stream?.total !== total) return false
    const filled = stream.take(bytes, at, length)
    if (filled > 0) this.#done(filled)
    return filled >= 0
  }

  grant(rank: number, limit: number): void {
    const stream = this.#outgoing.get(rank)
    if (stream === undefined || this.over) return
    stream.grant(limit)
    this.#owner.push(rank, stream)
  }

  /** The collective will not go on. */
  abandon(): void {
    this.over = true
    for (const [rank, stream] of this.#outgoing) this.#owner.drop(rank, stream)
  }

  #done(exchanges: number): void {
    this.#pending -= exchanges
    if (this.#pending === 0) this.#advance()
  }

  #advance(): void {
    if (this.#advancing) return
    this.#advancing = true
    try {
      while (this.#pending === 0 && !this.over) this.#nextRound()
    } finally {
      this.#advancing = false
    }
  }

  #nextRound(): void {
    const { rounds } = this.plan.schedule
    if (this.#round >= 0) this.#localSteps()
    // The program's own function may have thrown, or ended the group.
    if (this.over) return
    this.#round += 1
    if (this.#round === rounds.length) {
      this.over = true
      this.#owner.finished(this)
      return
    }
    const { exchanges } = rounds[this.#round]!
    this.#pending = exchanges.length
    for (const { kind, peer, range } of exchanges) if (kind === 'receive') this.#post(peer, range)
    for (const { kind, peer, range } of exchanges)
      if (kind === 'send') this.#outgoing.get(peer)!.queue(this.#view(range))
    for (const { kind, peer } of exchanges) {
      if (kind === 'receive') this.#pending -= this.#incoming.get(peer)!.settle()
      else if (!this.over) this.#owner.push(peer, this.#outgoing.get(peer)!)
    }
  }

  #post(rank: number, range: Range): void {
    const granted = this.#incoming.get(rank)!.post(this.#view(range))
    if (granted > 0) this.#owner.grant(rank, this, granted)
  }

  #localSteps(): void {
    const { steps } = this.plan.schedule.rounds[this.#round]!
    for (const step of steps) {
      if (this.over) return
      const { from, into } = step
      if (step.kind === 'copy') this.#copy(from, into)
      else {
        try {
          combining(() => this.#combine(from, into, step.fromFirst))
        } catch (error) {
          this.#owner.threw(error)
        }
      }
    }
  }

  #combine(from: Range, into: Range, fromFirst: boolean): void {
    const kernel = this.#kernel!
    kernel(this.#arrays[into.buffer], into.offset, this.#arrays[from.buffer], from.offset, from.count, fromFirst)
  }

  #copy(from: Range, into: Range): void {
    const [source, target] = [this.#view(from), this.#view(into)]
    // In place: it is there already.
    if (source.buffer === target.buffer && source.byteOffset === target.byteOffset) return
    target.set(source)
  }

  #view({ buffer, offset, count }: Range): Uint8Array {
    const { bytes } = this.plan.kind
    return this.#bytes[buffer].subarray(offset * bytes, (offset + count) * bytes)
  }
}

function bytesOf(array: ElementArray): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
}
