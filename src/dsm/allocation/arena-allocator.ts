import { crc32 } from 'node:zlib'
import { RegionError } from '../errors.ts'
import type { HeldRegion } from '../region-directory.ts'
import type { RegionHost } from '../region-host.ts'
import { bookName } from '../region-table.ts'
import { RegionWindow } from '../region-window.ts'
import type { Allocator } from './allocation.ts'
import { type AllocationOutcome, type AllocationRequest, type AllocationState, Allocations } from './allocations.ts'

/** Two halves, of which one is in force. Pages are taken as they are needed. */
const BOOK_BYTES = 2 ** 22
const HEAD_BYTES = 64
const TEXT_BYTES_MAX = BOOK_BYTES / 2 - HEAD_BYTES
/** Words of the head: which half is in force; how long what stands in each is; its checksum, 0 if it has none. */
const Word = { InForce: 0, Length: 1, Checksum: 3 } as const

/**
 * The allocations of a region that lies in the arena, kept as text in a hidden region beside it. They are changed under
 * the space's lock, which the kernel takes from a holder that ends. The new text is written beside the one in force,
 * and one store of a word puts it in force. So a holder may be killed at any time.
 */
export class ArenaAllocator implements Allocator {
  readonly #host: RegionHost
  readonly #region: HeldRegion
  #book: Promise<{ held: HeldRegion; window: RegionWindow }> | undefined

  constructor(host: RegionHost, region: HeldRegion) {
    this.#host = host
    this.#region = region
  }

  allocate(request: AllocationRequest): Promise<AllocationOutcome> {
    return this.#change((allocations) => allocations.allocate(request))
  }

  free(id: number): Promise<AllocationOutcome> {
    return this.#change((allocations) => allocations.free(id))
  }

  async close(): Promise<void> {
    if (this.#book === undefined) return
    const { held, window } = await this.#book
    window.close()
    await this.#host.directory.release(held)
  }

  async #change(act: (allocations: Allocations) => AllocationOutcome): Promise<AllocationOutcome> {
    this.#book ??= this.#open().catch((error) => {
      this.#book = undefined
      throw error
    })
    const { window } = await this.#book
    return await this.#host.membership.locked(() => {
      const allocations = new Allocations(this.#region.size, read(window))
      const outcome = act(allocations)
      return write(window, allocations.state) ? outcome : { kind: 'exhausted', largestBytes: 0 }
    })
  }

  async #open(): Promise<{ held: HeldRegion; window: RegionWindow }> {
    const { directory, membership } = this.#host
    this.#checkThere()
    const held = await directory.open({
      name: bookName(this.#region.name),
      size: BOOK_BYTES,
      coherence: 'hardware',
      pageSize: 4096,
      placement: 'block',
      access: 'write',
      cacheBytes: undefined,
      replicas: 0,
      advise: false,
      reserve: false,
      signal: undefined,
    })
    try {
      // If it is gone by now, the book may be that of another region of its name.
      this.#checkThere()
      return { held, window: new RegionWindow(membership.arena.descriptor, held.offset, 0, BOOK_BYTES) }
    } catch (error) {
      await directory.release(held)
      throw error
    }
  }

  /** @throws RegionError if it was deleted: its book went with it. */
  #checkThere(): void {
    const { name } = this.#region
    if (this.#host.directory.isThere(this.#region)) return
    throw new RegionError('ERR_AETHER_REGION_NOT_FOUND', name, `region '${name}' was deleted; open it again`)
  }
}

function halfAt(half: number): number {
  return HEAD_BYTES + half * TEXT_BYTES_MAX
}

function read(window: RegionWindow): AllocationState | undefined {
  const words = new Int32Array(window.buffer, 0, HEAD_BYTES / 4)
  const half = Atomics.load(words, Word.InForce) & 1
  const length = Atomics.load(words, Word.Length + half)
  if (length === 0) return undefined
  // Copied before it is decoded, as all shared memory.
  const text = Buffer.from(window.bytes.slice(halfAt(half), halfAt(half) + length)).toString()
  return JSON.parse(text) as AllocationState
}

/** False where there is no room for the text; then the old one stays in force. */
function write(window: RegionWindow, state: AllocationState): boolean {
  const words = new Int32Array(window.buffer, 0, HEAD_BYTES / 4)
  const half = 1 - (Atomics.load(words, Word.InForce) & 1)
  const text = Buffer.from(JSON.stringify(state))
  if (text.length > TEXT_BYTES_MAX) return false
  window.bytes.set(text, halfAt(half))
  Atomics.store(words, Word.Length + half, text.length)
  Atomics.store(words, Word.Checksum + half, checksumOf(text))
  Atomics.store(words, Word.InForce, half)
  return true
}

/** A word that is not 0, which says that there is none. */
const checksumOf = (text: Uint8Array): number => crc32(text) | 0 || 1

/** What is wrong with the allocations of a region of `sizeBytes`; undefined if nothing is. `book`: a copy. */
export function bookDamage(book: Uint8Array, sizeBytes: number): string | undefined {
  const words = new Int32Array(book.buffer, book.byteOffset, HEAD_BYTES / 4)
  const half = words[Word.InForce]!
  const [length, checksum] = [words[Word.Length + half], words[Word.Checksum + half]]
  if (half >>> 1 !== 0 || !(length! >= 0 && length! <= TEXT_BYTES_MAX)) return 'its head is not that of a book'
  const text = Buffer.from(book.subarray(halfAt(half), halfAt(half) + length!))
  if (checksum !== 0 && checksum !== checksumOf(text)) return 'the list of its allocations was changed'
  if (length === 0) return undefined
  try {
    if (isSound(JSON.parse(text.toString()), sizeBytes)) return undefined
  } catch {
    // It is not JSON.
  }
  return 'the list of its allocations cannot be right'
}

function isSound({ nextId, records }: AllocationState, sizeBytes: number): boolean {
  let end = 0
  for (const { id, offsetBytes, lengthBytes } of records) {
    if (!(id >= 1 && id < nextId && offsetBytes >= end && lengthBytes > 0)) return false
    end = offsetBytes + lengthBytes
  }
  return end <= sizeBytes
}
