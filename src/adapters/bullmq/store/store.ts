import process from 'node:process'
import { describeProcess, type Membership } from '../../../cluster/index.ts'
import { parseSize, type Region, type Size, type Space } from '../../../dsm/index.ts'
import { ArgumentError, ClosedError, native, TimeoutError } from '../../../native/index.ts'
import {
  Bell,
  LocalMemory,
  MemberPeers,
  type Mutex,
  type MutexHold,
  ownerEpoch,
  ownerSlot,
  ownerWord,
  STORE_MAGIC,
  STORE_NAME,
  StoreHead,
  StructureError,
  type Structures,
} from '../../../structures/index.ts'
import { BlockAllocator } from './block-allocator.ts'
import { BELL_STRIDE_BYTES, BELLS, HeaderOffset, STORE_BYTES_MAX, STORE_BYTES_MIN } from './layout.ts'
import { OrderedSets } from './ordered-sets.ts'
import { hashName, Tables } from './tables.ts'
import { Texts } from './texts.ts'
import { UndoMemory } from './undo-memory.ts'

/** A holder that lost its processor gets it back within this time; so long, waiting blocks this thread. */
const BLOCKED_MS_MAX = 20
/** As for the lock of a space. */
const LOCK_TIMEOUT_MS = 10_000
/** A transaction whose undo log is fuller than this ends as soon as it can. */
const FULLNESS_MAX = 0.4
/** What it takes in the undo log to give a block back. */
const FREE_ENTRIES = 24

/** What `Store.open` needs of a space that is open. */
export interface StorePlace {
  readonly space: Space
  readonly structures: Structures
}

/** A kind of waiter: for jobs, or for events. */
export type Waiter = 'jobs' | 'events'

/**
 * Memory of all queues of a space: tables, ordered sets and texts under one mutex, changed in transactions. A
 * transaction is done or was never there, for every process, if its process is killed at any instruction: see
 * undo-memory.ts.
 */
export class Store {
  readonly memory: UndoMemory
  readonly texts: Texts
  readonly tables: Tables
  readonly allocator: BlockAllocator
  /** This member of the space, as the holder of something. */
  readonly owner: number
  readonly #peers: MemberPeers
  readonly #region: Region
  readonly #mutex: Mutex
  readonly #words: LocalMemory
  readonly #bells: readonly Bell[]
  readonly #rung = new Set<number>()
  readonly #clockShiftMs: number
  #before: () => void = () => {}
  #undone: () => void = () => {}
  #inside = false

  private constructor(region: Region, mutex: Mutex, membership: Membership) {
    this.#region = region
    this.#mutex = mutex
    this.#words = new LocalMemory(region.uint8.subarray(0, region.size & ~15))
    this.memory = new UndoMemory(region.uint8.subarray(0, region.size & ~15))
    this.allocator = new BlockAllocator(this.memory)
    this.texts = new Texts(this.memory, this.allocator)
    this.tables = new Tables(this.memory, this.allocator, this.texts)
    this.#peers = new MemberPeers(membership)
    this.#clockShiftMs = membership.arena.clockShiftMs
    this.owner = ownerWord(this.#peers.slot, this.#peers.epoch)
    const home = { memory: this.#words, peers: this.#peers, checkOpen: () => this.checkOpen() }
    this.#bells = Array.from({ length: BELLS }, (_, at) => new Bell(home, bellOffset(at)))
  }

  /** @throws RegionError if it exists with another size; StructureError for another version; MemoryExhaustedError. */
  static async open({ space, structures }: StorePlace, size: Size | undefined, defaultSize: Size): Promise<Store> {
    const known = space.regions().find((region) => region.name === STORE_NAME)
    const wanted = size ?? (known === undefined ? defaultSize : undefined)
    const mutex = await structures.mutex(STORE_NAME)
    const region = await space.openRegion(STORE_NAME, {
      coherence: 'hardware',
      ...(wanted === undefined ? {} : { size: checkSize(wanted) }),
    })
    const store = new Store(region, mutex, space.membership)
    await store.transaction(() => store.#introduce())
    return store
  }

  get closed(): boolean {
    return this.#region.closed
  }

  checkOpen(): void {
    if (this.closed) throw new ClosedError('the store of queues')
  }

  /** Whether the process of this member is alive. No member has the word 0. */
  isThere(owner: number): boolean {
    return owner !== 0 && this.#peers.isAlive(ownerSlot(owner), ownerEpoch(owner))
  }

  /**
   * Milliseconds of the store's clock, by which locks, limits and deduplication keys end. A change of the time of day
   * does not change it. It goes on after a restart of the machine, and after a restore.
   */
  nowMs(): number {
    return native.monotonicNs() / 1e6 + this.#clockShiftMs + this.memory.float(StoreHead.ClockShift)
  }

  orderedSets(compareItems: (a: number, b: number) => number): OrderedSets {
    return new OrderedSets(this.memory, this.allocator, compareItems)
  }

  /** Call `before` when a transaction is about to end, and `undone` when one was undone. */
  onTransaction(before: () => void, undone: () => void): void {
    this.#before = before
    this.#undone = undone
  }

  /** Share of the undo log that the open transaction has used: time to end it, and go on in another. */
  get isNearlyFull(): boolean {
    return this.memory.fullness(this.allocator.freedBlocks * FREE_ENTRIES) > FULLNESS_MAX
  }

  /**
   * Run `work` alone, as a whole or not at all: what it throws undoes it.
   * @throws TimeoutError naming the process that holds the store.
   */
  async transaction<T>(work: () => T): Promise<T> {
    this.checkOpen()
    const hold = this.#tryLock() ?? (await this.#lock())
    try {
      this.checkOpen()
      return this.#run(work)
    } finally {
      hold.release()
      this.#ring()
    }
  }

  /** How often waiters of the queue have had a reason to look. */
  announced(waiter: Waiter, queue: string): number {
    return this.#words.load(bellOffset(bellOf(waiter, queue)) + BELL_STRIDE_BYTES / 2)
  }

  /** Resolves when there is a reason to look that is newer than `seen`. */
  async waitFor(waiter: Waiter, queue: string, seen: number, signal: AbortSignal): Promise<void> {
    const changed = () => this.announced(waiter, queue) !== seen || undefined
    await this.#bells[bellOf(waiter, queue)]!.wait(changed, { signal })
  }

  /** The open transaction changes what waiters of the queue wait for. */
  announce(waiter: Waiter, queue: string): void {
    this.#rung.add(bellOf(waiter, queue))
  }

  #run<T>(work: () => T): T {
    if (this.memory.changed) this.memory.undo()
    this.#words.store(StoreHead.Holder, process.pid)
    this.#inside = true
    try {
      const outcome = work()
      this.#before()
      this.allocator.settle()
      // Before the commit: if this process is killed in between, waiters look in vain, instead of missing the change.
      for (const bell of this.#rung) this.#words.fetchAdd(bellOffset(bell) + BELL_STRIDE_BYTES / 2, 1)
      this.memory.commit()
      return outcome
    } catch (error) {
      this.memory.undo()
      this.allocator.forget()
      this.#rung.clear()
      this.#undone()
      throw error
    } finally {
      this.#inside = false
    }
  }

  /** Undefined if another process holds it for longer than it should. */
  #tryLock(): MutexHold | undefined {
    if (this.#inside) return undefined
    const hold = this.#mutex.tryLockSync()
    if (hold !== undefined) return hold
    try {
      return this.#mutex.lockSync({ timeoutMs: BLOCKED_MS_MAX })
    } catch (error) {
      if (error instanceof TimeoutError) return undefined
      throw error
    }
  }

  async #lock(): Promise<MutexHold> {
    const signal = AbortSignal.timeout(LOCK_TIMEOUT_MS)
    try {
      return await this.#mutex.lock({ signal })
    } catch (error) {
      if (!signal.aborted) throw error
      const holder = this.#words.load(StoreHead.Holder)
      const what = `${describeProcess(holder)}, has held the queues of the space for ${LOCK_TIMEOUT_MS / 1000} s`
      throw new TimeoutError(`${what}; continue it (kill -CONT ${holder}) or end it`)
    }
  }

  #ring(): void {
    for (const bell of this.#rung) this.#bells[bell]!.ring()
    this.#rung.clear()
  }

  #introduce(): void {
    const magic = this.memory.word(StoreHead.Magic)
    if (magic === STORE_MAGIC) return
    if (magic !== 0) {
      const what = `region '${STORE_NAME}' holds other data than queues, or queues of another version of this package`
      throw new StructureError('ERR_AETHER_STRUCTURES_VERSION', STORE_NAME, what)
    }
    this.allocator.format()
    this.memory.setWord(StoreHead.Magic, STORE_MAGIC)
  }
}

function bellOf(waiter: Waiter, queue: string): number {
  const half = BELLS / 2
  return ((hashName(queue) >>> 0) % half) + (waiter === 'jobs' ? 0 : half)
}

function bellOffset(bell: number): number {
  return HeaderOffset.Bells + bell * BELL_STRIDE_BYTES
}

/** @throws ArgumentError */
export function checkSize(size: Size): number {
  const bytes = parseSize(size, 'options.size')
  if (bytes >= STORE_BYTES_MIN && bytes <= STORE_BYTES_MAX) return bytes
  throw new ArgumentError('options.size', `options.size must be from 1 MiB to 2047 MiB, not ${bytes} bytes`)
}
