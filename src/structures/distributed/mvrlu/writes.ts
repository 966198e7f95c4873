import type { OwnBlock } from '../heap/block-pool.ts'
import { bytesOfClass, encodeBlock } from '../heap/block-word.ts'
import { takeAny } from '../heap/take-any.ts'
import { type Command, CompareExchangeCommand, WriteCommand } from '../memory/command.ts'
import type { Superseded } from './collector.ts'
import type { Moment } from './commit-clock.ts'
import type { MvRluCore } from './core.ts'
import { doneWord, generationIn, holderOf, namesVersion, objectOf, ROOT_SLOT, SlotOffset } from './layout.ts'
import { lockAndLook } from './object-slots.ts'
import { setClock, VERSION_BYTES, writeVersion } from './version.ts'

/** A version that is to be. */
interface Filled {
  readonly block: OwnBlock
  /** Undefined: the object is freed. */
  readonly value: Uint8Array | undefined
  bytes?: Uint8Array
}

/** An object that a section has locked. */
interface Locked {
  readonly object: number
  readonly place: number
  /** What its lock word was before. */
  readonly unlocked: bigint
  readonly head: bigint
  /** Made by this section. */
  readonly isMade: boolean
  mayWrite: boolean
  isFreed: boolean
  filled: Filled | undefined
}

/** How often to try a lock that is free, but whose word is another each time. */
const LOCK_ATTEMPTS = 8

const NOTHING = new Uint8Array(0)

/** What a section has locked, and what is to become of it: nothing of it is there for others until it is committed. */
export class MvRluWrites {
  readonly #core: MvRluCore
  readonly #snapshot: Moment
  readonly #lock: bigint
  /** By the place of the slot. */
  readonly #locked = new Map<number, Locked>()

  constructor(core: MvRluCore, snapshot: Moment) {
    this.#core = core
    this.#snapshot = snapshot
    this.#lock = core.nextLock()
  }

  get size(): number {
    return this.#locked.size
  }

  /** Whether there is anything to commit. */
  get changed(): boolean {
    return [...this.#locked.values()].some(({ filled }) => filled !== undefined)
  }

  /**
   * What this section makes of the object at `place`: undefined where nothing; else its value, undefined where it is
   * freed.
   */
  find(place: number): { readonly value: Uint8Array | undefined } | undefined {
    const locked = this.#locked.get(place)
    return locked?.isFreed === true ? { value: undefined } : locked?.filled
  }

  /** Whether the object is locked for a change, and not freed. */
  mayWrite(place: number): boolean {
    const locked = this.#locked.get(place)
    return locked?.mayWrite === true && !locked.isFreed
  }

  /** Undefined where it is not locked by this section. */
  relock(place: number, write: boolean): boolean | undefined {
    const locked = this.#locked.get(place)
    if (locked === undefined) return undefined
    if (write) locked.mayWrite = true
    return !locked.isFreed
  }

  /** False where it is another's, was changed since the section began, or is gone. */
  async lock(object: number, place: number, write: boolean): Promise<boolean> {
    const got = await this.#take(place)
    if (got === undefined) return false
    const { unlocked, head } = got
    if (await this.#isNewest(object, place, head)) {
      const kind = { isMade: false, mayWrite: write, isFreed: false, filled: undefined }
      this.#locked.set(place, { object, place, unlocked, head, ...kind })
      return true
    }
    await this.#core.memory.compareExchange64(place + SlotOffset.Lock, this.#lock, unlocked)
    return false
  }

  /** Gives the new object's number; undefined where there can be no more. @throws HeapFullError */
  async make(value: Uint8Array): Promise<number | undefined> {
    const { slots, memory } = this.#core
    const block = await this.#core.pool.take(VERSION_BYTES + value.length)
    for (;;) {
      const empty = await slots.takeEmpty().catch((error: unknown) => {
        this.#core.pool.release(block)
        throw error
      })
      if (empty === undefined) {
        this.#core.pool.release(block)
        return undefined
      }
      const { slot, place } = empty
      const { swap, head } = lockAndLook(place, 0n, this.#lock)
      await memory.run([swap, head])
      if (!swap.swapped) continue
      if (namesVersion(head.word())) {
        await memory.compareExchange64(place + SlotOffset.Lock, this.#lock, 0n)
        continue
      }
      const object = objectOf(slot, generationIn(head.word()))
      const kind = { isMade: true, mayWrite: true, isFreed: false, filled: { block, value } }
      this.#locked.set(place, { object, place, unlocked: 0n, head: head.word(), ...kind })
      return object
    }
  }

  /** @throws HeapFullError */
  async assign(place: number, value: Uint8Array): Promise<void> {
    await this.#fill(this.#locked.get(place)!, value)
  }

  async free(place: number): Promise<void> {
    const locked = this.#locked.get(place)!
    if (!locked.isMade) await this.#fill(locked, undefined)
    else if (locked.filled !== undefined) {
      // No other rank has seen it.
      this.#core.pool.release(locked.filled.block)
      locked.filled = undefined
    }
    locked.isFreed = true
  }

  /** Gives the clock; undefined where this rank was given up by the group, and its locks are another's. */
  async commit(): Promise<number | undefined> {
    const all = [...this.#locked.values()]
    const clock = await this.#core.clock.commit({
      lock: this.#lock,
      entries: all.map((locked) => ({ place: locked.place, before: locked.head, after: headAfter(locked) })),
      since: this.#snapshot,
      versions: (at, anew) => all.flatMap((locked) => writesOf(locked, at, anew)),
    })
    if (clock === undefined) return undefined
    for (const locked of all) this.#noteCommitted(locked, clock)
    this.#core.collector.add(all.map((locked) => this.#superseded(locked, clock)))
    return clock
  }

  /** As if nothing had been locked. */
  async undo(): Promise<void> {
    const all = [...this.#locked.values()]
    this.#locked.clear()
    for (const { filled } of all) if (filled !== undefined) this.#core.pool.release(filled.block)
    const open = all.map(
      ({ place, unlocked }) => new CompareExchangeCommand(place + SlotOffset.Lock, this.#lock, unlocked),
    )
    if (open.length > 0) await this.#core.memory.runAll(open)
  }

  /** Lock it, whatever its head is. */
  async #take(place: number): Promise<{ readonly unlocked: bigint; readonly head: bigint } | undefined> {
    const { memory, clock, versions } = this.#core
    for (let attempt = 0, expected = versions.unlockedAt(place); attempt < LOCK_ATTEMPTS; attempt += 1) {
      const { swap, head } = lockAndLook(place, expected, this.#lock)
      await memory.run([swap, head])
      const holder = holderOf(expected)
      if (swap.swapped) {
        if (holder === undefined) {
          versions.noteUnlocked(place, expected)
          return { unlocked: expected, head: head.word() }
        }
        // What its holder had under way is refused from here on, or was committed before.
        await clock.fence()
        return { unlocked: doneWord(expected), head: await memory.load64(place + SlotOffset.Head) }
      }
      expected = swap.before
      const by = holderOf(expected)
      if (by !== undefined && memory.group.isMember(by)) return undefined
    }
    return undefined
  }

  async #isNewest(object: number, place: number, head: bigint): Promise<boolean> {
    const version = await this.#core.versions.newest(place, head)
    if (version === undefined) return object === ROOT_SLOT
    return version.object === object && !version.isGone && version.clock <= this.#snapshot.clock
  }

  async #fill(locked: Locked, value: Uint8Array | undefined): Promise<void> {
    const { pool } = this.#core
    const lengthBytes = VERSION_BYTES + (value?.length ?? 0)
    const there = locked.filled?.block
    if (there !== undefined && bytesOfClass(there.sizeClass) >= lengthBytes) locked.filled = { block: there, value }
    else {
      // What is freed gives more than it takes.
      const block = await (value === undefined ? takeAny(pool, lengthBytes) : pool.take(lengthBytes))
      locked.filled = { block, value }
      if (there !== undefined) pool.release(there)
    }
  }

  #noteCommitted({ object, place, head, filled }: Locked, clock: number): void {
    if (filled === undefined) return
    const { block, value } = filled
    this.#core.pool.linked(block)
    const version = { clock, object, older: olderIn(head), isGone: value === undefined, value: value ?? NOTHING }
    this.#core.versions.put(place, { word: wordOf(block), version, unlocked: doneWord(this.#lock) })
  }

  #superseded(locked: Locked, clock: number): Superseded {
    const { place, head, filled, isFreed, object } = locked
    return {
      place,
      lock: doneWord(this.#lock),
      clock,
      version: filled === undefined ? 0n : wordOf(filled.block),
      older: filled === undefined ? 0n : olderIn(head),
      freed: isFreed && filled !== undefined ? object : undefined,
    }
  }
}

function headAfter({ head, filled }: Locked): bigint {
  return filled === undefined ? head : wordOf(filled.block)
}

/** What writes its version: all of it, or where that was done what goes with the clock. */
function writesOf({ object, head, filled }: Locked, clock: number, anew: boolean): readonly Command[] {
  if (filled === undefined) return []
  const { block, value } = filled
  if (anew && filled.bytes !== undefined) return [new WriteCommand(block.offset, setClock(filled.bytes, clock))]
  filled.bytes = writeVersion(block.tag, { clock, object, older: olderIn(head) }, value)
  return [new WriteCommand(block.offset, filled.bytes)]
}

/** The version below; 0 where there is none. */
function olderIn(head: bigint): bigint {
  return namesVersion(head) ? head : 0n
}

function wordOf(block: OwnBlock): bigint {
  return encodeBlock({ ...block, fingerprint: 0, tentative: false })
}
