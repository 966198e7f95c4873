import { checkAbort } from '../native/index.ts'
import { isTaken } from './claim.ts'
import type { Meter } from './figures/meter.ts'
import type { Heap } from './heap/heap.ts'
import { HeaderOffset, PARTICIPANTS_MAX } from './heap/layout.ts'
import { HeapHolds } from './heap-holds.ts'
import { BELL_BYTES, Bell } from './waiting/bell.ts'
import { type BlockOptions, checkBlock, type WaitOptions } from './waiting/wait-options.ts'

/**
 * ```
 *   0  bell
 *  64  writer: the owner's word of the process that writes, or waits until it may; 0: none
 *  68  dirty: the owner's word of the process that began to write; 0 again when it ends in order
 *  72  tokens: how often the lock was held for writing
 * 128  two words for each participant: its owner's word, and how many holds for reading it has
 * ```
 */
export const LockOffset: Readonly<Record<'Writer' | 'Dirty' | 'Tokens' | 'Readers', number>> = {
  Writer: BELL_BYTES,
  Dirty: BELL_BYTES + 4,
  Tokens: BELL_BYTES + 8,
  Readers: 2 * BELL_BYTES,
}
export const ReaderOffset = { Owner: 0, Count: 4 } as const
const READER_BYTES = 8

/** Bytes of a lock's body. */
export const READ_WRITE_LOCK_BYTES: number = LockOffset.Readers + PARTICIPANTS_MAX * READER_BYTES

/** A hold on a read-write lock. It is released by `release()`, by a `using` block, or by the death of its process. */
export class ReadWriteHold implements Disposable {
  readonly mode: 'read' | 'write'
  /**
   * A fencing token: raised with each hold for writing. A hold for reading has the token of the last one before it.
   */
  readonly token: number
  /**
   * True if a process was killed while it wrote, and none has written in order since: what the lock protects may be
   * half changed.
   */
  readonly abandoned: boolean
  readonly #release: () => void

  /** @internal */
  constructor(mode: 'read' | 'write', token: number, abandoned: boolean, release: () => void) {
    this.mode = mode
    this.token = token
    this.abandoned = abandoned
    this.#release = release
  }

  /** Idempotent. */
  release(): void {
    this.#release()
  }

  [Symbol.dispose](): void {
    this.release()
  }
}

/**
 * Any number of readers or one writer, among all processes. A writer that waits goes before new readers. Not reentrant:
 * a process that holds the lock for reading and asks to write waits for itself.
 *
 * 1. A reader raises its own count, then looks at `writer`. If a living writer is there, it lowers its count and waits.
 * 2. A writer puts its name into `writer`, then looks at all counts, and waits until those of live processes are 0.
 * 3. In whatever order these come, one of the two sees the other: all accesses are sequentially consistent.
 * 4. Only its owner changes a count. The count of a dead process does not count, because its owner's word is
 *    dead. A new process in the same slot clears the count before it writes its own name.
 * 5. `dirty` is set after the counts were seen to be 0, and cleared before `writer` is. So if it is set while no living
 *    writer is there, a process was killed while it wrote.
 */
export class ReadWriteLock {
  readonly name: string
  readonly #heap: Heap
  readonly #meter: Meter
  readonly #bell: Bell
  readonly #holds: HeapHolds
  readonly #offset: number
  /** Where this process has its count. */
  readonly #own: number

  /** @internal */
  constructor(name: string, heap: Heap, offset: number) {
    this.name = name
    this.#heap = heap
    this.#offset = offset
    this.#own = readerAt(offset, heap.peers.slot)
    this.#meter = heap.meters.of('read-write lock', name)
    const describe = () => heap.describeWait(`read-write lock '${name}'`, heap.memory.load(offset + LockOffset.Writer))
    this.#bell = new Bell(heap, offset, { meter: this.#meter, describe })
    this.#holds = new HeapHolds(heap, this.#bell)
  }

  /** Resolves when it is held for reading. */
  async read(options?: WaitOptions): Promise<ReadWriteHold> {
    checkAbort('read', options)
    this.#meter.read()
    return await this.#bell.wait((ask) => this.#attemptRead(ask), options)
  }

  /** Block this thread until it is held for reading. @throws TimeoutError */
  readSync(options?: BlockOptions): ReadWriteHold {
    checkBlock('readSync', options)
    this.#meter.read()
    return this.#bell.waitSync((ask) => this.#attemptRead(ask), `reading under '${this.name}'`, options)
  }

  /** Hold it for reading unless a process writes or waits to; undefined then. */
  async tryRead(options?: WaitOptions): Promise<ReadWriteHold | undefined> {
    checkAbort('tryRead', options)
    return this.tryReadSync()
  }

  tryReadSync(): ReadWriteHold | undefined {
    this.#meter.read()
    return this.#attemptRead(true)
  }

  /** Resolves when it is held for writing. */
  async write(options?: WaitOptions): Promise<ReadWriteHold> {
    checkAbort('write', options)
    this.#meter.wrote()
    using claim = new WriteClaim(this.#heap, this.#offset, this.#holds)
    return await this.#bell.wait((ask) => claim.attempt(ask), options)
  }

  /** Block this thread until it is held for writing. @throws TimeoutError */
  writeSync(options?: BlockOptions): ReadWriteHold {
    checkBlock('writeSync', options)
    this.#meter.wrote()
    using claim = new WriteClaim(this.#heap, this.#offset, this.#holds)
    return this.#bell.waitSync((ask) => claim.attempt(ask), `writing under '${this.name}'`, options)
  }

  /** Hold it for writing if it is free; undefined otherwise. */
  async tryWrite(options?: WaitOptions): Promise<ReadWriteHold | undefined> {
    checkAbort('tryWrite', options)
    return this.tryWriteSync()
  }

  tryWriteSync(): ReadWriteHold | undefined {
    this.#meter.wrote()
    using claim = new WriteClaim(this.#heap, this.#offset, this.#holds)
    return claim.attempt(true)
  }

  #attemptRead(ask: boolean): ReadWriteHold | undefined {
    this.#heap.checkOpen()
    const { memory } = this.#heap
    this.#introduce()
    memory.store(this.#own + ReaderOffset.Count, memory.load(this.#own + ReaderOffset.Count) + 1)
    const writer = memory.load(this.#offset + LockOffset.Writer)
    if (writer !== 0 && this.#heap.isHolderThere(writer, ask)) {
      this.#endRead()
      return undefined
    }
    const token = memory.load(this.#offset + LockOffset.Tokens)
    const abandoned = memory.load(this.#offset + LockOffset.Dirty) !== 0
    const release = this.#heap.hold(() => this.#endRead())
    return new ReadWriteHold('read', token, abandoned, release)
  }

  /** The count may be that of a dead process which had this slot. */
  #introduce(): void {
    const { memory, owner } = this.#heap
    if (memory.load(this.#own + ReaderOffset.Owner) === owner) return
    memory.store(this.#own + ReaderOffset.Count, 0)
    memory.store(this.#own + ReaderOffset.Owner, owner)
  }

  #endRead(): void {
    const { memory } = this.#heap
    memory.store(this.#own + ReaderOffset.Count, memory.load(this.#own + ReaderOffset.Count) - 1)
    this.#bell.ring()
  }
}

/** A writer on its way to the lock. If it is disposed of before it has the lock, it lets others go first. */
class WriteClaim implements Disposable {
  readonly #heap: Heap
  readonly #offset: number
  readonly #holds: HeapHolds
  /** Lets go of `writer`, once this claim has it. */
  #letGo: (() => void) | undefined
  #wrote = false

  constructor(heap: Heap, offset: number, holds: HeapHolds) {
    this.#heap = heap
    this.#offset = offset
    this.#holds = holds
  }

  attempt(ask: boolean): ReadWriteHold | undefined {
    this.#heap.checkOpen()
    if (!this.#claim(ask) || !this.#areReadersGone(ask)) return undefined
    const { memory, owner } = this.#heap
    const abandoned = memory.exchange(this.#offset + LockOffset.Dirty, owner) !== 0
    this.#wrote = true
    const token = memory.fetchAdd(this.#offset + LockOffset.Tokens, 1) + 1
    return new ReadWriteHold('write', token, abandoned, this.#letGo!)
  }

  [Symbol.dispose](): void {
    if (!this.#wrote) this.#letGo?.()
  }

  #claim(ask: boolean): boolean {
    if (this.#letGo !== undefined) return true
    if (!isTaken(this.#holds.claim(this.#offset + LockOffset.Writer, ask))) return false
    this.#letGo = this.#heap.hold(() => this.#end())
    return true
  }

  #areReadersGone(ask: boolean): boolean {
    const { memory } = this.#heap
    const participants = memory.load(HeaderOffset.ParticipantsHigh)
    for (let slot = 0; slot < participants; slot += 1) {
      const at = readerAt(this.#offset, slot)
      // The count first: an owner writes its name before it raises the count.
      if (memory.load(at + ReaderOffset.Count) === 0) continue
      if (this.#heap.isHolderThere(memory.load(at + ReaderOffset.Owner), ask)) return false
    }
    return true
  }

  #end(): void {
    if (this.#wrote) this.#heap.memory.store(this.#offset + LockOffset.Dirty, 0)
    this.#holds.end(this.#offset + LockOffset.Writer, 0)
  }
}

/** Where a participant has its two words. */
export function readerAt(offset: number, slot: number): number {
  return offset + LockOffset.Readers + slot * READER_BYTES
}
