import { hashWords } from '../../codecs/index.ts'
import { KEY_BYTES_MAX, Key } from '../map/key.ts'
import {
  BodyOffset,
  CHUNK_SLOTS,
  DELETED,
  EntryOffset,
  FROZEN,
  keyRoom,
  LOG2_MAX,
  LOG2_MIN,
  MAP_BODY_BYTES,
  MOVED,
  mayHold,
  REFERENCE_MASK,
  slotsOffset,
  TableOffset,
  tableBytes,
} from '../map/layout.ts'
import { Table } from '../map/table.ts'
import type { BlockSight } from '../sight/heap-sight.ts'
import type { CheckedPart } from './checked-heap.ts'
import { isWhole, must } from './damage.ts'
import type { Unfinished } from './unfinished.ts'

/** An entry that is not deleted. */
export interface CheckedEntry {
  readonly key: Key
  /** Where its value is, in bytes. */
  readonly valueOffset: number
  readonly valueLength: number
}

/**
 * Every entry is where its key leads to, and as many are there as were counted. Returns their number. `visit` is called
 * with each. @throws Damage
 */
export function checkMap(part: CheckedPart, unfinished: Unfinished, visit: (entry: CheckedEntry) => void): number {
  const { heap, body } = part
  const { sight } = heap
  const expires = sight.word(body + BodyOffset.Expires)
  must(expires === 0 || expires === 1, 'its words are not those of a map')
  const check = new MapCheck(part, visit)
  const root = sight.word(body + BodyOffset.Table)
  if (root !== 0) check.tables(root)
  const counted = countOf(part)
  const [least, most] = unfinished.countBounds(body + BodyOffset.Counts, body + MAP_BODY_BYTES)
  must(
    check.entries >= counted + least && check.entries <= counted + most,
    `it counts ${counted} entries, and has ${check.entries}`,
  )
  return check.entries
}

/** Also of slots that no member ever had: a count there is damage, too. */
function countOf({ heap, body }: CheckedPart): number {
  let counted = 0
  for (let at = body + BodyOffset.Counts; at < body + MAP_BODY_BYTES; at += 4) counted += heap.sight.word(at)
  return counted
}

class MapCheck {
  entries: number = 0
  readonly #part: CheckedPart
  readonly #visit: (entry: CheckedEntry) => void
  readonly #key: Key
  readonly #table: Table
  readonly #successor: Table

  constructor(part: CheckedPart, visit: (entry: CheckedEntry) => void) {
    const { memory, seed } = part.heap
    this.#part = part
    this.#visit = visit
    this.#key = new Key(seed)
    this.#table = new Table(memory)
    this.#successor = new Table(memory)
  }

  tables(root: number): void {
    const first = this.#claimTable(root, 'its table')
    const next = this.#word(first.offset + TableOffset.Next)
    if (next === 0) this.#checkStill(first)
    else {
      const second = this.#claimTable(next, 'the table that takes the place of its table')
      must(this.#word(second.offset + TableOffset.Next) === 0, 'it has more than two tables')
      this.#checkStill(second)
      this.#checkChunks(first)
      this.#successor.use(next)
    }
    this.#slots(first, next)
    if (next !== 0) this.#slots(this.#part.heap.sight.block(next)!, 0)
  }

  #claimTable(reference: number, what: string): BlockSight {
    const block = this.#part.claimant.claim(reference, tableBytes(LOG2_MIN), what)
    const log2 = this.#word(block.offset + TableOffset.Log2)
    const isSound = isWhole(log2, LOG2_MIN, LOG2_MAX) && tableBytes(log2) <= block.lengthBytes
    must(isSound && isBit(this.#word(block.offset)), `${what} has a length that does not fit its block`)
    return block
  }

  /** A table that no one moves. */
  #checkStill({ offset }: BlockSight): void {
    const chunks = (1 << this.#word(offset + TableOffset.Log2)) / CHUNK_SLOTS
    let moved = this.#word(offset + TableOffset.Cursor)
    for (let chunk = 0; chunk < chunks; chunk += 1) moved |= this.#word(offset + TableOffset.Chunks + chunk * 4)
    must(moved === 0, 'its table says that it is moved, and has no table to move to')
  }

  #checkChunks({ offset }: BlockSight): void {
    const chunks = (1 << this.#word(offset + TableOffset.Log2)) / CHUNK_SLOTS
    must(this.#word(offset + TableOffset.Cursor) >= 0, 'its table says that a chunk is moved that there is not')
    for (let chunk = 0; chunk < chunks; chunk += 1)
      must(isBit(this.#word(offset + TableOffset.Chunks + chunk * 4)), 'its table says of a chunk what there is not')
  }

  /** `next`: the table to which this one is moved; 0: none. */
  #slots({ offset, reference }: BlockSight, next: number): void {
    const log2 = this.#word(offset + TableOffset.Log2)
    const slots = offset + slotsOffset(log2)
    let used = 0
    for (let index = 0; index < 1 << log2; index += 1) {
      const place = slots + index * 4
      const word = this.#word(place)
      const entry = word & REFERENCE_MASK
      const isFrozen = (word & FROZEN) !== 0
      const isDone = next !== 0 && this.#word(offset + TableOffset.Chunks + Math.floor(index / CHUNK_SLOTS) * 4) === 1
      must(!isDone || (isFrozen && entry <= MOVED), `slot ${index} was passed over when its table was moved`)
      must(next !== 0 || !isFrozen, `slot ${index} is frozen, and there is no table to move to`)
      must(entry !== MOVED || isFrozen, `slot ${index} says that its entry was moved, and is not frozen`)
      must(entry !== 0 || (word & ~FROZEN) === 0, `slot ${index} has no entry, but a part of its hash`)
      if (entry !== 0) used += 1
      if (entry > MOVED) this.#entry(reference, place, word, next)
    }
    must(isWhole(this.#word(offset + TableOffset.Used), 0, used), 'its table says that more slots were used than were')
  }

  #entry(table: number, place: number, word: number, next: number): void {
    const { claimant, heap } = this.#part
    const reference = word & REFERENCE_MASK
    // While its table is moved, an entry is in both for a moment.
    const block =
      claimant.has(reference) && next === 0
        ? heap.sight.block(reference)!
        : claimant.claim(reference, EntryOffset.Bytes, 'an entry')
    const length = this.#checkEntry(block)
    must(mayHold(word, this.#key.hash), 'an entry is in a slot of another hash')
    const found = this.#table.use(table).find(this.#key) && this.#table.slot === place
    must(found, 'the hash of an entry does not lead to its slot')
    if (next !== 0) {
      const moved = this.#successor.find(this.#key) ? this.#successor.entry : 0
      must(moved === 0 || moved === reference, 'a key has two entries')
    }
    const isAgain = next === 0 && this.#counted.has(reference)
    if (isAgain) return
    if (this.#successor.reference !== 0) this.#counted.add(reference)
    if (length === DELETED) return
    this.entries += 1
    const valueOffset = block.offset + EntryOffset.Bytes + keyRoom(this.#key.meta)
    this.#visit({ key: this.#key, valueOffset, valueLength: length })
  }

  /** Entries of the first table, if there are two. */
  readonly #counted = new Set<number>()

  /** Its key is in `#key` then. Returns the length of its value. */
  #checkEntry({ offset, lengthBytes }: BlockSight): number {
    const { heap, body } = this.#part
    const { sight, memory, seed } = heap
    const meta = this.#word(offset + EntryOffset.Key)
    const [kind, keyBytes] = [meta >>> 16, meta & 0xffff]
    must(kind <= 2 && keyBytes <= KEY_BYTES_MAX && (kind !== 1 || keyBytes === 8), 'the key of an entry is not one')
    const valueLength = this.#word(offset + EntryOffset.ValueLength)
    const room = EntryOffset.Bytes + keyRoom(meta)
    must(valueLength >= DELETED && room + Math.max(0, valueLength) <= lengthBytes, 'an entry is longer than its block')
    this.#key.load(memory, offset)
    const { bytes } = this.#key
    const words = new Int32Array(bytes.buffer, bytes.byteOffset, keyRoom(meta) / 4)
    must((hashWords(words, keyBytes, seed) | 0) === this.#key.hash, 'the hash of an entry is not that of its key')
    for (let at = keyBytes; at < keyRoom(meta); at += 1) must(bytes[at] === 0, 'a key is not filled up with zeros')
    const endOfLife = sight.float(offset + EntryOffset.EndOfLife)
    must(endOfLife >= 0 && Number.isFinite(endOfLife), 'an entry ends at no time that there is')
    must(
      endOfLife === 0 || sight.word(body + BodyOffset.Expires) === 1,
      'an entry expires, and the map says that none does',
    )
    must(
      isBit(this.#word(offset)) && isBit(this.#word(offset + EntryOffset.Touched)),
      'the marks of an entry are not such',
    )
    return valueLength
  }

  #word(offset: number): number {
    return this.#part.heap.sight.word(offset)
  }
}

function isBit(word: number): boolean {
  return word === 0 || word === 1
}
