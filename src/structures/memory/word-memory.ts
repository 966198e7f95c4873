/**
 * The interface below every structure of one machine: words and bytes that several processes share, by offset.
 *
 * A structure does nothing visible to others except through these calls. The same algorithm therefore runs on shared
 * memory (CPU atomics) and in tests that stop a process between any two calls. Structures of a group use other
 * algorithms, over `GroupMemory` (`../distributed/memory/group-memory.ts`): a cache miss here is a round trip there.
 *
 * Offsets are bytes from the start of the memory. Words of 32 bits lie at multiples of 4 and are signed; those of 64
 * bits at multiples of 8.
 *
 * `load`, `store` and the read-modify-writes are sequentially consistent. `peek` and `poke` are plain. Use them for:
 *
 * - words that only this process writes, or that a later atomic of this process publishes;
 * - words that others read only after this process has ended. They then see all its stores, in order, up to its end.
 */
export interface WordMemory {
  readonly lengthBytes: number

  load(offset: number): number
  store(offset: number, value: number): void
  /** Stores `desired` if the word equals `expected`; returns the previous value. */
  compareExchange(offset: number, expected: number, desired: number): number
  /** Returns the previous value. */
  fetchAdd(offset: number, value: number): number
  exchange(offset: number, value: number): number

  load64(offset: number): bigint
  store64(offset: number, value: bigint): void
  compareExchange64(offset: number, expected: bigint, desired: bigint): bigint
  fetchAdd64(offset: number, value: bigint): bigint

  peek(offset: number): number
  poke(offset: number, value: number): void
  /** A Float64, plain. */
  peekFloat(offset: number): number
  pokeFloat(offset: number, value: number): void

  /**
   * A copy of the bytes, owned by the caller. Small copies may share a buffer, like those of `Buffer.from`; they start
   * at multiples of 8 in it.
   */
  copy(offset: number, lengthBytes: number): Uint8Array
  /** Copy `lengthBytes` bytes into `target`, from its start. */
  read(offset: number, target: Uint8Array, lengthBytes: number): void
  /** Copy the first `lengthBytes` of `source` here. */
  write(offset: number, source: Uint8Array, lengthBytes: number): void

  /** The bytes in place, plain: they change as the memory does. */
  view(offset: number, lengthBytes: number): Uint8Array

  /** Block this thread while the word equals `expected`, for at most `timeoutMs`; may return early. */
  wait(offset: number, expected: number, timeoutMs: number): void
  /** Wake up to `count` threads that wait on the word. */
  wake(offset: number, count: number): void
}
