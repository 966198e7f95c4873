import { totalmem } from 'node:os'
import { formatSize, type HardwareRegion, MemoryExhaustedError, type RegionGroup } from '../../dsm/index.ts'
import { ArrayError } from '../errors.ts'
import type { Step } from '../exchange/steps.ts'
import { type DType, type Elements, uint8 } from '../types/dtype.ts'
import { FreeRanges } from './free-ranges.ts'
import type { OwnPiece, PartMemory, Place } from './part-memory.ts'

/** Parts begin at multiples of a cache line. */
const ALIGNMENT = 64
const PAGE_BYTES = 4096
/** A view cannot be longer, nor lie across two windows. */
const PIECE_BYTES_MAX = 2 ** 32
/** A rank's share of the addresses begins at a multiple of this, as windows do. */
const SHARE_UNIT_BYTES = 2 ** 32
/** Memory is taken in steps, since each asks the kernel what there is. */
const STEP_BYTES = 2 ** 22
/** Memory that is free again stays taken up to this much: it is likely to be needed soon, and then costs no faults. */
const KEPT_BYTES_MAX = 2 ** 28

/** How many pools were opened in a group: every rank counts the same. */
const opened = new WeakMap<RegionGroup, number>()

/**
 * Memory of all ranks of one machine, which every rank maps. It is one region without memory at first, of which each
 * rank has a share of addresses. There it takes memory as it needs it.
 */
export class SharedPool implements PartMemory {
  readonly #region: HardwareRegion
  readonly #rank: number
  readonly #ranks: readonly number[]
  readonly #shareBytes: number
  readonly #free: FreeRanges
  /** Up to here this rank's share has memory, but for what is bare. */
  #taken = 0
  /** Pages within what was taken whose memory was given back, by offset and length. */
  readonly #bare = new Map<number, number>()
  #bareBytes = 0
  #usedBytes = 0

  private constructor(region: HardwareRegion, rank: number, ranks: readonly number[], shareBytes: number) {
    this.#region = region
    this.#rank = rank
    this.#ranks = ranks
    this.#shareBytes = shareBytes
    this.#free = new FreeRanges(shareBytes, ALIGNMENT)
  }

  /** Collective. Each call opens another pool: two that took memory of one share would give it out twice. */
  static async open(group: RegionGroup): Promise<SharedPool> {
    const shareBytes = Math.ceil(totalmem() / SHARE_UNIT_BYTES) * SHARE_UNIT_BYTES
    const ranks = group.members().map(({ rank }) => rank)
    // A process that has joined has opened fewer than others.
    const [most] = await group.allReduce(Int32Array.of(opened.get(group) ?? 0), 'max')
    const number = most! + 1
    opened.set(group, number)
    // The space may outlive the group, and another may meet in it.
    const name = `aether/arrays/${group.members()[0]?.processId}/${number}`
    const region = await group.openBacked(name, { size: ranks.length * shareBytes, headBytes: PAGE_BYTES })
    return new SharedPool(region, group.rank, ranks, shareBytes)
  }

  /** Bytes of pieces that were not given back. */
  get usedBytes(): number {
    return this.#usedBytes
  }

  take(lengthBytes: number): OwnPiece {
    if (lengthBytes > PIECE_BYTES_MAX)
      throw new ArrayError(
        'MEMORY',
        `a part of ${formatSize(lengthBytes)} does not fit one view of ${formatSize(PIECE_BYTES_MAX)}; use more ranks`,
      )
    const place = this.#free.take(lengthBytes)
    if (place === undefined) throw exhausted(lengthBytes)
    try {
      this.#ensure(place, lengthBytes)
    } catch (error) {
      this.#free.giveBack(place, lengthBytes)
      throw error instanceof MemoryExhaustedError ? exhausted(lengthBytes, error) : error
    }
    const bytes = this.#region.view(Uint8Array, { byteOffset: this.#offset(this.#rank, place), length: lengthBytes })
    this.#usedBytes += lengthBytes
    let isTaken = true
    const giveBack = (): void => {
      if (isTaken) this.#giveBack(place, lengthBytes)
      isTaken = false
    }
    return { place: { address: place, key: 0 }, bytes, giveBack }
  }

  mapped(rank: number, { address }: Place, dtype: DType, length: number): Elements {
    return this.#region.view(dtype.Elements as never, { byteOffset: this.#offset(rank, address), length })
  }

  read(rank: number, place: Place, target: Uint8Array): Step<void> {
    return atOnce(() => target.set(this.mapped(rank, place, uint8, target.length) as Uint8Array))
  }

  write(rank: number, place: Place, source: Uint8Array): Step<void> {
    return atOnce(() => (this.mapped(rank, place, uint8, source.length) as Uint8Array).set(source))
  }

  /** The name goes away with the first rank, the memory with the last one. */
  async close(): Promise<void> {
    if (this.#rank === this.#ranks[0]) await this.#region.delete()
    await this.#region.close()
  }

  #offset(rank: number, place: number): number {
    return this.#ranks.indexOf(rank) * this.#shareBytes + place
  }

  #ensure(place: number, lengthBytes: number): void {
    const end = place + lengthBytes
    for (const [offset, length] of this.#bare) {
      if (offset >= end || offset + length <= place) continue
      this.#region.backing.take(this.#offset(this.#rank, offset), length)
      this.#bare.delete(offset)
      this.#bareBytes -= length
    }
    if (end > this.#taken) {
      const until = Math.min(this.#shareBytes, Math.ceil(end / STEP_BYTES) * STEP_BYTES)
      this.#region.backing.take(this.#offset(this.#rank, this.#taken), until - this.#taken)
      this.#taken = until
    }
  }

  #giveBack(place: number, lengthBytes: number): void {
    this.#free.giveBack(place, lengthBytes)
    this.#usedBytes -= lengthBytes
    if (this.#taken - this.#bareBytes - this.#usedBytes <= KEPT_BYTES_MAX) return
    const begin = Math.ceil(place / PAGE_BYTES) * PAGE_BYTES
    const length = Math.floor((place + lengthBytes) / PAGE_BYTES) * PAGE_BYTES - begin
    if (length <= 0) return
    this.#region.backing.giveBack(this.#offset(this.#rank, begin), length)
    this.#bare.set(begin, length)
    this.#bareBytes += length
  }
}

function atOnce(act: () => void): Step<void> {
  return { blocking: act, awaited: async () => act() }
}

function exhausted(lengthBytes: number, cause?: MemoryExhaustedError): ArrayError {
  const { availableBytes } = cause ?? {}
  const left = availableBytes === undefined ? 'the kernel refused it' : `${formatSize(availableBytes)} are available`
  const why = cause === undefined ? 'its share of addresses is used up' : left
  return new ArrayError(
    'MEMORY',
    `there is no memory for a part of ${formatSize(lengthBytes)}: ${why}; drop arrays, or use more ranks`,
    cause === undefined ? undefined : { cause },
  )
}
