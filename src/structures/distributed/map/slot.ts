import { type BlockName, blockOf, encodeBlock } from '../heap/block-word.ts'
import { ReadCommand } from '../memory/command.ts'
import { agesPlace } from './ages.ts'
import { BUCKET_BYTES, BUCKET_SLOTS } from './body.ts'
import { type MapTable, tableOffset } from './tree.ts'

/**
 * A slot of a map's table, one word:
 *
 * ```
 *  63 frozen   62 … 56 fingerprint   55 … 0 the block, as in heap/block-word.ts
 *  63 frozen   55 … 32 generation of the table   27 empty   26 unset   25 … 0 zero                no block
 *
 *            copied from the table that was split            claim             confirm
 *   unset ─────────────────────────────────► entry      ┌───────────► claimed ─────────► entry ◄─┐ replace
 *     └────────────────────────────────────► empty ◄────┘◄──────────────┘ withdraw         │ └───┘
 *                                              ▲───────────────────────────────────────────┘ remove
 *   empty, claimed ──► frozen empty      entry ──► frozen entry                for good, when the table is split
 * ```
 *
 * No table's empty slots are like those of another in the same place, so a late compare-and-swap for a table that is
 * gone changes nothing. For the same reason a table begins with another bucket in each generation: an entry that is
 * moved on and on never is in one place twice, unless the chunk was a table for 256 times meanwhile. A chunk that was a
 * table is never anything else.
 */
const FROZEN: bigint = 1n << 63n
const FROZEN_HIGH = 0x80000000
const FINGERPRINT_MASK = 0x7f
const UNSET_LOW = 0x4000000
const EMPTY_BIT = 0x8000000n
const PLACE_MASK = 0x3ffffff

/** A slot as it was read. */
export interface Slot {
  readonly place: number
  readonly word: bigint
  /** Of its table. */
  readonly generation: number
  readonly frozen: boolean
  readonly unset: boolean
  /** Undefined: none. */
  readonly block: BlockName | undefined
}

/** One with a block. */
export interface FullSlot extends Slot {
  readonly block: BlockName
}

export function emptySlot(generation: number): bigint {
  return (BigInt(generation) << 32n) | EMPTY_BIT
}

export function unsetSlot(generation: number): bigint {
  return (BigInt(generation) << 32n) | BigInt(UNSET_LOW)
}

export function fullSlot(block: BlockName): bigint {
  return encodeBlock(block)
}

/** What a slot is when its table is split. A claim ends with that. */
export function frozenSlot({ word, block, generation }: Slot): bigint {
  return FROZEN | (block?.tentative === true ? emptySlot(generation) : word)
}

/** The word of a full slot before it was frozen. */
export function liveWord({ word }: FullSlot): bigint {
  return word & ~FROZEN
}

export function isFull(slot: Slot): slot is FullSlot {
  return slot.block !== undefined
}

/** A full one that readers see. */
export function isThere(slot: Slot): slot is FullSlot {
  return slot.block !== undefined && !slot.block.tentative
}

type SlotPlace = Pick<Slot, 'place' | 'generation'>

function slotAt(at: SlotPlace, word: bigint): Slot {
  const high = Number(word >> 32n)
  const low = Number(word & 0xffffffffn)
  const frozen = high >= FROZEN_HIGH
  if ((low & PLACE_MASK) === 0) return { ...at, word, frozen, unset: low === UNSET_LOW, block: undefined }
  const block = blockOf(high, low)
  const fingerprint = block.fingerprint & FINGERPRINT_MASK
  return { ...at, word, frozen, unset: false, block: { ...block, fingerprint } }
}

/** The same slot with another word. */
export function withWord({ place, generation }: Slot, word: bigint): Slot {
  return slotAt({ place, generation }, word)
}

/** Buckets that a table turns by in each generation. */
const TURN = 4

/** READs of some buckets of a table, one after the other. */
export class BucketsRead {
  /** One, or two where the buckets go on at the beginning of the table. */
  readonly commands: readonly ReadCommand[]
  readonly #generation: number

  constructor(table: MapTable, buckets: number, first: number, count: number) {
    const from = (first + table.generation * TURN) % buckets
    const whole = Math.min(count, buckets - from)
    const base = tableOffset(table)
    const commands = [new ReadCommand(base + from * BUCKET_BYTES, whole * BUCKET_BYTES)]
    if (whole < count) commands.push(new ReadCommand(base, (count - whole) * BUCKET_BYTES))
    this.commands = commands
    this.#generation = table.generation
  }

  /** Once the commands have been carried out: those with a block, and the number of each among all. */
  fullSlots(): (readonly [FullSlot, number])[] {
    const first = this.commands[0]?.length ?? 0
    return this.commands.flatMap((read, at) =>
      fullSlotsOf(read, this.#generation, at === 0 ? 0 : (first / BUCKET_BYTES) * BUCKET_SLOTS),
    )
  }

  /** When the entries of the bucket of a slot were used: see ages.ts. */
  ages(slot: number): bigint | undefined {
    const place = agesPlace(slot)
    const read = this.commands.find(({ offset, length }) => place >= offset && place < offset + length)
    return read?.word(place - read.offset)
  }

  /** Whether any is frozen. */
  isFrozen(): boolean {
    return this.commands.some(({ bytes }) => {
      for (let high = 7; high < bytes.length; high += 8)
        if (high % BUCKET_BYTES < BUCKET_SLOTS * 8 && bytes[high]! >= 0x80) return true
      return false
    })
  }

  /** All. */
  slots(): Slot[] {
    return this.commands.flatMap((read) => slotsOf(read, this.#generation))
  }
}

function slotsOf(read: ReadCommand, generation: number): Slot[] {
  const slots: Slot[] = []
  for (let bucket = 0; bucket < read.length; bucket += BUCKET_BYTES)
    for (let at = 0; at < BUCKET_SLOTS; at += 1) slots.push(slotIn(read, generation, bucket, at))
  return slots
}

/** The same without making anything of those that have no block, which are many where all of a table is looked at. */
function fullSlotsOf(read: ReadCommand, generation: number, first: number): (readonly [FullSlot, number])[] {
  const { bytes } = read
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const slots: (readonly [FullSlot, number])[] = []
  for (let bucket = 0, index = first; bucket < bytes.length; bucket += BUCKET_BYTES) {
    for (let at = 0; at < BUCKET_SLOTS; at += 1, index += 1) {
      if ((view.getUint32(bucket + at * 8, true) & PLACE_MASK) === 0) continue
      slots.push([slotIn(read, generation, bucket, at) as FullSlot, index])
    }
  }
  return slots
}

function slotIn(read: ReadCommand, generation: number, bucket: number, at: number): Slot {
  const place = bucket + at * 8
  return slotAt({ place: read.offset + place, generation }, read.word(place))
}

/** The bytes of a table in which every slot is `word`. */
export function tableBytes(buckets: number, word: bigint): Uint8Array {
  const bucket = Buffer.alloc(BUCKET_BYTES)
  for (let at = 0; at < BUCKET_SLOTS; at += 1) bucket.writeBigUInt64LE(word, at * 8)
  return Buffer.alloc(buckets * BUCKET_BYTES, bucket)
}
