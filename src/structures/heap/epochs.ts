import type { WordMemory } from '../memory/word-memory.ts'
import type { Peers } from '../peers.ts'
import type { Allocator } from './allocator.ts'
import { BlockKind, blockState, generationOf } from './block-state.ts'
import type { BlockTable } from './block-table.ts'
import { HeaderOffset } from './layout.ts'
import { Participant } from './participant.ts'

/** How many blocks a participant retires between two attempts to advance the epoch. */
const RETIRED_BETWEEN_ADVANCES = 64

/** Retired blocks, from `at` on; `epochs[i]` is when the i-th was retired, ascending. */
interface Limbo {
  readonly references: number[]
  readonly epochs: number[]
  at: number
}

/** A time inside that may last, and overlap others of the same participant. */
export interface Stay {
  readonly epoch: number
}

/**
 * Epoch-based reclamation, across processes. A block that was taken out of a structure is used again when no member can
 * still be looking at it.
 *
 * 1. Each member inside an operation publishes since which epoch it is inside.
 * 2. The epoch advances when all members inside have seen it.
 * 3. So once it has advanced twice since a block was retired, every member inside entered after the block had become
 *    unreachable. Source: Fraser, "Practical lock-freedom", 2004, 5.2.3.
 *
 * Dead members are not waited for. A process that is stopped inside an operation is, for it may go on. Until it does or
 * is ended, memory that others retire is not used again.
 */
export class Epochs {
  readonly #memory: WordMemory
  readonly #blocks: BlockTable
  readonly #allocator: Allocator
  readonly #peers: Peers
  readonly #self: Participant
  readonly #left: () => void
  readonly #limbo: Limbo = { references: [], epochs: [], at: 0 }
  readonly #participants: Participant[] = []
  /** In the order in which they began. */
  readonly #stays = new Set<Stay>()
  #depth = 0
  #sinceAdvance = 0

  constructor(memory: WordMemory, blocks: BlockTable, allocator: Allocator, peers: Peers, left: () => void) {
    this.#memory = memory
    this.#blocks = blocks
    this.#allocator = allocator
    this.#peers = peers
    this.#self = new Participant(memory, peers.slot)
    this.#left = left
  }

  /** From here to {@link exit} what is reachable stays as it is in memory. Nests. */
  enter(): void {
    this.#depth += 1
    if (this.#depth !== 1 || this.#stays.size !== 0) return
    // A plain load, for an epoch that is over by now does no harm: to say it keeps the next from ending all the more.
    this.#self.reserve(reservationOf(this.#memory.peek(HeaderOffset.Epoch)))
  }

  exit(): void {
    this.#depth -= 1
    if (this.#depth === 0) this.#reserveForStays()
  }

  /**
   * The same until {@link end}, and not nested. Several stays may overlap, in functions that await; each holds back
   * only what was retired since it began. The others are told when the oldest began. Raising that to the start of the
   * next one is safe: nothing that was retired since then can have been freed in between.
   */
  begin(): Stay {
    const stay = { epoch: this.#memory.load(HeaderOffset.Epoch) }
    if (!this.inside) this.#self.reserve(reservationOf(stay.epoch))
    this.#stays.add(stay)
    return stay
  }

  /** False when it had ended. */
  end(stay: Stay): boolean {
    if (!this.#stays.delete(stay)) return false
    if (this.#depth === 0) this.#reserveForStays()
    return true
  }

  /** End all stays. */
  leave(): void {
    this.#stays.clear()
    if (this.#depth === 0) this.#reserveForStays()
  }

  /** Whether a stay lasts in this participant. */
  get stays(): boolean {
    return this.#stays.size > 0
  }

  /** Whether this participant is inside an operation. */
  get inside(): boolean {
    return this.#depth > 0 || this.#stays.size > 0
  }

  /** Blocks that this participant retired and that are not free yet. */
  get waiting(): number {
    return this.#limbo.references.length - this.#limbo.at
  }

  /** The block was unlinked. False if it was not in `state` any more: another member retired it. */
  retire(reference: number, state: number): boolean {
    const retired = blockState(BlockKind.Retired, this.#peers.slot, generationOf(state))
    if (!this.#blocks.change(reference, state, retired)) return false
    this.adopt(reference)
    return true
  }

  /** A block whose state says already that it was retired by us. */
  adopt(reference: number): void {
    this.#limbo.references.push(reference)
    this.#limbo.epochs.push(this.#memory.load(HeaderOffset.Epoch))
    this.#sinceAdvance += 1
    if (this.#sinceAdvance < RETIRED_BETWEEN_ADVANCES) return
    this.#sinceAdvance = 0
    this.advance()
    this.collect()
  }

  /** The epoch. It wraps. */
  get now(): number {
    return this.#memory.load(HeaderOffset.Epoch)
  }

  /**
   * Whether all who were inside when the epoch was `since` have left. The epoch never goes back, so a difference that
   * looks negative is a great one.
   */
  hasPassed(since: number): boolean {
    return (this.now - since) >>> 0 >= 2
  }

  /**
   * Start the next epoch if all members inside have seen this one. Returns the slot of a member that has not; -1 if it
   * advanced. `ask`: find out whether that member is alive.
   */
  advance(ask: boolean = false): number {
    const epoch = this.#memory.load(HeaderOffset.Epoch)
    const high = this.#memory.load(HeaderOffset.ParticipantsHigh)
    const current = reservationOf(epoch)
    for (let slot = 0; slot < high; slot += 1) {
      const participant = this.#participant(slot)
      const reservation = participant.reservation
      if (reservation === 0 || reservation === current) continue
      const { epoch: member } = participant
      if (ask ? this.#peers.isAlive(slot, member) : this.#peers.isPresent(slot, member)) return slot
    }
    this.#memory.compareExchange(HeaderOffset.Epoch, epoch, (epoch + 1) | 0)
    return -1
  }

  /** Free what no member can be looking at any more. */
  collect(): void {
    const now = this.#memory.load(HeaderOffset.Epoch)
    const { references, epochs } = this.#limbo
    while (this.#limbo.at < references.length && (now - epochs[this.#limbo.at]!) >>> 0 >= 2) {
      const reference = references[this.#limbo.at]!
      this.#limbo.at += 1
      this.#allocator.free(reference, this.#blocks.peekState(reference))
    }
    this.#shorten()
  }

  #reserveForStays(): void {
    this.#self.reserve(this.#stays.size === 0 ? 0 : this.#oldestStay())
    this.#left()
  }

  #oldestStay(): number {
    const [oldest] = this.#stays
    return oldest === undefined ? 0 : reservationOf(oldest.epoch)
  }

  #participant(slot: number): Participant {
    const known = this.#participants[slot] ?? new Participant(this.#memory, slot)
    this.#participants[slot] = known
    return known
  }

  #shorten(): void {
    const limbo = this.#limbo
    if (limbo.at * 2 < limbo.references.length || limbo.at === 0) return
    limbo.references.splice(0, limbo.at)
    limbo.epochs.splice(0, limbo.at)
    limbo.at = 0
  }
}

/** Never 0, whatever the epoch, which wraps. */
function reservationOf(epoch: number): number {
  return (epoch << 1) | 1
}
