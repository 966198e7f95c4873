import type { HeldLock, LockRequest, Locks } from '../cluster/index.ts'
import {
  ArgumentError,
  ClosedError,
  checkBigint,
  checkInstance,
  checkOptions,
  checkSignal,
  mustBe,
  type OptionNames,
  UnsupportedError,
} from '../native/index.ts'
import type { Advice } from './advice/advice.ts'
import { Allocation, type Allocator, type AllocOptions, allocateFrom } from './allocation/allocation.ts'
import type { CoherenceKind } from './coherence.ts'
import { OutOfBoundsError, ReadOnlyError } from './errors.ts'
import type { PinnedRange } from './pinned-range.ts'
import { checkAccess, type RegionAccess } from './region-request.ts'
import type { RegionWindow } from './region-window.ts'
import { checkView, checkViewKind, type View, type ViewConstructor, type ViewOptions } from './view-kind.ts'

/** Bytes to read into or write from. */
export type Bytes = ArrayBufferView | ArrayBufferLike

/** Options of every asynchronous call on a region. */
export interface RegionCallOptions {
  /** Stop waiting; the call rejects with the signal's reason. It is then unknown whether the call took effect. */
  readonly signal?: AbortSignal
}

/** Options of `prefetch` and `pin`. */
export interface PrefetchOptions extends RegionCallOptions {
  /** The intended access; default `'read'`. For `'write'`, every other copy is taken away. */
  readonly access?: RegionAccess
}

/** Options of `lock`. */
export interface RegionLockRequest extends LockRequest {
  /** Which lock of the region; without a name, the one lock for the whole region. */
  readonly name?: string
}

const prefetchNames: OptionNames<PrefetchOptions> = { access: true, signal: true }
const lockNames: OptionNames<RegionLockRequest> = { name: true, mode: true, timeoutMs: true, signal: true }

/** @throws ArgumentError; the reason of the signal if it is aborted. */
export function checkPrefetch(call: string, options: PrefetchOptions | undefined): void {
  if (options === undefined) return
  checkOptions(call, options, prefetchNames)
  checkSignal('options.signal', options.signal)
}

/** Memory that a region takes up in this process. */
export interface MemoryUse {
  /** Bytes taken from the kernel. For `hardware` regions: by all members together, as far as it was taken at once. */
  readonly residentBytes: number
  /** Registered with the device that connects the ranks, in bytes: such memory cannot be swapped out. */
  readonly registeredBytes: number
  /** Of the resident bytes, those that pages of other ranks may have taken; counted only with a bound. */
  readonly cachedBytes: number
  /** The bound on `cachedBytes` in bytes; 0 if nothing is kept, null without a bound. */
  readonly cacheSize: number | null
  /**
   * Bytes of fenced pages that this rank's agent keeps, its own included, in addition to all of the above; 0 without
   * `replicas`.
   */
  readonly replicaBytes: number
  /**
   * What the memory is made of:
   * - `huge`: pages of 2 MiB from the system's pool, for regions whose page size is a multiple of 2 MiB
   * - `transparent`: such pages if the kernel finds them
   * - `ordinary`: ordinary pages
   */
  readonly pages: 'huge' | 'transparent' | 'ordinary'
}

/** The properties of a region, fixed when it is made. */
export interface RegionDescription {
  readonly name: string
  /** Length in bytes. */
  readonly size: number
  readonly coherence: CoherenceKind
  /** Unit of coherence in bytes. */
  readonly pageSize: number
  /** What this process may do with it. */
  readonly access: RegionAccess
}

/** One page as its home knows it, for people and tools. */
export interface PageDescription {
  readonly index: number
  readonly offsetBytes: number
  readonly lengthBytes: number
  /** The state's name in the table of the region's protocol; `hardware` without a protocol. */
  readonly state: string
  /** Rank that keeps it; null if there is none, or it is not decided yet (placement `'first-touch'`). */
  readonly home: number | null
  /** Slot or rank that may write it now; null if none or any of them may. */
  readonly owner: number | null
  /** Slots or ranks that hold a copy. */
  readonly sharers: readonly number[]
  /** How often it changed hands; null if that is not counted. */
  readonly version: number | null
}

const FENCE = new Int32Array(new SharedArrayBuffer(4))

/** The largest piece copied through one window at a time; windows overlap by more than this. */
const COPY_BYTES_MAX = 2 ** 30

/**
 * Named bytes that several processes share, seen as typed arrays. Every coherence kind is a subclass.
 *
 * Plain access through a view costs a typed-array load or store. The calls named `…Sync` work on the same memory, and
 * may block the thread if the kind has to fetch a page first. The plain-named calls never block.
 *
 * Offsets are bytes from the region's start. 64-bit atomics need offsets that are multiples of 8 and give unsigned
 * values (`BigInt.asIntN(64, value)` reads one as signed).
 */
export abstract class Region implements AsyncDisposable {
  readonly name: string
  /** Length in bytes. */
  readonly size: number
  readonly coherence: CoherenceKind
  /** Unit of coherence in bytes. */
  readonly pageSize: number
  /** What this process may do with it. */
  readonly access: RegionAccess
  /** Whole-region views, made at first use. */
  readonly #whole = new Map<unknown, View>()

  protected constructor(description: RegionDescription) {
    this.name = description.name
    this.size = description.size
    this.coherence = description.coherence
    this.pageSize = description.pageSize
    this.access = description.access
  }

  /** True once `close()` was called, or the space of the region has been closed. */
  abstract get closed(): boolean

  /**
   * The window that holds these bytes. The range was checked; `lengthBytes` is at most 4 GiB.
   * A kind that has no views throws UnsupportedError here and overrides the `…Sync` calls.
   * @internal
   */
  protected abstract windowAt(offsetBytes: number, lengthBytes: number): RegionWindow

  /** Copy from the region into `target` (its whole length). Resolves with `target`. */
  abstract read<T extends Bytes>(offsetBytes: number, target: T, options?: RegionCallOptions): Promise<T>
  /** Copy `source` into the region. */
  abstract write(offsetBytes: number, source: Bytes, options?: RegionCallOptions): Promise<void>
  /** Atomically add to the 64-bit word at `offsetBytes`, modulo 2^64. Resolves with the previous value. */
  abstract fetchAdd(offsetBytes: number, value: bigint, options?: RegionCallOptions): Promise<bigint>
  /**
   * Atomically store `desired` if the word equals `expected`. Resolves with the previous value: it was stored if that
   * equals `expected`.
   */
  abstract compareSwap(
    offsetBytes: number,
    expected: bigint,
    desired: bigint,
    options?: RegionCallOptions,
  ): Promise<bigint>
  /** Atomically replace the word. Resolves with the previous value. */
  abstract swap(offsetBytes: number, value: bigint, options?: RegionCallOptions): Promise<bigint>
  /** Make all earlier writes of this member visible to the others before any later write of it. */
  abstract fence(options?: RegionCallOptions): Promise<void>
  /** Fetch the pages of this range, for reading or (`access: 'write'`) for writing. Has no effect on `hardware`. */
  abstract prefetch(offsetBytes: number, lengthBytes: number, options?: PrefetchOptions): Promise<void>
  /**
   * Fetch the pages of this range, all requested at once, for a computation that knows what it is going to read or
   * write. Resolves when every page has been here. Other ranks may take them away again; {@link pin} prevents that.
   */
  abstract acquire(
    offsetBytes: number,
    lengthBytes: number,
    access: RegionAccess,
    options?: RegionCallOptions,
  ): Promise<void>
  /**
   * Give up the pages of this range, writing changed ones back to their homes. Resolves when that is done; pages that
   * are in use, or that other ranks want, are left alone. You do not have to release pages: it saves the next rank that
   * wants one a step.
   */
  abstract release(offsetBytes: number, lengthBytes: number): Promise<void>
  /**
   * Fetch the pages of this range, and keep them here until the {@link PinnedRange} is released. Views of it do not
   * fault meanwhile, and other ranks that want one of the pages wait. Two callers that pin the same pages in several
   * calls can wait for each other, until one of them gets a TimeoutError.
   *
   * ```ts
   * using pinned = await region.pin(0, 65536, { access: 'write' })
   * ```
   */
  abstract pin(offsetBytes: number, lengthBytes: number, options?: PrefetchOptions): Promise<PinnedRange>
  /** The keeper of the allocations. */
  protected abstract readonly allocator: Allocator
  /** The keeper of locks for the ranks that share the region; undefined if there is none. */
  protected abstract get locks(): Locks | undefined
  /** How much memory the region takes up in this process. */
  abstract memoryUse(): MemoryUse
  /** What is known about page `index`. */
  abstract page(index: number): PageDescription
  /**
   * Which pages bounce between ranks, which rank writes where in them, and what to do about it. It asks every rank's
   * agent, so blocked programs answer too. Ranks that have the region open with `advise` report. A rank that does not
   * answer within two seconds, or ends, is listed in `silent`.
   * @throws UnsupportedError for `hardware`, whose pages do not move.
   */
  abstract advice(options?: RegionCallOptions): Promise<Advice>
  /** Give up this member's hold. Views that are still in use then show private memory. Idempotent. */
  abstract close(): Promise<void>
  /** Delete the name. The bytes are given back when the last member that has the region open closes it or ends. */
  abstract delete(): Promise<void>

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /**
   * A typed array over part of the region: at most 4 GiB, anywhere. Use `Atomics` if several members write: the engine
   * may keep plain elements in registers for as long as it likes.
   * @throws ArgumentError for an offset that is not a multiple of the element size; OutOfBoundsError.
   */
  view<T extends View>(kind: ViewConstructor<T>, options: ViewOptions = {}): T {
    this.checkOpen()
    checkViewKind(kind)
    checkView(options)
    const { byteOffset = 0 } = options
    this.checkAligned(byteOffset, kind.BYTES_PER_ELEMENT, 'options.byteOffset')
    const length = options.length ?? Math.max(0, Math.floor((this.size - byteOffset) / kind.BYTES_PER_ELEMENT))
    checkLength(length)
    const lengthBytes = length * kind.BYTES_PER_ELEMENT
    this.checkRange(byteOffset, lengthBytes)
    this.#checkViewLength(byteOffset, lengthBytes)
    const window = this.windowAt(byteOffset, lengthBytes)
    return new kind(window.buffer, window.beginBytes + byteOffset - window.offsetBytes, length)
  }

  get int8(): Int8Array {
    return this.#wholeView(Int8Array)
  }
  get uint8(): Uint8Array {
    return this.#wholeView(Uint8Array)
  }
  get uint8Clamped(): Uint8ClampedArray {
    return this.#wholeView(Uint8ClampedArray)
  }
  get int16(): Int16Array {
    return this.#wholeView(Int16Array)
  }
  get uint16(): Uint16Array {
    return this.#wholeView(Uint16Array)
  }
  get int32(): Int32Array {
    return this.#wholeView(Int32Array)
  }
  get uint32(): Uint32Array {
    return this.#wholeView(Uint32Array)
  }
  get float32(): Float32Array {
    return this.#wholeView(Float32Array)
  }
  get float64(): Float64Array {
    return this.#wholeView(Float64Array)
  }
  get bigInt64(): BigInt64Array {
    return this.#wholeView(BigInt64Array)
  }
  get bigUint64(): BigUint64Array {
    return this.#wholeView(BigUint64Array)
  }

  /**
   * Reserve a part of the region, as long as `lengthBytes`, for the caller. If you use `alloc`, leave all offsets to
   * it. The bytes are not cleared: they are zero, or what the previous user of the part left.
   *
   * ```ts
   * const counters = await region.alloc(4096, { align: region.pageSize, name: 'counters' })
   * const words = region.view(BigInt64Array, { byteOffset: counters.offsetBytes, length: 512 })
   * ```
   *
   * @throws AllocationError if no such stretch is left, or that name has an allocation of another length;
   *   ArgumentError.
   */
  async alloc(lengthBytes: number, options: AllocOptions = {}): Promise<Allocation> {
    this.checkOpen()
    return await allocateFrom(this.allocator, this.name, lengthBytes, options)
  }

  /** Free an {@link Allocation}, for all processes. @throws AllocationError if it has been freed before. */
  async free(allocation: Allocation): Promise<void> {
    checkInstance('allocation', allocation, Allocation, 'as alloc() resolves with')
    this.checkOpen()
    await allocation.free()
  }

  /**
   * Take a lock of this region, which means what its users agree on. See `lock` of a group for the order in which ranks
   * get it.
   * @throws LockTimeoutError; UnsupportedError in a space, which has no keeper of locks.
   */
  async lock(options: RegionLockRequest = {}): Promise<HeldLock> {
    const { name, ...request } = this.#lockRequest('lock', options)
    return await this.#checkLocks().lock(name, request)
  }

  /** Like {@link lock}, blocking the thread. */
  lockSync(options: RegionLockRequest = {}): HeldLock {
    const { name, ...request } = this.#lockRequest('lockSync', options)
    return this.#checkLocks().lockSync(name, request)
  }

  /** Like {@link read}, on this thread. */
  readSync<T extends Bytes>(offsetBytes: number, target: T): T {
    const into = this.checkTransfer(offsetBytes, target, 'target')
    this.#eachPiece(offsetBytes, into, (memory, piece) => piece.set(memory))
    return target
  }

  /** Like {@link write}, on this thread. */
  writeSync(offsetBytes: number, source: Bytes): void {
    const from = this.checkTransfer(offsetBytes, source, 'source')
    this.#eachPiece(offsetBytes, from, (memory, piece) => memory.set(piece))
  }

  /** Like {@link fetchAdd}, on this thread. */
  fetchAddSync(offsetBytes: number, value: bigint): bigint {
    checkBigint('value', value)
    const window = this.#wordWindow(offsetBytes)
    return Atomics.add(window.words, (offsetBytes - window.offsetBytes) / 8, value)
  }

  /** Like {@link compareSwap}, on this thread. */
  compareSwapSync(offsetBytes: number, expected: bigint, desired: bigint): bigint {
    checkBigint('expected', expected)
    checkBigint('desired', desired)
    const window = this.#wordWindow(offsetBytes)
    const index = (offsetBytes - window.offsetBytes) / 8
    return Atomics.compareExchange(window.words, index, BigInt.asUintN(64, expected), desired)
  }

  /** Like {@link swap}, on this thread. */
  swapSync(offsetBytes: number, value: bigint): bigint {
    checkBigint('value', value)
    const window = this.#wordWindow(offsetBytes)
    return Atomics.exchange(window.words, (offsetBytes - window.offsetBytes) / 8, value)
  }

  /** Like {@link fence}, on this thread. */
  fenceSync(): void {
    this.checkOpen()
    // A sequentially consistent read-modify-write, which no access moves across.
    Atomics.add(FENCE, 0, 0)
  }

  /** Throws ClosedError once the region is closed. */
  protected checkOpen(): void {
    if (this.closed) throw new ClosedError(`region '${this.name}'`)
  }

  /** Throws ReadOnlyError if this process may not write. */
  protected checkWritable(): void {
    if (this.access === 'read') throw new ReadOnlyError(this.name)
  }

  /** For windows: the message of a store that ends the process; undefined if stores are allowed. */
  protected get storeSentence(): string | undefined {
    if (this.access !== 'read') return undefined
    return `region '${this.name}' is open for reading only in this process, and a view of it was written. A view cannot throw, so the process ends. Open it with access: 'write' to write.`
  }

  /** Checks a call that requests a range. Returns the intended access. */
  protected checkWanted(offsetBytes: number, lengthBytes: number, access: RegionAccess): RegionAccess {
    this.checkOpen()
    this.checkRange(offsetBytes, lengthBytes)
    if (checkAccess(access) === 'write') this.checkWritable()
    return access
  }

  /** Throws OutOfBoundsError unless the range is within the region. */
  protected checkRange(offsetBytes: number, lengthBytes: number): void {
    const whole = Number.isSafeInteger(offsetBytes) && Number.isSafeInteger(lengthBytes)
    if (whole && offsetBytes >= 0 && lengthBytes >= 0 && offsetBytes + lengthBytes <= this.size) return
    if (typeof offsetBytes !== 'number') throw mustBe('offsetBytes', 'a number of bytes', offsetBytes)
    if (typeof lengthBytes !== 'number') throw mustBe('lengthBytes', 'a number of bytes', lengthBytes)
    throw new OutOfBoundsError(this.name, offsetBytes, lengthBytes, this.size)
  }

  /** Throws ArgumentError unless `offsetBytes` is a multiple of `unit`. */
  protected checkAligned(offsetBytes: number, unit: number, argument: string): void {
    if (Number.isSafeInteger(offsetBytes) && offsetBytes % unit === 0) return
    throw mustBe(argument, `a multiple of ${unit}`, offsetBytes)
  }

  /** Checks a 64-bit atomic operation, which writes. */
  protected checkWord(offsetBytes: number): void {
    this.checkOpen()
    this.checkWritable()
    this.checkAligned(offsetBytes, 8, 'offsetBytes')
    this.checkRange(offsetBytes, 8)
  }

  /** Checks a copy; returns the caller's memory as bytes. */
  protected checkTransfer(offsetBytes: number, memory: Bytes, argument: 'target' | 'source'): Uint8Array {
    this.checkOpen()
    if (argument === 'source') this.checkWritable()
    const bytes = asBytes(memory, argument)
    this.checkRange(offsetBytes, bytes.byteLength)
    return bytes
  }

  /** For `close()`: whole-region views are no longer handed out. */
  protected forgetViews(): void {
    this.#whole.clear()
  }

  #checkLocks(): Locks {
    this.checkOpen()
    const { locks } = this
    if (locks !== undefined) return locks
    throw new UnsupportedError(
      `region '${this.name}' is in a space, which has no locks; use a region of a group (join()), or a mutex of openStructures()`,
    )
  }

  /** With the name that it has in the group. */
  #lockRequest(call: string, options: RegionLockRequest): LockRequest & { readonly name: string } {
    checkOptions(call, options, lockNames)
    const { name = '', ...request } = options
    if (typeof name !== 'string') throw mustBe('options.name', 'a string', name)
    return { name: `region/${this.name}/${name}`, ...request }
  }

  #wholeView<T extends View>(kind: ViewConstructor<T>): T {
    this.checkOpen()
    const known = this.#whole.get(kind)
    if (known !== undefined) return known as T
    const made = this.view(kind)
    this.#whole.set(kind, made)
    return made
  }

  #wordWindow(offsetBytes: number): RegionWindow {
    this.checkWord(offsetBytes)
    return this.windowAt(offsetBytes, 8)
  }

  /** A window begins at a page and holds 4 GiB. */
  #checkViewLength(byteOffset: number, lengthBytes: number): void {
    if ((byteOffset % 4096) + lengthBytes <= 2 ** 32) return
    throw new ArgumentError(
      'options.length',
      `options.length: a view of ${lengthBytes} bytes exceeds the 4 GiB that JavaScript allows; take several views with byteOffset and length`,
    )
  }

  #eachPiece(offsetBytes: number, bytes: Uint8Array, copy: (memory: Uint8Array, piece: Uint8Array) => void): void {
    for (let done = 0; done < bytes.byteLength; done += COPY_BYTES_MAX) {
      const piece = bytes.subarray(done, done + COPY_BYTES_MAX)
      const window = this.windowAt(offsetBytes + done, piece.byteLength)
      const begin = offsetBytes + done - window.offsetBytes
      copy(window.bytes.subarray(begin, begin + piece.byteLength), piece)
    }
  }
}

function checkLength(length: number): void {
  if (Number.isSafeInteger(length) && length >= 0) return
  throw mustBe('options.length', 'a whole number of elements', length)
}

function asBytes(memory: Bytes, argument: string): Uint8Array {
  const isView = ArrayBuffer.isView(memory)
  if (!isView && !(memory instanceof ArrayBuffer || memory instanceof SharedArrayBuffer))
    throw mustBe(argument, 'a typed array, a DataView or a buffer', memory)
  // Of detached memory there can be no view.
  if (memory.byteLength === 0) return new Uint8Array(0)
  return isView ? new Uint8Array(memory.buffer, memory.byteOffset, memory.byteLength) : new Uint8Array(memory)
}
