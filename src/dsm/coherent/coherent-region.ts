import { type Locks, MemberEndedError } from '../../cluster/index.ts'
import { ArgumentError, ClosedError, checkAbort, checkBigint, mustBe, native } from '../../native/index.ts'
import type { Advice } from '../advice/advice.ts'
import { adviseOn } from '../advice/advise.ts'
import type { Gathered } from '../advice/gathering.ts'
import { decodeRecord, type PageRecord } from '../advice/page-record.ts'
import type { Allocator } from '../allocation/allocation.ts'
import type { AllocationOutcome } from '../allocation/allocations.ts'
import { PageRight, PageWords } from '../mmu/page-words.ts'
import { WindowTable } from '../mmu/window-table.ts'
import { PinnedRange } from '../pinned-range.ts'
import {
  type Bytes,
  checkPrefetch,
  type MemoryUse,
  type PageDescription,
  type PrefetchOptions,
  Region,
  type RegionCallOptions,
} from '../region.ts'
import type { RegionAccess } from '../region-request.ts'
import { RegionWindow } from '../region-window.ts'
import { WindowSet } from '../window-set.ts'
import type { CoherentHost } from './coherent-host.ts'
import { HUGE_PAGE_BYTES } from './frame-object.ts'
import type { Frames } from './frames.ts'
import { Lookahead } from './lookahead.ts'
import { MappedFrames } from './mapped-frames.ts'
import { PageAccess } from './page-access.ts'
import { homeFunction, NO_HOME } from './placement.ts'
import type { PageRange } from './readahead.ts'
import { pageCount, type RegionPlan } from './region-plan.ts'
import type { PageKnowledge } from './region-server.ts'

/** A fence waits no longer for those who keep what was written: they live, or are out of the group by then. */
const FENCE_MS_MAX = 60_000
/** How long `page()` waits for the home's answer. */
const PAGE_ANSWER_MS = 5000

/**
 * Pages that are under way at a time in a copy: enough to cover the round trips of one with the copies of the others.
 */
const PAGES_AHEAD = 16
/**
 * Pages that are asked for at once where nothing else is to be done meanwhile: half of what the ring of demands holds.
 */
const PAGES_AT_ONCE = 512
const SYSTEM_PAGE_BYTES = 4096

/** Where the home of a page does not answer. */
const NOTHING_KNOWN = { state: undefined, owner: -1, sharers: [], version: null }

/** An atomic operation as the program called it. */
interface AtomicCall {
  readonly name: string
  readonly operands: Readonly<Record<string, bigint>>
  readonly options: RegionCallOptions | undefined
}

/**
 * A region whose ranks have memory of their own. The agent answers the page faults of views. The explicit calls below
 * ask the agent for the page, hold it while they copy, and never fault. A call that spans pages is not atomic as a
 * whole; each page's part is.
 */
export class CoherentRegion extends Region {
  readonly plan: RegionPlan
  readonly #host: CoherentHost
  readonly id: number
  readonly #frames: Frames
  readonly #access: PageAccess
  readonly #windowTable: WindowTable
  readonly #windows: WindowSet
  #closing: Promise<void> | undefined

  constructor(host: CoherentHost, plan: RegionPlan, id: number, access: RegionAccess) {
    super({ name: plan.name, size: plan.size, coherence: plan.coherence, pageSize: plan.pageSize, access })
    this.plan = plan
    this.#host = host
    this.id = id
    const { size, pageSize } = plan
    const pages = pageCount(size, pageSize)
    this.#frames = new MappedFrames({
      ...{ descriptor: plan.framesDescriptor, isOwn: false, pages: plan.framePages },
      sizeBytes: pages * pageSize,
      unitBytes: pageSize,
    })
    this.#windowTable = new WindowTable(plan.windows)
    this.#windows = this.#newWindows()
    this.#access = this.#newAccess()
  }

  get closed(): boolean {
    return this.#closing !== undefined
  }

  async read<T extends Bytes>(offsetBytes: number, target: T, options?: RegionCallOptions): Promise<T> {
    checkAbort('read', options)
    const bytes = this.checkTransfer(offsetBytes, target, 'target')
    await this.#transfer(offsetBytes, bytes, PageRight.Read, options?.signal)
    return target
  }

  async write(offsetBytes: number, source: Bytes, options?: RegionCallOptions): Promise<void> {
    checkAbort('write', options)
    const bytes = this.checkTransfer(offsetBytes, source, 'source')
    await this.#transfer(offsetBytes, bytes, PageRight.Write, options?.signal)
  }

  override readSync<T extends Bytes>(offsetBytes: number, target: T): T {
    const bytes = this.checkTransfer(offsetBytes, target, 'target')
    this.#transferSync(offsetBytes, bytes, PageRight.Read)
    return target
  }

  override writeSync(offsetBytes: number, source: Bytes): void {
    this.#transferSync(offsetBytes, this.checkTransfer(offsetBytes, source, 'source'), PageRight.Write)
  }

  fetchAdd(offsetBytes: number, value: bigint, options?: RegionCallOptions): Promise<bigint> {
    const call = { name: 'fetchAdd', operands: { value }, options }
    return this.#atomic(offsetBytes, call, (words, index) => Atomics.add(words, index, value))
  }

  override fetchAddSync(offsetBytes: number, value: bigint): bigint {
    checkBigint('value', value)
    return this.#atomicSync(offsetBytes, (words, index) => Atomics.add(words, index, value))
  }

  compareSwap(offsetBytes: number, expected: bigint, desired: bigint, options?: RegionCallOptions): Promise<bigint> {
    const call = { name: 'compareSwap', operands: { expected, desired }, options }
    return this.#atomic(offsetBytes, call, (words, index) =>
      Atomics.compareExchange(words, index, BigInt.asUintN(64, expected), desired),
    )
  }

  override compareSwapSync(offsetBytes: number, expected: bigint, desired: bigint): bigint {
    checkBigint('expected', expected)
    checkBigint('desired', desired)
    const wanted = BigInt.asUintN(64, expected)
    return this.#atomicSync(offsetBytes, (words, index) => Atomics.compareExchange(words, index, wanted, desired))
  }

  swap(offsetBytes: number, value: bigint, options?: RegionCallOptions): Promise<bigint> {
    const call = { name: 'swap', operands: { value }, options }
    return this.#atomic(offsetBytes, call, (words, index) => Atomics.exchange(words, index, value))
  }

  override swapSync(offsetBytes: number, value: bigint): bigint {
    checkBigint('value', value)
    return this.#atomicSync(offsetBytes, (words, index) => Atomics.exchange(words, index, value))
  }

  /**
   * Every write here takes effect while its page is held alone. So the fence waits only for this thread's own accesses
   * and, with `replicas: 1`, for the ranks that keep what was written.
   */
  async fence(options?: RegionCallOptions): Promise<void> {
    checkAbort('fence', options)
    this.checkOpen()
    Atomics.load(new Int32Array(this.plan.words, 0, 1), 0)
    if (this.plan.replicas > 0) await this.#host.agent.command('fence', this.id)
  }

  override fenceSync(): void {
    super.fenceSync()
    if (this.plan.replicas > 0) this.#host.agent.commandSync('fence', this.id, FENCE_MS_MAX)
  }

  /** Resolves when every page of the range has been here; another rank may have taken some away again by then. */
  async prefetch(offsetBytes: number, lengthBytes: number, options?: PrefetchOptions): Promise<void> {
    checkPrefetch('prefetch', options)
    const access = this.checkWanted(offsetBytes, lengthBytes, options?.access ?? 'read')
    await this.#bring(offsetBytes, lengthBytes, rightOf(access), PAGES_AHEAD, options?.signal)
  }

  async acquire(
    offsetBytes: number,
    lengthBytes: number,
    access: RegionAccess,
    options?: RegionCallOptions,
  ): Promise<void> {
    checkAbort('acquire', options)
    this.checkWanted(offsetBytes, lengthBytes, access)
    await this.#bring(offsetBytes, lengthBytes, rightOf(access), PAGES_AT_ONCE, options?.signal)
  }

  async release(offsetBytes: number, lengthBytes: number): Promise<void> {
    this.checkOpen()
    this.checkRange(offsetBytes, lengthBytes)
    await this.#host.agent.command('giveUp', { id: this.id, ...this.#pagesOf(offsetBytes, lengthBytes) })
  }

  async pin(offsetBytes: number, lengthBytes: number, options?: PrefetchOptions): Promise<PinnedRange> {
    checkPrefetch('pin', options)
    const access = this.checkWanted(offsetBytes, lengthBytes, options?.access ?? 'read')
    const { from, to } = this.#pagesOf(offsetBytes, lengthBytes)
    this.#checkCacheHolds(to - from)
    await this.#bring(offsetBytes, lengthBytes, rightOf(access), PAGES_AT_ONCE, options?.signal)
    let end = from
    const unpin = (): void => {
      for (let page = from; page < end; page += 1) this.#access.unpin(page)
    }
    try {
      // In ascending order everywhere, so that two who want the same pages do not wait for each other.
      for (; end < to; end += 1) await this.#access.pin(end, rightOf(access), options?.signal)
    } catch (error) {
      unpin()
      throw error
    }
    return new PinnedRange(offsetBytes, lengthBytes, access, unpin)
  }

  memoryUse(): MemoryUse {
    this.checkOpen()
    const counted = this.#host.agent.commandSync('memoryUse', this.id, PAGE_ANSWER_MS) as Omit<MemoryUse, 'cacheSize'>
    return { ...counted, cacheSize: this.plan.cacheBytes ?? null }
  }

  page(index: number): PageDescription {
    this.checkOpen()
    if (!Number.isSafeInteger(index)) throw mustBe('index', 'a page number, a whole number from 0 on', index)
    const offsetBytes = index * this.pageSize
    const lengthBytes = Math.min(this.pageSize, this.size - offsetBytes)
    this.checkRange(offsetBytes, Math.max(1, lengthBytes))
    const known = this.#host.agent.commandSync('page', { id: this.id, page: index }, PAGE_ANSWER_MS) as PageKnowledge
    const { state, owner, sharers, version } = known.directory ?? NOTHING_KNOWN
    const home = known.home === NO_HOME ? null : known.home
    const place = { index, offsetBytes, lengthBytes, home }
    return { ...place, state: state ?? known.copy, owner: owner < 0 ? null : owner, sharers, version }
  }

  async advice(options?: RegionCallOptions): Promise<Advice> {
    checkAbort('advice', options)
    this.checkOpen()
    const { said, unwatched, silent, more } = (await this.#host.agent.command('advice', this.id)) as Gathered
    const pages = pageCount(this.size, this.pageSize)
    const known = said.map(([rank, records]) => {
      const sound = records.map((record) => decodeRecord(record, this.pageSize))
      return [rank, sound.filter((record) => record !== undefined && record.page < pages)] as const
    }) as [number, PageRecord[]][]
    return { region: this.name, pages: adviseOn(this, new Map(known)), unwatched, silent, more }
  }

  /**
   * Take the views away. This rank's agent goes on serving the pages it holds until every rank has closed the region.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** The name becomes free when every rank has closed the region; there is nothing else to delete. */
  async delete(): Promise<void> {
    await this.close()
  }

  /** The process leaves the group: nothing can be asked of the agent any more. */
  abandon(): void {
    this.#closing ??= Promise.resolve()
    this.#access.close()
    this.forgetViews()
  }

  /** After the agent has stopped serving it. */
  unmap(): void {
    this.#closeWindows()
    this.#frames.close()
  }

  protected get allocator(): Allocator {
    const { agent } = this.#host
    const ask = async (question: object): Promise<AllocationOutcome> => {
      const asked = { region: this.id, sizeBytes: this.size, ...question }
      const outcome = (await agent.command('allocation', asked)) as AllocationOutcome | undefined
      if (outcome !== undefined) return outcome
      throw new MemberEndedError([0], `rank 0 has ended or left; it kept the allocations of region '${this.name}'`)
    }
    return { allocate: (allocate) => ask({ allocate }), free: (free) => ask({ free }) }
  }

  protected get locks(): Locks {
    return this.#host.locks
  }

  protected windowAt(offsetBytes: number, lengthBytes: number): RegionWindow {
    return this.#windows.at(offsetBytes, lengthBytes)
  }

  #newAccess(): PageAccess {
    const { name, size, pageSize, words, placement } = this.plan
    const { demands, agent, ranks } = this.#host
    const homeOf = homeFunction(placement, pageCount(size, pageSize), ranks)
    return new PageAccess({ region: name, id: this.id, pageSize, words: new PageWords(words), demands, agent, homeOf })
  }

  #newWindows(): WindowSet {
    const { size, pageSize } = this.plan
    const open = (offsetBytes: number, lengthBytes: number): RegionWindow => this.#openWindow(offsetBytes, lengthBytes)
    return new WindowSet(pageCount(size, pageSize) * pageSize, open, this.#systemPageBytes)
  }

  /** Views are mapped by whole pages of the system's. */
  get #systemPageBytes(): number {
    return this.plan.framePages === 'huge' ? HUGE_PAGE_BYTES : SYSTEM_PAGE_BYTES
  }

  /** The agent must know the window before a page of it can be touched. */
  #openWindow(offsetBytes: number, lengthBytes: number): RegionWindow {
    const { userfault } = this.#host
    if ('refused' in userfault) throw userfault.refused
    const window = new RegionWindow(
      this.plan.framesDescriptor,
      offsetBytes,
      offsetBytes,
      lengthBytes,
      this.storeSentence,
      this.#systemPageBytes,
    )
    native.registerUserfault(userfault.descriptor, window.address, lengthBytes)
    if (this.#windowTable.tryAdd({ address: window.address, offsetBytes, lengthBytes })) return window
    window.close()
    throw new ClosedError(`the table of windows of region '${this.name}' is full; a new window`)
  }

  async #close(): Promise<void> {
    this.forgetViews()
    this.#access.close()
    const { agent } = this.#host
    // The agent drops the windows before they are unmapped.
    await agent.command('closeWindows', this.id)
    this.#closeWindows()
    await agent.command('closeRegion', this.name)
  }

  /** A program thread that waits for a page of a view is woken: it finds private memory there. */
  #closeWindows(): void {
    const { userfault } = this.#host
    const places = this.#windows.places()
    this.#windows.close()
    if ('refused' in userfault) return
    for (const { address, lengthBytes } of places) native.wakePages(userfault.descriptor, address, lengthBytes)
  }

  async #transfer(
    offsetBytes: number,
    bytes: Uint8Array,
    right: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const copy = this.#copier(bytes, right)
    const lookahead = this.#lookahead(offsetBytes + bytes.byteLength, right, PAGES_AHEAD)
    for (const piece of this.#pieces(offsetBytes, bytes.byteLength)) {
      if (!this.#access.tryPin(piece.page, right)) {
        lookahead.from(piece.page)
        await this.#access.pin(piece.page, right, signal)
      }
      copy(piece.offsetBytes, piece.begin, piece.lengthBytes)
      this.#access.unpin(piece.page)
    }
    copy.finish()
  }

  #transferSync(offsetBytes: number, bytes: Uint8Array, right: number): void {
    const copy = this.#copier(bytes, right)
    const lookahead = this.#lookahead(offsetBytes + bytes.byteLength, right, PAGES_AHEAD)
    for (const piece of this.#pieces(offsetBytes, bytes.byteLength)) {
      if (!this.#access.tryPin(piece.page, right)) {
        lookahead.from(piece.page)
        this.#access.pinSync(piece.page, right)
      }
      copy(piece.offsetBytes, piece.begin, piece.lengthBytes)
      this.#access.unpin(piece.page)
    }
    copy.finish()
  }

  /**
   * Copies between the frames and the caller's memory while a page is pinned. Shared memory of the caller's may be a
   * view of a region, and a fault under a pin could wait for a rank that waits for the pin: so such memory is copied
   * outside of it.
   */
  #copier(
    bytes: Uint8Array,
    right: number,
  ): { (offsetBytes: number, begin: number, lengthBytes: number): void; finish(): void } {
    const staged = bytes.buffer instanceof SharedArrayBuffer
    const memory = staged ? new Uint8Array(bytes) : bytes
    const copy = (offsetBytes: number, begin: number, lengthBytes: number): void => {
      const chunk = this.#frames.chunkAt(offsetBytes)
      const at = offsetBytes - chunk.offsetBytes
      if (right === PageRight.Write) chunk.bytes.set(memory.subarray(begin, begin + lengthBytes), at)
      else memory.set(chunk.bytes.subarray(at, at + lengthBytes), begin)
    }
    const finish = (): void => {
      if (staged && right === PageRight.Read) bytes.set(memory)
    }
    return Object.assign(copy, { finish })
  }

  /** Bring all pages of a range here, a bounded number of them at a time. */
  async #bring(
    offsetBytes: number,
    lengthBytes: number,
    right: number,
    pagesAhead: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const lookahead = this.#lookahead(offsetBytes + lengthBytes, right, pagesAhead)
    for (const { page } of this.#pieces(offsetBytes, lengthBytes)) {
      if (!this.#access.tryPin(page, right)) {
        lookahead.from(page)
        await this.#access.pin(page, right, signal)
      }
      this.#access.unpin(page)
    }
  }

  #lookahead(endBytes: number, right: number, pagesAhead: number): Lookahead {
    const { cacheBytes = Number.POSITIVE_INFINITY } = this.plan
    // No more than half of what the cache holds: those fetched first would leave before they are used.
    const ahead = Math.min(pagesAhead, Math.floor(cacheBytes / this.pageSize / 2))
    return new Lookahead(this.#access, Math.ceil(endBytes / this.pageSize), right, ahead)
  }

  #pagesOf(offsetBytes: number, lengthBytes: number): PageRange {
    const from = Math.floor(offsetBytes / this.pageSize)
    return { from, to: lengthBytes === 0 ? from : Math.ceil((offsetBytes + lengthBytes) / this.pageSize) }
  }

  #checkCacheHolds(pages: number): void {
    const { cacheBytes } = this.plan
    if (cacheBytes === undefined || cacheBytes === 0 || pages * this.pageSize <= cacheBytes) return
    const what = `${pages} pages of ${this.pageSize} bytes cannot be pinned in a cache of ${cacheBytes} bytes`
    throw new ArgumentError('lengthBytes', `${what}; pin less at a time, or open the region with a larger cacheSize`)
  }

  /** The parts of a range, page by page. */
  *#pieces(
    offsetBytes: number,
    lengthBytes: number,
  ): Generator<{ page: number; offsetBytes: number; begin: number; lengthBytes: number }> {
    for (let begin = 0; begin < lengthBytes; ) {
      const at = offsetBytes + begin
      const page = Math.floor(at / this.pageSize)
      const length = Math.min(lengthBytes - begin, (page + 1) * this.pageSize - at)
      yield { page, offsetBytes: at, begin, lengthBytes: length }
      begin += length
    }
  }

  async #atomic(
    offsetBytes: number,
    { name, operands, options }: AtomicCall,
    act: (words: BigUint64Array, index: number) => bigint,
  ): Promise<bigint> {
    for (const operand in operands) checkBigint(operand, operands[operand])
    checkAbort(name, options)
    this.checkWord(offsetBytes)
    const page = Math.floor(offsetBytes / this.pageSize)
    await this.#access.pin(page, PageRight.Write, options?.signal)
    return this.#actAndUnpin(page, offsetBytes, act)
  }

  #atomicSync(offsetBytes: number, act: (words: BigUint64Array, index: number) => bigint): bigint {
    this.checkWord(offsetBytes)
    const page = Math.floor(offsetBytes / this.pageSize)
    this.#access.pinSync(page, PageRight.Write)
    return this.#actAndUnpin(page, offsetBytes, act)
  }

  #actAndUnpin(page: number, offsetBytes: number, act: (words: BigUint64Array, index: number) => bigint): bigint {
    const chunk = this.#frames.chunkAt(offsetBytes)
    try {
      return act(chunk.words, (offsetBytes - chunk.offsetBytes) / 8)
    } finally {
      this.#access.unpin(page)
    }
  }
}

function rightOf(access: RegionAccess): number {
  return access === 'write' ? PageRight.Write : PageRight.Read
}
