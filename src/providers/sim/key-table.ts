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
import type { AddressSpace } from './address-space.ts'
import type { SimBacking } from './backings.ts'
import type { MemoryBlock } from './memory-block.ts'
import type { PieceList } from './piece-list.ts'
import type { Stream } from './stream.ts'

/** A region: a block from `offset` on, or, without a block, whatever the process has at these addresses. */
interface KeyedRegion extends KeyFields {
  readonly kind: 'region'
  readonly block: MemoryBlock | undefined
  readonly offset: number
}

/** An indirect key: pieces of regions. */
interface KeyedPieces extends KeyFields {
  readonly kind: 'pieces'
  readonly pieces: Pieces
}

type KeyEntry = KeyedRegion | (KeyedWindow & { readonly kind: 'window' }) | KeyedPieces

/** An access, to be checked. */
export interface Wanted {
  readonly domainId: number
  /** Rights that the key must have; 0 for a local read. */
  readonly right: number
  /** The owner's queue pair that the access comes through. */
  readonly pairNumber: number
}

/** The keys of one device. */
export class KeyTable implements Keys {
  readonly #space: AddressSpace
  readonly #stream: Stream
  readonly #entries = new Map<number, KeyEntry>()
  readonly #holders = new Map<number, Invalidatable>()
  readonly #taken = new Set<number>()
  #next = 0

  constructor(space: AddressSpace, stream: Stream) {
    this.#space = space
    this.#stream = stream
  }

  reserve(verb: string, holder?: Invalidatable): number {
    if (this.#taken.size >= MAX_KEYS) throw noKeyLeft(verb)
    while (this.#taken.has(this.#next)) this.#next = (this.#next + 1) % MAX_KEYS
    const index = this.#next
    this.#next = (index + 1) % MAX_KEYS
    this.#taken.add(index)
    if (holder !== undefined) this.#holders.set(index, holder)
    return makeKey(index, (limit) => this.#stream.below(limit))
  }

  publishRegion(fields: KeyFields, { block, offset }: SimBacking): void {
    this.#entries.set(fields.key, { ...fields, kind: 'region', block, offset })
  }

  publishWindow(entry: KeyedWindow): void {
    this.#entries.set(entry.key, { ...entry, kind: 'window' })
  }

  publishPieces(fields: KeyFields, pieces: Pieces): void {
    this.#entries.set(fields.key, { ...fields, kind: 'pieces', pieces })
  }

  isPublished(key: number): boolean {
    return this.#entries.has(key)
  }

  /** When this returns, what the adapter has already taken by a key of a region or window is in memory. */
  withdraw(key: number): void {
    const entry = this.#entries.get(key)
    const region = entry?.kind === 'window' ? this.#entries.get(entry.baseKey) : entry
    this.#entries.delete(key)
    if (region?.kind === 'region') region.block?.settle()
  }

  release(key: number): void {
    this.withdraw(key)
    this.#holders.delete(keyIndex(key))
    this.#taken.delete(keyIndex(key))
  }

  holder(key: number): Invalidatable | undefined {
    return this.#holders.get(keyIndex(key))
  }

  advise(domainId: number, advice: Advice, range: AdvisedRange): void {
    const entry = this.#entries.get(range.key)
    const region = entry?.kind === 'region' ? entry : undefined
    checkAdvice(region, domainId, advice, range)
    if (range.length === 0 || advice === Advice.PrefetchNoFault || region.block !== undefined) return
    if (this.#space.find(range.address, range.length) === undefined)
      refuseAdvice(Errno.EFAULT, `this process has no memory at ${range.address}`)
  }

  /**
   * Append the memory of one local segment; false is a local protection error. An empty segment is not checked. Windows
   * have no local key.
   */
  gather(list: PieceList, domainId: number, address: number, length: number, key: number, writable: boolean): boolean {
    if (length === 0) return true
    const entry = this.#entries.get(key)
    if (entry === undefined || entry.kind === 'window') return false
    return this.#reach(list, entry, address, length, {
      domainId,
      right: writable ? Access.LocalWrite : 0,
      pairNumber: 0,
    })
  }

  /** Append the memory that a peer names. Returns false if key, range, rights or protection domain do not allow it. */
  reach(list: PieceList, address: number, length: number, key: number, wanted: Wanted): boolean {
    const entry = this.#entries.get(key)
    return entry !== undefined && this.#reach(list, entry, address, length, wanted)
  }

  #reach(list: PieceList, entry: KeyEntry, address: number, length: number, wanted: Wanted): boolean {
    const { domainId, right, pairNumber } = wanted
    if (entry.domainId !== domainId || (entry.access & right) !== right || !within(entry, address, length)) return false
    if (entry.kind === 'region') return this.#region(list, entry, address, length)
    const offset = address - entry.address
    const base = { domainId, right: baseRight(right), pairNumber }
    if (entry.kind === 'pieces')
      return entry.pieces.walk(offset, length, (at, run, key) => this.#base(list, at, run, key, base))
    if (entry.queuePair !== 0 && entry.queuePair !== pairNumber) return false
    return this.#base(list, entry.baseAddress + offset, length, entry.baseKey, base)
  }

  /** Windows and indirect keys stand for regions only. */
  #base(list: PieceList, address: number, length: number, key: number, wanted: Wanted): boolean {
    const base = this.#entries.get(key)
    return base?.kind === 'region' && this.#reach(list, base, address, length, wanted)
  }

  #region(list: PieceList, entry: KeyedRegion, address: number, length: number): boolean {
    const block = entry.block ?? this.#space.find(address, length)
    if (block === undefined) return false
    const offset = entry.block === undefined ? address - block.address : address - entry.address + entry.offset
    list.add(block, offset, length)
    return true
  }
}

/** A write to memory behind a key needs the right that a local write would need. */
function baseRight(right: number): number {
  return right === Access.RemoteRead || right === 0 ? 0 : Access.LocalWrite
}

function within(entry: KeyFields, address: number, length: number): boolean {
  const offset = address - entry.address
  return offset >= 0 && length > 0 && offset + length <= entry.length
}
