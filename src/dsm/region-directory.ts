import { readSync } from 'node:fs'
import type { LockOptions, Membership, MembershipPart } from '../cluster/index.ts'
import { isMemoryDirectory, REGIONS_MAX } from '../cluster/index.ts'
import { DefectError, native, SystemError } from '../native/index.ts'
import { availableMemory } from './available-memory.ts'
import { COHERENCE_NUMBERS, coherenceOf } from './coherence.ts'
import { MemoryExhaustedError, RegionError } from './errors.ts'
import type { Placement } from './placement.ts'
import type { RegionRequest } from './region-request.ts'
import { type Extent, isHiddenName, type RegionEntry, RegionState, RegionTable } from './region-table.ts'
import { alignUp, formatSize } from './size.ts'

const PAGE_BYTES = 4096
/** fallocate(2) starts over when a signal comes, so memory is requested in pieces. */
const RESERVE_STEP_BYTES = 2 ** 28
const RESERVE_ATTEMPTS_MAX = 100
/** Left for all other processes. */
const HEADROOM_BYTES = 2 ** 26

/** The table has room for the two that need no parameter; the others are for kinds that are not kept in it. */
const placementNumber = (placement: Placement): number => (placement === 'block' ? 1 : placement === 'cyclic' ? 2 : 3)

/** A member's hold on an entry of the directory. */
export interface HeldRegion extends RegionEntry {
  readonly index: number
}

/** What has to be closed before the arena is. */
export interface Closable {
  close(): unknown
}

/**
 * The regions of a space: made, opened, deleted, and given back.
 *
 * A region lives as long as its space: closing it, even last, keeps the bytes for the next process that opens it.
 * `delete` takes the name away at once. The bytes are given back when no process has it open any more, killed openers
 * included. Each open is a bit in the opener's own slot, so it ends with the opener and nothing has to be counted down.
 *
 * ```
 *            write            fallocate done          delete            no opener left
 *   Free ─────────► Creating ───────────────► Ready ─────────► Deleted ──────────────► Freeing ──► Free
 *                      └── cut off: punched, Free             cut off: punched again, Free ──┘
 * ```
 */
export class RegionDirectory implements MembershipPart {
  readonly #membership: Membership
  readonly #table: RegionTable
  readonly #descriptor: number
  readonly #held: Int32Array
  /** How often this member has each region open. */
  readonly #uses = new Map<number, number>()
  /** Open regions of this member, closed with it. */
  readonly #open = new Set<Closable>()
  #closed = false

  constructor(membership: Membership) {
    this.#membership = membership
    this.#table = new RegionTable(membership.arena.control)
    this.#descriptor = membership.arena.descriptor
    this.#held = membership.heldBy(membership.self.slot)
    membership.addPart(this)
  }

  /**
   * Make the region, or open the one of that name if all that was requested agrees.
   * @throws RegionError if it exists with other parameters, does not exist, or there are too many;
   *   MemoryExhaustedError; TimeoutError for the lock.
   */
  async open(request: RegionRequest): Promise<HeldRegion> {
    const options: LockOptions = { signal: request.signal }
    return await this.#membership.locked(() => {
      this.settle()
      const index = this.#table.find(request.name) ?? this.#create(request)
      const entry = this.#table.read(index)
      checkSame(request, entry)
      this.#reserveLate(index, request)
      this.#use(index)
      return { ...this.#table.read(index), index }
    }, options)
  }

  /**
   * Open a region of the arena by its name alone, or make it if `size` is given; the books of others, too. One that is
   * there is left as it is: it is read and written as a file.
   */
  openHeld(name: string, size: number | undefined, reserve: boolean): Promise<HeldRegion> {
    return this.open({
      ...(size === undefined ? { headBytes: 0 } : {}),
      name,
      size,
      coherence: 'hardware',
      pageSize: PAGE_BYTES,
      placement: 'block',
      access: 'write',
      cacheBytes: undefined,
      replicas: 0,
      advise: false,
      reserve,
      signal: undefined,
    })
  }

  /** This member has it open once less. */
  async release(region: HeldRegion): Promise<void> {
    if (this.#closed) return
    const uses = (this.#uses.get(region.index) ?? 1) - 1
    this.#uses.set(region.index, uses)
    if (uses > 0) return
    this.#uses.delete(region.index)
    Atomics.and(this.#held, wordOf(region.index), ~maskOf(region.index))
    // A deleter that came before saw our bit and left the region to us; one that comes later sees that we have gone. If
    // we do not get the lock, its next holder gives the bytes back.
    const isLast = this.#table.stateOf(region.index) === RegionState.Deleted
    if (isLast) await this.#membership.locked(() => this.settle()).catch(() => {})
  }

  /** Take its name away, and its book's first. Nothing happens if it was deleted before. */
  async delete(region: HeldRegion, book: string): Promise<void> {
    await this.#membership.locked(() => {
      const indexes = this.isThere(region) ? [this.#table.find(book), region.index] : []
      for (const index of indexes) if (index !== undefined) this.#table.setState(index, RegionState.Deleted)
      this.settle()
    })
  }

  /** Whether it was not deleted. No other region has its place while it is held. */
  isThere({ index }: HeldRegion): boolean {
    return this.#table.stateOf(index) === RegionState.Ready
  }

  /** Whether all of its memory is taken, once and for all. It may become so at any time. */
  isReserved({ index }: HeldRegion): boolean {
    return this.#table.isReserved(index)
  }

  /** Copy bytes of a region, by read(2). */
  read({ offset }: HeldRegion, offsetBytes: number, target: Uint8Array): void {
    for (let done = 0; done < target.length; ) {
      const length = readSync(this.#descriptor, target, done, target.length - done, offset + offsetBytes + done)
      if (length === 0) throw new DefectError('a region ends before its length')
      done += length
    }
  }

  /** Take the memory of a part of a region. What is there already stays as it is. @throws MemoryExhaustedError */
  take({ name, offset }: HeldRegion, offsetBytes: number, lengthBytes: number): void {
    this.#reserve(name, { offset: offset + offsetBytes, length: lengthBytes })
  }

  /** Give back the memory of a part of a region, whole pages. @throws SystemError */
  giveBack({ offset }: HeldRegion, offsetBytes: number, lengthBytes: number): void {
    native.releaseMemory(this.#descriptor, offset + offsetBytes, lengthBytes)
  }

  /** All regions that are there, those included that keep books of others. */
  all(): readonly RegionEntry[] {
    return this.#table.inState(RegionState.Ready).map((index) => this.#table.read(index))
  }

  /** Names and sizes of all regions that can be opened. */
  list(): readonly RegionEntry[] {
    return this.all().filter(({ name }) => !isHiddenName(name))
  }

  /** Have `region` closed when the space is. */
  add(region: Closable): void {
    this.#open.add(region)
  }

  remove(region: Closable): void {
    this.#open.delete(region)
  }

  /** The space closes: so does what is open. */
  close(): void {
    this.#closed = true
    for (const region of [...this.#open]) void region.close()
  }

  /** Undo, finish and give back. Under the lock. */
  settle(): void {
    for (const index of this.#table.inState(RegionState.Creating, RegionState.Freeing)) this.#free(index)
    for (const index of this.#table.inState(RegionState.Deleted)) if (!this.#isHeld(index)) this.#free(index)
  }

  namesOf(held: Int32Array): readonly string[] {
    const indexes = this.#table.inState(RegionState.Ready, RegionState.Deleted)
    return indexes
      .filter((index) => !isHiddenName(this.#table.nameOf(index)))
      .filter((index) => ((held[wordOf(index)] ?? 0) & maskOf(index)) !== 0)
      .map((index) => this.#table.nameOf(index))
  }

  #create(request: RegionRequest): number {
    const { name, size } = request
    if (size === undefined) {
      throw new RegionError(
        'ERR_AETHER_REGION_NOT_FOUND',
        name,
        `there is no region '${name}' in this space; pass a size to make it`,
      )
    }
    // Members that died may hold what is about to be needed.
    this.#membership.settleMembers()
    this.settle()
    const [index] = this.#table.inState(RegionState.Free)
    if (index === undefined) {
      const advice = 'delete some, or keep several things in one'
      throw new RegionError(
        'ERR_AETHER_REGIONS_FULL',
        name,
        `the space has ${REGIONS_MAX} regions, the maximum; ${advice}`,
      )
    }
    // A kind with memory of its own at each member needs no bytes in the arena.
    const extent = this.#table.gapFor(request.coherence === 'hardware' ? alignUp(size, PAGE_BYTES) : 0)
    this.#table.write(index, { ...numbersOf(request), name, size, grows: false, ...extent })
    this.#fill(index, request, extent)
    this.#table.setState(index, RegionState.Ready)
    return index
  }

  #fill(index: number, request: RegionRequest, extent: Extent): void {
    try {
      this.#growTo(request.name, extent)
      if (request.headBytes !== undefined) this.#reserveHead(index, request.headBytes)
      else if (this.#reserves(request)) this.#reserve(request.name, extent)
    } catch (error) {
      this.#free(index)
      throw error
    }
  }

  /** In a file, always: to touch a page that it lacks would end the process where the disk is full. */
  #reserves({ reserve }: RegionRequest): boolean {
    return reserve || this.#membership.arena.directory !== undefined
  }

  /** What an opener wants that is not there. */
  #reserveLate(index: number, request: RegionRequest): void {
    const entry = this.#table.read(index)
    if (entry.reserved) return
    if (request.headBytes !== undefined) {
      if (!entry.grows) this.#reserveHead(index, request.headBytes)
    } else if (this.#reserves(request)) {
      this.#reserve(entry.name, entry)
      this.#table.setReserved(index)
    }
  }

  #reserveHead(index: number, headBytes: number): void {
    if (headBytes === 0) return
    const { name, offset, length } = this.#table.read(index)
    this.#reserve(name, { offset, length: Math.min(length, alignUp(headBytes, PAGE_BYTES)) })
    this.#table.setGrows(index)
  }

  #growTo(name: string, { offset, length }: Extent): void {
    const end = offset + length
    if (native.describeMemory(this.#descriptor).lengthBytes >= end) return
    try {
      native.resizeMemory(this.#descriptor, end)
    } catch (cause) {
      throw new MemoryExhaustedError(`region '${name}'`, length, undefined, whyRefused(cause), { cause })
    }
  }

  /**
   * Take the pages now. Tmpfs itself would take all memory there is and leave the kernel to kill a process, so
   * available memory is checked first.
   */
  #reserve(name: string, extent: Extent): void {
    if (extent.length === 0) return
    const { directory } = this.#membership.arena
    const isMemory = directory === undefined || isMemoryDirectory(directory)
    const available = isMemory ? availableMemory() : undefined
    if (available !== undefined && extent.length > available - HEADROOM_BYTES) {
      throw new MemoryExhaustedError(
        `region '${name}'`,
        extent.length,
        available,
        `${formatSize(available)} are available`,
      )
    }
    try {
      for (let done = 0; done < extent.length; done += RESERVE_STEP_BYTES) {
        this.#reserveStep(extent.offset + done, Math.min(RESERVE_STEP_BYTES, extent.length - done))
      }
    } catch (cause) {
      throw new MemoryExhaustedError(`region '${name}'`, extent.length, available, whyRefused(cause), { cause })
    }
  }

  #reserveStep(offset: number, length: number): void {
    for (let attempt = 1; ; attempt += 1) {
      try {
        native.reserveMemory(this.#descriptor, offset, length)
        return
      } catch (error) {
        const interrupted = error instanceof SystemError && error.errnoName === 'EINTR'
        if (!interrupted || attempt === RESERVE_ATTEMPTS_MAX) throw error
      }
    }
  }

  #free(index: number): void {
    const { offset, length } = this.#table.read(index)
    this.#table.setState(index, RegionState.Freeing)
    if (length > 0) native.releaseMemory(this.#descriptor, offset, length)
    this.#table.setState(index, RegionState.Free)
  }

  #use(index: number): void {
    this.#uses.set(index, (this.#uses.get(index) ?? 0) + 1)
    Atomics.or(this.#held, wordOf(index), maskOf(index))
  }

  #isHeld(index: number): boolean {
    const holds = ({ slot }: { readonly slot: number }) =>
      (Atomics.load(this.#membership.heldBy(slot), wordOf(index)) & maskOf(index)) !== 0
    return this.#membership.presentMembers().some(holds)
  }
}

function whyRefused(cause: unknown): string {
  if (!(cause instanceof SystemError)) return String(cause)
  const { errnoName } = cause
  const known = reasons.get(errnoName) ?? 'the kernel refused it'
  return `${known} (${errnoName})`
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the quota of the disk is used up'],
  ['EFBIG', 'the file would be longer than this process may make one: see ulimit -f'],
])

function wordOf(index: number): number {
  return index >>> 5
}

function maskOf(index: number): number {
  return 1 << (index & 31)
}

function numbersOf(request: RegionRequest): Omit<RegionEntry, 'name' | 'size' | 'grows' | keyof Extent> {
  return {
    coherence: COHERENCE_NUMBERS[request.coherence],
    pageSize: request.pageSize,
    placement: placementNumber(request.placement),
    reserved: request.reserve && request.headBytes === undefined,
  }
}

/** Page size and placement have no effect on `hardware`, so they may differ there. */
function checkSame(request: RegionRequest, entry: RegionEntry): void {
  const wanted = numbersOf(request)
  const grain = wanted.pageSize === entry.pageSize && wanted.placement === entry.placement
  const kind = wanted.coherence === entry.coherence && (grain || request.coherence === 'hardware')
  if (kind && (request.size ?? entry.size) === entry.size) return
  const asked = describe(request.size ?? entry.size, { ...entry, ...wanted })
  const message = `region '${entry.name}' exists as ${describe(entry.size, entry)}, but was requested as ${asked}; request the same, or leave size out`
  throw new RegionError('ERR_AETHER_REGION_MISMATCH', entry.name, message)
}

function describe(size: number, entry: RegionEntry): string {
  const kind = coherenceOf(entry.coherence) ?? `kind ${entry.coherence}`
  const placement = ['block', 'cyclic'][entry.placement - 1] ?? 'of its own'
  const grain = kind === 'hardware' ? '' : `, pageSize ${formatSize(entry.pageSize)}, placement ${placement}`
  return `{ size ${formatSize(size)} (${size} B), coherence ${kind}${grain} }`
}
