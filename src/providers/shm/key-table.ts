import { randomInt } from 'node:crypto'
import { Access } from '../access.ts'
import { Errno, VerbsError } from '../errors.ts'
import { KEY_DOUBLES, KEY_WORDS, KeyDouble, KeyWord, MAX_KEYS } from './layout.ts'
import type { Segment } from './segment.ts'
import type { SegmentList } from './segment-list.ts'
import type { Span } from './span.ts'

/** What a key stands for, where this device owns it. */
export interface KeyedMemory {
  readonly key: number
  readonly address: number
  readonly length: number
  readonly access: number
  readonly domainId: number
  readonly descriptor: number
  readonly offsetBytes: number
  readonly span: Span
}

/**
 * A key is ten random bits, the index of its entry (14 bits), and eight bits that change at every use of the entry
 * (with memory windows of type 2 the consumer chooses those).
 */
export function keyIndex(key: number): number {
  return (key >>> 8) & (MAX_KEYS - 1)
}

/** Keys of the own segment: written here, read by every peer. */
export class KeyTable {
  readonly #segment: Segment
  readonly #entries: (KeyedMemory | undefined)[] = []
  readonly #free: number[] = []

  constructor(segment: Segment) {
    this.#segment = segment
  }

  /** Make a key and publish what it stands for. Throws ENOMEM when all are taken. */
  publish(describe: (key: number) => KeyedMemory): KeyedMemory {
    const index = this.#free.shift() ?? this.#entries.length
    if (index >= MAX_KEYS)
      throw new VerbsError(
        'ibv_reg_mr',
        Errno.ENOMEM,
        `all ${MAX_KEYS} memory regions of this device are in use; close some`,
      )
    const key = ((randomInt(1 << 10) << 22) | (index << 8) | (1 + randomInt(255))) >>> 0
    const entry = describe(key)
    this.#entries[index] = entry
    this.#write(index, entry)
    return entry
  }

  /** Peers find nothing under the key from now on; accesses that began earlier may still run. */
  revoke(key: number): void {
    const index = keyIndex(key)
    if (this.#entries[index]?.key !== key) return
    Atomics.store(this.#segment.keys, index * KEY_WORDS + KeyWord.Key, 0)
    this.#entries[index] = undefined
    this.#free.push(index)
  }

  find(key: number): KeyedMemory | undefined {
    const entry = this.#entries[keyIndex(key)]
    return entry !== undefined && entry.key === key ? entry : undefined
  }

  /** The memory that covers a local segment, or undefined: a local protection error. */
  covering(domainId: number, address: number, length: number, key: number): KeyedMemory | undefined {
    const entry = this.#entries[keyIndex(key)]
    if (entry === undefined || entry.key !== key || entry.domainId !== domainId) return undefined
    const offset = address - entry.address
    return offset >= 0 && length > 0 && offset + length <= entry.length ? entry : undefined
  }

  /** Check one local segment and append it. False is a local protection error. Nothing is asked of an empty one. */
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
    if (entry === undefined) return false
    if (writable && (entry.access & Access.LocalWrite) === 0) return false
    list.add(entry.span, address - entry.address, length)
    return true
  }

  #write(index: number, entry: KeyedMemory): void {
    const { keys, keyDoubles } = this.#segment
    const words = index * KEY_WORDS
    const doubles = index * KEY_DOUBLES
    keys[words + KeyWord.Access] = entry.access
    keys[words + KeyWord.Domain] = entry.domainId
    keys[words + KeyWord.Descriptor] = entry.descriptor
    keyDoubles[doubles + KeyDouble.Address] = entry.address
    keyDoubles[doubles + KeyDouble.Length] = entry.length
    keyDoubles[doubles + KeyDouble.Offset] = entry.offsetBytes
    Atomics.store(keys, words + KeyWord.Key, entry.key | 0)
  }
}
