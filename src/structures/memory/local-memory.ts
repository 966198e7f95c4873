import { native } from '../../native/index.ts'
import { CopyPool, POOLED_BYTES_MAX } from './copy-pool.ts'
import type { WordMemory } from './word-memory.ts'

/** Up to this many bytes a loop is faster than a call of the engine's copying between a shared and a plain buffer. */
const LOOP_BYTES_MAX = 16

/**
 * Memory of this machine, kept coherent by its processors.
 *
 * If this is the only WordMemory of a process (always, except in tests), the engine calls its methods directly and
 * inlines them. What is left is the engine's own `Atomics`. `aether bench structures` shows it: a counter's `addSync`,
 * which goes through here, beside `Atomics.add` on a plain array.
 */
export class LocalMemory implements WordMemory {
  readonly lengthBytes: number
  readonly #words: Int32Array
  readonly #longs: BigInt64Array
  readonly #floats: Float64Array
  readonly #bytes: Uint8Array
  readonly #pool = new CopyPool()

  /** `bytes` must begin at a multiple of 8 and have a multiple of 8 as its length. */
  constructor(bytes: Uint8Array) {
    const { buffer, byteOffset, byteLength } = bytes
    this.lengthBytes = byteLength
    this.#words = new Int32Array(buffer, byteOffset, byteLength / 4)
    this.#longs = new BigInt64Array(buffer, byteOffset, byteLength / 8)
    this.#floats = new Float64Array(buffer, byteOffset, byteLength / 8)
    this.#bytes = bytes
  }

  load(offset: number): number {
    return Atomics.load(this.#words, offset >>> 2)
  }

  store(offset: number, value: number): void {
    Atomics.store(this.#words, offset >>> 2, value)
  }

  compareExchange(offset: number, expected: number, desired: number): number {
    return Atomics.compareExchange(this.#words, offset >>> 2, expected, desired)
  }

  fetchAdd(offset: number, value: number): number {
    return Atomics.add(this.#words, offset >>> 2, value)
  }

  exchange(offset: number, value: number): number {
    return Atomics.exchange(this.#words, offset >>> 2, value)
  }

  load64(offset: number): bigint {
    return Atomics.load(this.#longs, offset >>> 3)
  }

  store64(offset: number, value: bigint): void {
    Atomics.store(this.#longs, offset >>> 3, value)
  }

  compareExchange64(offset: number, expected: bigint, desired: bigint): bigint {
    return Atomics.compareExchange(this.#longs, offset >>> 3, expected, desired)
  }

  fetchAdd64(offset: number, value: bigint): bigint {
    return Atomics.add(this.#longs, offset >>> 3, value)
  }

  peek(offset: number): number {
    return this.#words[offset >>> 2]!
  }

  poke(offset: number, value: number): void {
    this.#words[offset >>> 2] = value
  }

  peekFloat(offset: number): number {
    return this.#floats[offset >>> 3]!
  }

  pokeFloat(offset: number, value: number): void {
    this.#floats[offset >>> 3] = value
  }

  copy(offset: number, lengthBytes: number): Uint8Array {
    if (lengthBytes > POOLED_BYTES_MAX || (offset & 3) !== 0)
      return Uint8Array.prototype.slice.call(this.#bytes, offset, offset + lengthBytes)
    return this.#pool.copy(this.#words, offset >>> 2, lengthBytes)
  }

  read(offset: number, target: Uint8Array, lengthBytes: number): void {
    if (lengthBytes > LOOP_BYTES_MAX) target.set(this.#bytes.subarray(offset, offset + lengthBytes))
    else for (let at = 0; at < lengthBytes; at += 1) target[at] = this.#bytes[offset + at]!
  }

  write(offset: number, source: Uint8Array, lengthBytes: number): void {
    if (lengthBytes <= LOOP_BYTES_MAX)
      for (let at = 0; at < lengthBytes; at += 1) this.#bytes[offset + at] = source[at]!
    else this.#bytes.set(source.length === lengthBytes ? source : source.subarray(0, lengthBytes), offset)
  }

  view(offset: number, lengthBytes: number): Uint8Array {
    return this.#bytes.subarray(offset, offset + lengthBytes)
  }

  wait(offset: number, expected: number, timeoutMs: number): void {
    native.futexWait(this.#words, offset >>> 2, expected, Math.ceil(timeoutMs))
  }

  wake(offset: number, count: number): void {
    native.futexWake(this.#words, offset >>> 2, count)
  }
}
