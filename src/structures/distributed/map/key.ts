import { hashBytes } from '../../../codecs/index.ts'
import { Key, type MapKey } from '../../map/key.ts'

/** A key as bytes, with its hashes. */
export interface KeyBytes {
  /** Its length in bytes, and its kind from bit 16 on. */
  readonly meta: number
  readonly bytes: Uint8Array
  readonly first: number
  readonly second: number
  /** What a slot has of it: 7 bits. */
  readonly fingerprint: number
}

const SECOND = 0x5bd1e995

const key = new Key(0)

/** @throws ArgumentError when it is too long, or not a key. */
export function encodeKey(value: MapKey, seed: number): KeyBytes {
  key.set(value)
  const length = key.meta & 0xffff
  const bytes = key.bytes.slice(0, length)
  const first = hashBytes(bytes, length, seed ^ key.meta)
  const second = hashBytes(bytes, length, first ^ SECOND)
  return { meta: key.meta, bytes, first, second, fingerprint: (first ^ second) >>> 25 }
}

export function decodeKey(meta: number, bytes: Uint8Array): MapKey {
  key.meta = meta
  key.bytes.set(bytes)
  return key.value()
}

export function isSameKey(a: KeyBytes, meta: number, bytes: Uint8Array): boolean {
  return a.meta === meta && Buffer.compare(a.bytes, bytes) === 0
}
