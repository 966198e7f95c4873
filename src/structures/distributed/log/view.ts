import type { HomeMemory } from '../heap/home-memory.ts'
import { type Command, CompareExchangeCommand, ReadCommand, type WriteCommand } from '../memory/command.ts'
import type { GroupBell } from '../waiting/group-bell.ts'
import { LogBodyOffset, logMarksBytes } from './body.ts'
import type { LogSlots, SlotView } from './slots.ts'

/** Slots that are looked at beyond the end. */
const AHEAD = 32
/** Rounds that the mark of the end may be behind before an append has to raise it. */
const LAG_ROUNDS = 64
/** Rounds that a look may begin before the mark, so that what it finds is still told apart. */
const STALE_ROUNDS = 50

/**
 * What this rank knows of where a log begins and ends. All of it only rises, so what was once so remains true as a
 * bound, however old it is.
 *
 * The end is the first slot that has no entry yet. The *mark* of it, a word beside the name of the log, is never above
 * the end and not far below:
 *
 *     mark <= end <= mark + 64 rounds and one
 *
 * 1. An append raises the mark to its own index in the same batch. That is right even if the append fails, for every
 *    lower index is taken.
 * 2. No append is made if the mark is seen {@link LAG_ROUNDS} rounds behind.
 *
 * That is why 8 bits of the round suffice in a slot:
 *
 * 1. A look reads the slots first and the mark after them. So what it found is at most 64 rounds above that mark, and
 *    not below the round before the one that it was looking for.
 * 2. If the look turns out to have begun 50 rounds or more below the mark, what it found is not used. That happens to a
 *    rank that has slept for so long.
 */
export class LogView {
  readonly slots: LogSlots
  /** Rung for all when something was appended. */
  readonly appended: GroupBell
  readonly #memory: HomeMemory
  readonly #body: number
  /** Each index below has been appended. */
  #end = 0
  #mark = 0
  /** Each index below has been dropped. */
  #first = 0
  #ahead: readonly SlotView[] = []
  #aheadFrom = 0

  constructor(memory: HomeMemory, body: number, slots: LogSlots) {
    this.#memory = memory
    this.#body = body
    this.slots = slots
    this.appended = memory.bell(body + LogBodyOffset.Waiting, 'all')
  }

  get end(): number {
    return this.#end
  }

  /** No entry below is there. */
  get first(): number {
    return Math.max(0, this.#first, this.#end - this.slots.capacity)
  }

  /** No index from here on has been appended: as far as the mark says that was seen last. */
  get bound(): number {
    return this.#mark + (LAG_ROUNDS + 1) * this.slots.capacity
  }

  /** The word in the slot of the index that comes next. Undefined where it has to be looked first. */
  expected(): bigint | undefined {
    if (this.#end - this.#mark > LAG_ROUNDS * this.slots.capacity) return undefined
    const next = this.#ahead[this.#end - this.#aheadFrom]
    return next?.kind === 'free' ? next.word : undefined
  }

  /**
   * Look for the end, in one round trip, in which an append is tried before; if it succeeds, waiting readers are told.
   * True if the end was found; false if only a lower bound of it is known.
   */
  async look(append?: readonly [WriteCommand, CompareExchangeCommand]): Promise<boolean> {
    const from = this.#end
    const reads = this.slots.reads(from, Math.min(AHEAD, this.slots.capacity))
    const marks = this.marks()
    await this.#memory.run([...(append ?? []), ...this.#raise(), ...reads, marks])
    if (append?.[1].swapped === true) void this.appended.ring(marks)
    this.learn(marks)
    if (this.#mark - from > STALE_ROUNDS * this.slots.capacity) return false
    const views = this.slots.views(from, reads)
    const free = views.findIndex(({ kind }) => kind === 'free')
    this.reached(from + (free < 0 ? views.length : free))
    this.#ahead = views
    this.#aheadFrom = from
    return free >= 0
  }

  /**
   * The end, as it was at one moment in between. A round trip, and more where much was appended since this rank has
   * looked.
   */
  async findEnd(): Promise<number> {
    while (!(await this.look()));
    return this.#end
  }

  /** A READ of both marks, and of the marks of waiters; for a batch, behind the slots. */
  marks(): ReadCommand {
    return new ReadCommand(this.#body, logMarksBytes(this.#memory.group.ranks))
  }

  learn(marks: ReadCommand): void {
    this.#mark = Math.max(this.#mark, Number(marks.word(LogBodyOffset.End)))
    this.#first = Math.max(this.#first, Number(marks.word(LogBodyOffset.First)))
    this.reached(this.#mark)
  }

  /** All below `end` has been appended. */
  reached(end: number): void {
    if (end > this.#end) this.#end = end
  }

  /** Say that all below `first` was dropped; for a batch, behind what drops it. */
  raiseFirst(first: number): readonly Command[] {
    if (first <= this.#first) return []
    const offset = this.#body + LogBodyOffset.First
    return [new CompareExchangeCommand(offset, BigInt(this.#first), BigInt(first))]
  }

  #raise(): readonly Command[] {
    if (this.#end === this.#mark) return []
    return [new CompareExchangeCommand(this.#body + LogBodyOffset.End, BigInt(this.#mark), BigInt(this.#end))]
  }
}
