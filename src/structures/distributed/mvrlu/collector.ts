import assert from 'node:assert/strict'
import type { BlockPool } from '../heap/block-pool.ts'
import { decodeBlock } from '../heap/block-word.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { CompareExchangeCommand, ReadCommand } from '../memory/command.ts'
import type { GroupGracePeriodState } from '../rcu/grace-periods.ts'
import type { Readers } from '../rcu/group-rcu.ts'
import { lookMs } from '../waiting/look-ms.ts'
import type { CommitClock } from './commit-clock.ts'
import { committerOf, doneWord, emptiedHead, generationOf, holderOf, namesVersion, SlotOffset } from './layout.ts'
import type { ObjectSlots, Slot } from './object-slots.ts'
import { OLDER_OFFSET, readVersionHead, VERSION_BYTES } from './version.ts'

/** What a commit has replaced in one slot, to be cut off when no section can need it any more. */
export interface Superseded {
  readonly place: number
  /** The slot's lock word since then. */
  readonly lock: bigint
  readonly clock: number
  /** The version of that commit; 0: it has none of this object. */
  readonly version: bigint
  /** That below it; 0: none. */
  readonly older: bigint
  /** The object, where the commit freed it. */
  readonly freed: number | undefined
}

interface Waiting {
  readonly state: GroupGracePeriodState
  readonly watermark: number
  readonly superseded: readonly Superseded[]
}

/** Cuts off versions that no section can want any more: see layout.ts. */
export class Collector {
  readonly #memory: HomeMemory
  readonly #pool: BlockPool
  readonly #slots: ObjectSlots
  readonly #clock: CommitClock
  readonly #readers: Readers
  #pending: Superseded[] = []
  #waiting: Waiting | undefined
  #collecting: Promise<void> | undefined

  constructor(memory: HomeMemory, pool: BlockPool, slots: ObjectSlots, clock: CommitClock, readers: Readers) {
    this.#memory = memory
    this.#pool = pool
    this.#slots = slots
    this.#clock = clock
    this.#readers = readers
  }

  /** What a commit of this rank has replaced; it is finished. */
  add(superseded: readonly Superseded[]): void {
    this.#pending.push(...superseded)
  }

  /** Cut off what this rank's commits have replaced, as far as no section needs it any more. Waits for no reader. */
  collect(): Promise<void> {
    this.#collecting ??= this.#collect().finally(() => {
      this.#collecting = undefined
    })
    return this.#collecting
  }

  /**
   * The same for what the commits of all ranks have replaced. Returns whether there was anything to cut off. `isOver`
   * says whether a grace period is over, and may wait for it.
   */
  async collectAll(isOver?: (state: GroupGracePeriodState) => Promise<boolean>): Promise<boolean> {
    await this.#clock.now()
    const done = (await this.#slots.dirty()).filter(({ lock }) => holderOf(lock) === undefined)
    if (done.length === 0) return false
    const { periods } = this.#readers
    const state = periods.state()
    if (!(await (isOver?.(state) ?? periods.poll(state)))) return false
    await this.#cutThose(done)
    return true
  }

  /**
   * For the home, which has shut out a rank. Open what that rank had locked. Cut off what it had replaced when no
   * section needs it any more. If another rank has a slot locked, and would put back what it found there when it
   * aborts, wait until that lock is released.
   */
  async settle(signal: AbortSignal): Promise<void> {
    const { group } = this.#memory
    await this.#clock.now()
    let slots = await this.#slots.dirty()
    await this.#open(slots)
    for (let looks = 0; !signal.aborted; looks += 1) {
      slots = (await this.#slots.again(slots)).filter(({ lock }) => this.#isOfTheDead(lock) || this.#isHeld(lock))
      if (slots.length === 0) return
      const left = slots.filter(({ lock }) => this.#isOfTheDead(lock))
      if (left.length === 0) await group.sleep(lookMs(group, looks), signal)
      else {
        await this.#readers.periods.wait(this.#readers.periods.state(), { signal })
        await this.#cutThose(left)
      }
    }
  }

  async #collect(): Promise<void> {
    // What waits since a while, and then what has come since.
    for (let round = 0; round < 2; round += 1) {
      const waiting = this.#waiting ?? this.#wait()
      if (waiting === undefined || !(await this.#readers.periods.poll(waiting.state))) return
      this.#waiting = undefined
      for (const { clock } of waiting.superseded)
        assert.ok(clock <= waiting.watermark, 'what is cut off is not newer than the watermark')
      this.#pending.push(...(await this.#cut(waiting.superseded)))
    }
  }

  #wait(): Waiting | undefined {
    if (this.#pending.length === 0) return undefined
    const superseded = this.#pending
    this.#pending = []
    this.#waiting = { state: this.#readers.periods.state(), watermark: this.#clock.known.clock, superseded }
    return this.#waiting
  }

  /** Returns those that have to be tried again, because they were locked. */
  async #cut(all: readonly Superseded[]): Promise<Superseded[]> {
    const cuts = all.map((one) => ({ one, ...cutOf(one) }))
    const commands = cuts.flatMap(({ cut, open }) => (cut === undefined ? [open] : [cut, open]))
    if (commands.length > 0) await this.#memory.runAll(commands)
    const again: Superseded[] = []
    for (const { one, cut, open } of cuts) {
      if (cut?.swapped === true) this.#released(one)
      if (!open.swapped && holderOf(open.before) !== undefined) again.push({ ...one, version: 0n, freed: undefined })
    }
    return again
  }

  #released({ version, older, freed }: Superseded): void {
    for (const word of freed === undefined ? [older] : [version, older]) {
      const name = decodeBlock(word)
      if (name !== undefined) this.#pool.release(name)
    }
  }

  /** What is left in these slots, as far as it is what it was before a grace period. */
  async #cutThose(slots: readonly Slot[]): Promise<void> {
    const section = this.#readers.sections.begin()
    try {
      await this.#cut(await this.#lookAt(slots))
    } finally {
      this.#readers.sections.end(section)
    }
  }

  /** Open the locks of ranks that are out of the group. */
  async #open(dirty: readonly Slot[]): Promise<void> {
    const opened = dirty
      .filter(({ lock }) => holderOf(lock) !== undefined && !this.#isHeld(lock))
      .map(({ place, lock }) => new CompareExchangeCommand(place + SlotOffset.Lock, lock, doneWord(lock)))
    if (opened.length > 0) await this.#memory.runAll(opened)
  }

  #isHeld(lock: bigint): boolean {
    const holder = holderOf(lock)
    return holder !== undefined && this.#memory.group.isMember(holder)
  }

  /** What a living rank has committed that one cuts off itself. */
  #isOfTheDead(lock: bigint): boolean {
    const committer = committerOf(lock)
    return committer !== undefined && !this.#memory.group.isMember(committer)
  }

  /**
   * What there is to cut off of slots that are as they were before a grace period. Within a section, which has their
   * heads' versions in its snapshot.
   */
  async #lookAt(slots: readonly Slot[]): Promise<Superseded[]> {
    const now = await this.#slots.again(slots)
    const same = slots.filter(({ lock, head }, at) => now[at]?.lock === lock && now[at]?.head === head)
    const heads = same.map(({ head }) => readOf(head))
    const reads = heads.filter((read) => read !== undefined)
    if (reads.length > 0) await this.#memory.runAll(reads)
    return same.map(({ place, lock, head }, at) => {
      const read = heads[at]
      const version = read && readVersionHead(decodeBlock(head)!, read.bytes)
      const nothing = { place, lock, clock: 0, version: 0n, older: 0n, freed: undefined }
      if (version === undefined) return nothing
      const { clock, older, object, isGone } = version
      return { ...nothing, clock, version: head, older, freed: isGone ? object : undefined }
    })
  }
}

function readOf(head: bigint): ReadCommand | undefined {
  return namesVersion(head) ? new ReadCommand(decodeBlock(head)!.offset, VERSION_BYTES) : undefined
}

function cutOf({ place, lock, version, older, freed }: Superseded): {
  readonly cut: CompareExchangeCommand | undefined
  readonly open: CompareExchangeCommand
} {
  const open = new CompareExchangeCommand(place + SlotOffset.Lock, lock, 0n)
  if (freed !== undefined) {
    const empty = emptiedHead(generationOf(freed))
    return { cut: new CompareExchangeCommand(place + SlotOffset.Head, version, empty), open }
  }
  if (version === 0n || older === 0n) return { cut: undefined, open }
  const { offset } = decodeBlock(version)!
  return { cut: new CompareExchangeCommand(offset + OLDER_OFFSET, older, 0n), open }
}
