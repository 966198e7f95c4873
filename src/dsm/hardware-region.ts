import type { Locks } from '../cluster/index.ts'
import { checkAbort, mustBe, UnsupportedError } from '../native/index.ts'
import { ArenaAllocator } from './allocation/arena-allocator.ts'
import { PinnedRange } from './pinned-range.ts'
import {
  type Bytes,
  checkPrefetch,
  type MemoryUse,
  type PageDescription,
  type PrefetchOptions,
  Region,
  type RegionCallOptions,
} from './region.ts'
import { RegionBacking } from './region-backing.ts'
import type { HeldRegion, RegionDirectory } from './region-directory.ts'
import type { RegionHost } from './region-host.ts'
import type { RegionAccess, RegionRequest } from './region-request.ts'
import { bookName } from './region-table.ts'
import { RegionWindow } from './region-window.ts'
import { alignUp } from './size.ts'
import { WindowSet } from './window-set.ts'

const PAGE_BYTES = 4096

/** Makes or opens a region whose members all share one machine. */
export async function openHardwareRegion(host: RegionHost, request: RegionRequest): Promise<HardwareRegion> {
  const held = await host.directory.open(request)
  return new HardwareRegion(host, held, request.access)
}

/**
 * A region of one machine: one memory object, mapped by all, kept coherent by the processors' caches. There are no
 * faults, protocol or agent. Every call is done when it returns; the plain-named calls return promises only to match
 * the other kinds.
 */
export class HardwareRegion extends Region {
  /** The memory behind it. @internal for the rooms above. */
  readonly backing: RegionBacking
  readonly #directory: RegionDirectory
  readonly #held: HeldRegion
  protected readonly allocator: ArenaAllocator
  protected readonly locks: Locks | undefined
  readonly #windows: WindowSet
  #closed = false
  #closing: Promise<void> | undefined

  constructor(host: RegionHost, held: HeldRegion, access: RegionAccess) {
    super({ name: held.name, size: held.size, coherence: 'hardware', pageSize: PAGE_BYTES, access })
    this.#directory = host.directory
    this.backing = new RegionBacking(host.directory, held)
    this.locks = host.locks
    this.allocator = new ArenaAllocator(host, held)
    this.#held = held
    const { descriptor } = host.membership.arena
    const open = (offsetBytes: number, lengthBytes: number) =>
      new RegionWindow(descriptor, held.offset + offsetBytes, offsetBytes, lengthBytes, this.storeSentence)
    this.#windows = new WindowSet(alignUp(held.size, PAGE_BYTES), open)
    this.#directory.add(this)
  }

  get closed(): boolean {
    return this.#closed
  }

  async read<T extends Bytes>(offsetBytes: number, target: T, options?: RegionCallOptions): Promise<T> {
    checkAbort('read', options)
    return this.readSync(offsetBytes, target)
  }

  async write(offsetBytes: number, source: Bytes, options?: RegionCallOptions): Promise<void> {
    checkAbort('write', options)
    this.writeSync(offsetBytes, source)
  }

  async fetchAdd(offsetBytes: number, value: bigint, options?: RegionCallOptions): Promise<bigint> {
    checkAbort('fetchAdd', options)
    return this.fetchAddSync(offsetBytes, value)
  }

  async compareSwap(
    offsetBytes: number,
    expected: bigint,
    desired: bigint,
    options?: RegionCallOptions,
  ): Promise<bigint> {
    checkAbort('compareSwap', options)
    return this.compareSwapSync(offsetBytes, expected, desired)
  }

  async swap(offsetBytes: number, value: bigint, options?: RegionCallOptions): Promise<bigint> {
    checkAbort('swap', options)
    return this.swapSync(offsetBytes, value)
  }

  async fence(options?: RegionCallOptions): Promise<void> {
    checkAbort('fence', options)
    this.fenceSync()
  }

  async prefetch(offsetBytes: number, lengthBytes: number, options?: PrefetchOptions): Promise<void> {
    checkPrefetch('prefetch', options)
    this.checkWanted(offsetBytes, lengthBytes, options?.access ?? 'read')
  }

  async acquire(
    offsetBytes: number,
    lengthBytes: number,
    access: RegionAccess,
    options?: RegionCallOptions,
  ): Promise<void> {
    checkAbort('acquire', options)
    this.checkWanted(offsetBytes, lengthBytes, access)
  }

  async release(offsetBytes: number, lengthBytes: number): Promise<void> {
    this.checkOpen()
    this.checkRange(offsetBytes, lengthBytes)
  }

  /** There is nothing to do: pages never leave. */
  async pin(offsetBytes: number, lengthBytes: number, options?: PrefetchOptions): Promise<PinnedRange> {
    checkPrefetch('pin', options)
    const access = this.checkWanted(offsetBytes, lengthBytes, options?.access ?? 'read')
    return new PinnedRange(offsetBytes, lengthBytes, access, () => {})
  }

  memoryUse(): MemoryUse {
    this.checkOpen()
    const residentBytes = this.#held.reserved ? this.#held.length : 0
    return { residentBytes, registeredBytes: 0, cachedBytes: 0, cacheSize: null, replicaBytes: 0, pages: 'ordinary' }
  }

  async advice(options?: RegionCallOptions): Promise<never> {
    checkAbort('advice', options)
    throw new UnsupportedError(
      `region '${this.name}' has coherence 'hardware': its pages do not move between processes, so there is no advice`,
    )
  }

  page(index: number): PageDescription {
    this.checkOpen()
    if (!Number.isSafeInteger(index)) throw mustBe('index', 'a page number, a whole number from 0 on', index)
    const offsetBytes = index * PAGE_BYTES
    const lengthBytes = Math.min(PAGE_BYTES, this.size - offsetBytes)
    this.checkRange(offsetBytes, Math.max(1, lengthBytes))
    return { index, offsetBytes, lengthBytes, state: 'hardware', home: null, owner: null, sharers: [], version: null }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async delete(): Promise<void> {
    this.checkOpen()
    await this.#directory.delete(this.#held, bookName(this.name))
  }

  protected windowAt(offsetBytes: number, lengthBytes: number): RegionWindow {
    return this.#windows.at(offsetBytes, lengthBytes)
  }

  async #close(): Promise<void> {
    this.#closed = true
    this.forgetViews()
    this.#windows.close()
    this.#directory.remove(this)
    await this.allocator.close()
    await this.#directory.release(this.#held)
  }
}
