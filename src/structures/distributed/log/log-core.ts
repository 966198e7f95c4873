import { HeapFullError } from '../../errors.ts'
import type { LogBounds, Retention } from '../../log/log-core.ts'
import type { BlockPool, OwnBlock } from '../heap/block-pool.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { RECORD_BYTES, writeRecord } from '../heap/record.ts'
import { CompareExchangeCommand, WriteCommand } from '../memory/command.ts'
import type { GroupBell } from '../waiting/group-bell.ts'
import { LogReader, type RecordRead, type ThereSlot } from './reader.ts'
import type { LogSlots } from './slots.ts'
import type { LogView } from './view.ts'

/** More than any value has. */
const VALUE_BYTES_BOUND: number = 64 * 1024
/** Slots that are emptied in one batch. */
const TRIMMED_AT_ONCE = 30

/**
 * A log, or what a channel keeps, at one home.
 *
 * **Append**
 * 1. The block is written. Then one compare-and-swap puts its name into the slot of the next index, in place of what
 *    was there a round before. If the log is full, that is the oldest entry.
 * 2. So an entry comes, and the oldest goes, in one step, in which the append takes effect. An index is never taken
 *    without its entry, and a rank can leave nothing half done.
 * 3. The word that the swap expects is never in that slot again (heap/block-word.ts). The rank knows that all lower
 *    indexes are taken, and that remains so. Hence the swap succeeds only if its index is the next one, however long
 *    ago the rank looked.
 * 4. Some append always makes progress. An append takes one round trip, and one more for each append of another rank
 *    that came first.
 *
 * A fetch-and-add on the end would let many ranks append at a time. But a rank stopped after it would hold up all
 * readers until the group gives it up, and would leave a gap among the indexes. It would also take two round trips.
 *
 * **Behind the swap in the same batch** come the mark of the end, the next slots and the marks (view.ts). They tell
 * the next append what to expect.
 *
 * **Trim** is one compare-and-swap for each slot, oldest first. If a rank is stopped in between, it has trimmed some,
 * and the next one goes on.
 *
 * **Memory**: the rank that made a block finds that no slot names it; if that rank is out of the group, the home does
 * (heap/block-pool.ts).
 *
 * **Reads** copy, and check by the tag that what they copied is what the slot meant (heap/record.ts).
 */
export class GroupLogCore {
  readonly #memory: HomeMemory
  readonly #pool: BlockPool
  readonly #view: LogView
  readonly #slots: LogSlots
  readonly #reader: LogReader
  readonly #retention: Retention
  /** The appends of this rank, one after the other, so that they are in the log in the order of the calls. */
  #appending: Promise<unknown> = Promise.resolve()
  /** Bytes of all values up to index `last`, where that is known; only for a log with a bound on bytes. */
  #last = -1
  #lastBytes = 0
  /** Bytes before the oldest entry, or before one that was dropped already. */
  #bytesBefore = 0

  constructor(memory: HomeMemory, pool: BlockPool, view: LogView, retention: Retention) {
    this.#memory = memory
    this.#pool = pool
    this.#view = view
    this.#slots = view.slots
    this.#reader = new LogReader(memory, view)
    this.#retention = retention
  }

  /** For who waits for the next entry. */
  get appended(): GroupBell {
    return this.#view.appended
  }

  /** Gives the entry's index. @throws HeapFullError */
  append(value: Uint8Array, signal?: AbortSignal): Promise<number> {
    const appending = this.#appending.then(() => this.#append(value, signal))
    this.#appending = appending.catch(() => {})
    return appending
  }

  read(from: number, count: number): Promise<readonly RecordRead[]> {
    return this.#reader.read(from, count)
  }

  findEnd(): Promise<number> {
    return this.#view.findEnd()
  }

  /** The index that comes next: after what this rank has begun to append, and before what it begins later. */
  beginHere(): Promise<number> {
    const looking = this.#appending.then(() => this.#view.findEnd())
    this.#appending = looking.catch(() => {})
    return looking
  }

  /** Each as it was at one moment of the call. */
  async bounds(): Promise<LogBounds> {
    const first = await this.#reader.findFirst(await this.#view.findEnd())
    return { first, end: this.#view.end }
  }

  /** Drop the entries below index `before`. Gives how many this call dropped. */
  async trim(before: number, signal?: AbortSignal): Promise<number> {
    const stop = Math.min(before, await this.#view.findEnd())
    let dropped = 0
    for (let at = this.#view.first; at < stop; ) {
      signal?.throwIfAborted()
      const { there, next, isEnd } = await this.#reader.slotsFrom(at, Math.min(TRIMMED_AT_ONCE, stop - at))
      const all = there.filter(({ index }) => index < stop)
      at = Math.min(next, stop)
      dropped += await this.#empty(all, at)
      if (isEnd) break
    }
    return dropped
  }

  async #append(value: Uint8Array, signal: AbortSignal | undefined): Promise<number> {
    const block = await this.#takeBlock(value.length, signal)
    let index: number | undefined
    try {
      while (index === undefined) {
        signal?.throwIfAborted()
        index = await this.#tryAppend(block, value)
      }
    } finally {
      if (index === undefined) this.#pool.release(block)
      else this.#pool.linked(block)
    }
    if (this.#retention.bytes !== 0) await this.#keepToBytes(index)
    return index
  }

  /** Undefined where another came first, or it had to be looked. */
  async #tryAppend(block: OwnBlock, value: Uint8Array): Promise<number | undefined> {
    const index = this.#view.end
    const expected = this.#view.expected()
    const bytes = expected === undefined ? undefined : await this.#bytesUpTo(index - 1)
    if (expected === undefined || bytes === undefined || index !== this.#view.end) {
      await this.#view.look()
      return undefined
    }
    const head = { index, bytes: bytes + value.length }
    const write = new WriteCommand(block.offset, writeRecord(block.tag, head, value))
    const swap = new CompareExchangeCommand(this.#slots.place(index), expected, this.#slots.filled(index, block))
    await this.#view.look([write, swap])
    if (!swap.swapped) return undefined
    this.#last = index
    this.#lastBytes = head.bytes
    this.#releaseBefore(index, expected)
    return index
  }

  /** What was in the slot a round before is free, where it is this rank's. */
  #releaseBefore(index: number, word: bigint): void {
    const before = index < this.#slots.capacity ? undefined : this.#slots.view(index - this.#slots.capacity, word)
    if (before?.kind === 'there') this.#pool.release(before.block)
  }

  async #takeBlock(lengthBytes: number, signal: AbortSignal | undefined): Promise<OwnBlock> {
    for (;;) {
      signal?.throwIfAborted()
      try {
        return await this.#pool.take(RECORD_BYTES + lengthBytes)
      } catch (error) {
        if (!(error instanceof HeapFullError && this.#retention.dropsForMemory && (await this.#dropSome()))) throw error
      }
    }
  }

  /** An eighth of what there is. */
  async #dropSome(): Promise<boolean> {
    const { first, end } = await this.bounds()
    return (await this.trim(first + Math.ceil((end - first) / 8))) > 0
  }

  /**
   * Bytes of all values up to an index; undefined if the caller has to look again. If the entry is gone, so are all
   * before it. Then any sum will do that is not below an earlier one, and the sum for values of the greatest length is
   * used.
   */
  async #bytesUpTo(index: number): Promise<number | undefined> {
    if (this.#retention.bytes === 0 || index < 0) return 0
    if (this.#last === index) return this.#lastBytes
    const { there, next } = await this.#reader.slotsFrom(index, 1)
    if (next !== index + 1) return undefined
    if (there.length === 0) return (index + 1) * VALUE_BYTES_BOUND
    const [head] = await this.#reader.heads(there)
    return head?.bytes
  }

  /**
   * Drop entries that are too many with the entry `last`, which itself stays. A rank that is stopped before that leaves
   * it to the next.
   */
  async #keepToBytes(last: number): Promise<void> {
    const isTooMuch = (before: number): boolean => this.#lastBytes - before > this.#retention.bytes
    for (let at = this.#view.first; isTooMuch(this.#bytesBefore) && at < last; ) {
      const { there, next, isEnd } = await this.#reader.slotsFrom(at, Math.min(TRIMMED_AT_ONCE, last - at))
      const older = there.filter(({ index }) => index < last)
      const heads = await this.#reader.heads(older)
      const stays = heads.findIndex((head) => head !== undefined && !isTooMuch(head.bytes - head.lengthBytes))
      at = stays < 0 ? Math.min(next, last) : older[stays]!.index
      await this.#empty(stays < 0 ? older : older.slice(0, stays), at)
      const oldest = heads[stays]
      const dropped = heads.at(-1)
      if (oldest !== undefined) this.#bytesBefore = oldest.bytes - oldest.lengthBytes
      else if (dropped !== undefined) this.#bytesBefore = dropped.bytes
      if (isEnd) break
    }
  }

  /** Empty slots; all below `first` is gone then. Gives how many were emptied by this call. */
  async #empty(slots: readonly ThereSlot[], first: number): Promise<number> {
    const swaps = slots.map(
      ({ index, word }) => new CompareExchangeCommand(this.#slots.place(index), word, this.#slots.trimmed(index)),
    )
    const commands = [...swaps, ...this.#view.raiseFirst(first)]
    if (commands.length === 0) return 0
    await this.#memory.run(commands)
    for (const [at, { block }] of slots.entries()) if (swaps[at]?.swapped === true) this.#pool.release(block)
    return swaps.filter(({ swapped }) => swapped).length
  }
}
