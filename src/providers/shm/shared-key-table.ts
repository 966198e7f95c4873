import { randomInt } from 'node:crypto'
import { Access } from '../access.ts'
import { Errno } from '../errors.ts'
import { Advice, type AdvisedRange } from '../memory-contract.ts'
import { checkAdvice, refuseAdvice } from '../soft/advice.ts'
import {
  type Invalidatable,
  type KeyedWindow,
  type KeyFields,
  type Keys,
  keyIndex,
  makeKey,
  noKeyLeft,
} from '../soft/keys.ts'
import { MAX_KEYS } from '../soft/limits.ts'
import type { Pieces } from '../soft/pieces.ts'
import type { ShmBacking } from './backings.ts'
import { KEY_DOUBLES, KEY_WORDS, KeyDouble, KeyKind, KeyWord, NO_DESCRIPTOR, PAGE_BYTES } from './layout.ts'
import type { Segment } from './segment.ts'
import type { SegmentList } from './segment-list.ts'
import type { Span } from './span.ts'

/** What a key stands for, if this device owns it. */
export interface KeyedMemory extends KeyFields {
  readonly descriptor: number
  readonly offsetBytes: number
  readonly span: Span
}

/** An indirect key: `pieces`, stored from page `firstPage` of the segment on. */
interface KeyedPieces extends KeyFields {
  readonly pieces: Pieces
  readonly firstPage: number
}

/** Keys of this device's segment: written here, read by every peer. */
export class SharedKeyTable implements Keys {
  readonly #segment: Segment
  readonly #entries: (KeyedMemory | undefined)[] = []
  readonly #free: number[] = []
  /** Regions whose pages may be missing, by index. */
  readonly #paged = new Map<number, KeyedMemory>()
  readonly #pieces = new Map<number, KeyedPieces>()
  readonly #holders = new Map<number, Invalidatable>()

  constructor(segment: Segment) {
    this.#segment = segment
  }

  reserve(verb: string, holder?: Invalidatable): number {
    const index = this.#free.shift() ?? this.#entries.length
    if (index >= MAX_KEYS) throw noKeyLeft(verb)
    // No holes in the array: looking up an element in an array with holes costs more.
    if (index === this.#entries.length) this.#entries.push(undefined)
    if (holder !== undefined) this.#holders.set(index, holder)
    return makeKey(index, (limit) => randomInt(limit))
  }

  publishRegion({ key, address, length, access, domainId }: KeyFields, { span, origin }: ShmBacking): void {
    const descriptor = origin?.descriptor ?? NO_DESCRIPTOR
    const offsetBytes = origin?.offsetBytes ?? span.address
    const entry = { key, address, length, access, domainId, descriptor, offsetBytes, span }
    // Its pages may be missing: a copy may fail, so it is not for the shortest path.
    if (span.processId !== 0) this.#paged.set(keyIndex(key), entry)
    else this.#entries[keyIndex(key)] = entry
    this.#write(entry, KeyKind.Region, descriptor, offsetBytes, 0, 0, 0, 0)
  }

  publishWindow(entry: KeyedWindow): void {
    this.#write(entry, KeyKind.Window, NO_DESCRIPTOR, entry.baseAddress, entry.queuePair, entry.baseKey, 0, 0)
  }

  publishPieces(entry: KeyedPieces): void {
    this.#pieces.set(keyIndex(entry.key), entry)
    const { count, repeat } = entry.pieces
    this.#write(entry, KeyKind.Indirect, NO_DESCRIPTOR, 0, 0, entry.firstPage, count, repeat)
  }

  isPublished(key: number): boolean {
    return Atomics.load(this.#segment.keys, keyIndex(key) * KEY_WORDS + KeyWord.Key) === (key | 0)
  }

  /**
   * Revoke a key: peers find nothing under it from now on. Accesses that began earlier may still run, and the entry
   * stays taken.
   */
  withdraw(key: number): void {
    const index = keyIndex(key)
    Atomics.store(this.#segment.keys, index * KEY_WORDS + KeyWord.Key, 0)
    this.#entries[index] = undefined
    this.#paged.delete(index)
    this.#pieces.delete(index)
  }

  release(key: number): void {
    const index = keyIndex(key)
    this.withdraw(key)
    this.#holders.delete(index)
    this.#free.push(index)
  }

  find(key: number): KeyedMemory | undefined {
    const index = keyIndex(key)
    const entry = this.#entries[index] ?? this.#paged.get(index)
    return entry !== undefined && entry.key === key ? entry : undefined
  }

  holder(key: number): Invalidatable | undefined {
    return this.#holders.get(keyIndex(key))
  }

  advise(domainId: number, advice: Advice, range: AdvisedRange): void {
    prefetch(this.find(range.key), domainId, advice, range)
  }

  /**
   * The memory that covers a local segment and is certainly there. If undefined, it is a local protection error, unless
   * `gather` finds more.
   */
  covering(domainId: number, address: number, length: number, key: number): KeyedMemory | undefined {
    const entry = this.#entries[keyIndex(key)]
    return entry !== undefined && covers(entry, domainId, address, length, key) ? entry : undefined
  }

  /** Check one local segment and append it. False is a local protection error. An empty segment is not checked. */
  gather(
    list: SegmentList,
    domainId: number,
    address: number,
    length: number,
    key: number,
    writable: boolean,
  ): boolean {
    if (length === 0) return true
    const entry = this.covering(domainId, address, length, key)
    if (entry === undefined) return this.#gatherUnusual(list, domainId, address, length, key, writable)
    if (writable && (entry.access & Access.LocalWrite) === 0) return false
    list.add(entry.span, address - entry.address, length)
    return true
  }

  /** Memory whose pages may be missing, or pieces. */
  #gatherUnusual(
    list: SegmentList,
    domainId: number,
    address: number,
    length: number,
    key: number,
    writable: boolean,
  ): boolean {
    const index = keyIndex(key)
    const entry = this.#paged.get(index) ?? this.#pieces.get(index)
    const needed = writable ? Access.LocalWrite : 0
    if (entry === undefined || !covers(entry, domainId, address, length, key)) return false
    if ((entry.access & needed) !== needed) return false
    if ('pieces' in entry)
      return entry.pieces.walk(address, length, (pieceAddress, run, pieceKey) => {
        if (this.#pieces.has(keyIndex(pieceKey))) return false
        return this.gather(list, domainId, pieceAddress, run, pieceKey, writable)
      })
    const offset = address - entry.address
    if (!entry.span.isThere(offset, length)) return false
    list.add(entry.span, offset, length)
    return true
  }

  #write(
    entry: KeyFields,
    kind: number,
    descriptor: number,
    offset: number,
    queuePair: number,
    base: number,
    pieces: number,
    repeat: number,
  ): void {
    const { keys, keyDoubles } = this.#segment
    const index = keyIndex(entry.key)
    const words = index * KEY_WORDS
    const doubles = index * KEY_DOUBLES
    keys[words + KeyWord.Access] = entry.access
    keys[words + KeyWord.Domain] = entry.domainId
    keys[words + KeyWord.Descriptor] = descriptor
    keys[words + KeyWord.Kind] = kind
    keys[words + KeyWord.QueuePair] = queuePair
    keys[words + KeyWord.Base] = base
    keys[words + KeyWord.Pieces] = pieces
    keys[words + KeyWord.Repeat] = repeat
    keys[words + KeyWord.Generation] = (keys[words + KeyWord.Generation]! + 1) | 0
    keyDoubles[doubles + KeyDouble.Address] = entry.address
    keyDoubles[doubles + KeyDouble.Length] = entry.length
    keyDoubles[doubles + KeyDouble.Offset] = offset
    Atomics.store(keys, words + KeyWord.Key, entry.key | 0)
  }
}

function covers(entry: KeyFields, domainId: number, address: number, length: number, key: number): boolean {
  if (entry.key !== key || entry.domainId !== domainId) return false
  const offset = address - entry.address
  return offset >= 0 && length > 0 && offset + length <= entry.length
}

/**
 * Touch the pages of a range of an on-demand region, so that later accesses do not wait for the kernel. Errors are
 * those of ibv_advise_mr(3) and the kernel. Atomics are used, because an engine may leave out a plain load whose value
 * is unused. Or-ing 0 is a write that changes nothing.
 */
function prefetch(entry: KeyedMemory | undefined, domainId: number, advice: Advice, range: AdvisedRange): void {
  checkAdvice(entry, domainId, advice, range)
  const { address, length } = range
  const offset = address - entry.address
  if (length === 0 || advice === Advice.PrefetchNoFault) return
  const { span } = entry
  for (let at = offset; at < offset + length; at += PAGE_BYTES) {
    if (span.processId !== 0) {
      if (!span.isThere(at, 1)) refuseAdvice(Errno.EFAULT, `this process has no memory at ${address - offset + at}`)
    } else if (advice === Advice.PrefetchWrite) Atomics.or(span.bytes, at, 0)
    else Atomics.load(span.bytes, at)
  }
}
