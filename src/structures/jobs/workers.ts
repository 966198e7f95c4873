import type { Heap } from '../heap/heap.ts'
import { HeaderOffset } from '../heap/layout.ts'
import { ownerEpoch, ownerSlot } from '../peers.ts'
import { JOB_ID_BYTES_MAX, WORKER_BYTES } from './layout.ts'

/** Words of a worker's entry. */
export const WorkerOffset = { Owner: 0, NoteLength: 4, LeaseEnd: 8, Term: 16, Note: 20 } as const
const Offset = WorkerOffset

/** A member that can hold no jobs any more. */
export interface LostWorker {
  readonly slot: number
  readonly owner: number
  /** Its term; undefined if it is dead, and all terms are over. */
  readonly term: number | undefined
  /** When the lease ended that was over. */
  readonly leaseEnd: bigint
}

/**
 * What each member that has the queue open is doing: an entry by member slot.
 *
 * ```
 *   0  owner word   4  length of the note   8  when its lease ends, 0: it holds nothing   16  term   20  note: an id
 * ```
 *
 * - The *lease* is one for all jobs that a member holds. It renews it as long as its event loop runs.
 * - A *term* is a time without an overdue lease. A job notes the term in which it was taken. After a lease was overdue,
 *   the member starts another term, so that what is taken from then on cannot be mistaken for what was lost.
 * - The *note* is the id of a job whose entry in a list may be missing because the member is about to put it there. It
 *   is read once the member is dead or overdue. The member alone writes it, by plain stores in order.
 */
export class Workers {
  readonly #heap: Heap
  readonly #offset: number
  readonly #self: number
  readonly #leaseMs: number
  /** As this member has stored it. */
  #leaseEnd = 0n
  readonly #scratch: Buffer = Buffer.alloc(JOB_ID_BYTES_MAX)

  constructor(heap: Heap, offset: number, leaseMs: number) {
    this.#heap = heap
    this.#offset = offset
    this.#self = this.#entry(heap.peers.slot)
    this.#leaseMs = leaseMs
  }

  /** The owner word of the member that had this member's slot before, and whose jobs were not given back; or 0. */
  get predecessor(): number {
    const owner = this.#heap.memory.load(this.#self + Offset.Owner)
    return owner === this.#heap.owner ? 0 : owner
  }

  /** Take the entry of this member's slot. */
  enter(): void {
    const { memory, owner } = this.#heap
    memory.poke(this.#self + Offset.NoteLength, 0)
    this.rest()
    memory.store(this.#self + Offset.Owner, owner)
  }

  /** This member holds nothing and has the queue open no more. */
  leave(): void {
    this.#heap.memory.store(this.#self + Offset.Owner, 0)
  }

  get term(): number {
    return this.#heap.memory.peek(this.#self + Offset.Term) >>> 0
  }

  /** The entry of `id` is about to be put into a list. */
  note(id: string): void {
    const { memory } = this.#heap
    const length = this.#scratch.write(id)
    memory.write(this.#self + Offset.Note, this.#scratch, length)
    memory.poke(this.#self + Offset.NoteLength, length)
  }

  clearNote(): void {
    this.#heap.memory.poke(this.#self + Offset.NoteLength, 0)
  }

  /**
   * Make the lease last from now on. Returns the term. If the lease was overdue that is another one, and what this
   * member holds of the former may have been given to others.
   */
  renew(nowMs: number): number {
    const { memory } = this.#heap
    const at = this.#self + Offset.LeaseEnd
    const isOverdue =
      memory.load64(at) !== this.#leaseEnd || (this.#leaseEnd !== 0n && this.#leaseEnd < BigInt(Math.floor(nowMs)))
    if (isOverdue) memory.store(this.#self + Offset.Term, (this.term + 1) | 0)
    this.#leaseEnd = BigInt(Math.ceil(nowMs + this.#leaseMs))
    memory.store64(at, this.#leaseEnd)
    return this.term
  }

  /** Whether the lease has to be renewed before something is taken. */
  needsRenewal(nowMs: number): boolean {
    const at = this.#self + Offset.LeaseEnd
    return this.#heap.memory.load64(at) !== this.#leaseEnd || Number(this.#leaseEnd) - nowMs < this.#leaseMs / 2
  }

  /** This member holds nothing: its lease need not be renewed. */
  rest(): void {
    this.#leaseEnd = 0n
    this.#heap.memory.store64(this.#self + Offset.LeaseEnd, 0n)
  }

  /** Members that are dead, or whose lease is overdue. `ask`: ask the operating system. */
  *lost(nowMs: number, ask: boolean): Generator<LostWorker> {
    const { memory } = this.#heap
    const high = memory.load(HeaderOffset.ParticipantsHigh)
    for (let slot = 0; slot < high; slot += 1) {
      const at = this.#entry(slot)
      const owner = memory.load(at + Offset.Owner)
      if (owner === 0 || owner === this.#heap.owner) continue
      const leaseEnd = memory.load64(at + Offset.LeaseEnd)
      const isOverdue = leaseEnd !== 0n && Number(leaseEnd) < nowMs
      const isThere = this.#heap.isHolderThere(owner, ask || isOverdue)
      if (!isThere) yield { slot, owner, term: undefined, leaseEnd }
      else if (isOverdue) yield { slot, owner, term: memory.load(at + Offset.Term) >>> 0, leaseEnd }
    }
  }

  /** What a lost member had noted; undefined if nothing. */
  noteOf({ slot }: LostWorker): string | undefined {
    const { memory } = this.#heap
    const at = this.#entry(slot)
    const length = memory.peek(at + Offset.NoteLength)
    if (length <= 0 || length > JOB_ID_BYTES_MAX) return undefined
    memory.read(at + Offset.Note, this.#scratch, length)
    return this.#scratch.toString('utf8', 0, length)
  }

  /** All that it had was given back. */
  settled({ slot, owner, term, leaseEnd }: LostWorker): void {
    const { memory } = this.#heap
    const at = this.#entry(slot)
    if (term === undefined) memory.compareExchange(at + Offset.Owner, owner, 0)
    else memory.compareExchange64(at + Offset.LeaseEnd, leaseEnd, 0n)
  }

  /** Whether the owner of a job is present, as far as is known. */
  isPresent(owner: number): boolean {
    return this.#heap.peers.isPresent(ownerSlot(owner), ownerEpoch(owner))
  }

  #entry(slot: number): number {
    return this.#offset + slot * WORKER_BYTES
  }
}
