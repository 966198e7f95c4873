/**
 * The seam below every structure on one machine: words and bytes that several processes share, by offset.
 *
 * What a structure does is a sequence of these calls and nothing else that others could see. So the same algorithm runs
 * on the memory of one machine (CPU atomics), and in tests that stop a process between any two calls. Structures of a
 * group have a seam of their own (distributed/remote-words.ts).
 *
 * Offsets are bytes from the start of the memory. Words of 32 bits lie at multiples of 4 and are signed; those of 64
 * bits at multiples of 8. `load`, `store` and the read-modify-writes are sequentially consistent.
 *
 * `peek` and `poke` are plain. They are for memory
 *
 * 1. that no other process writes;
 * 2. that a later atomic of the same process publishes;
 * 3. that others read only when this process has ended. They then see all that it did, in its order, up to the end.
 */
export interface WordMemory {
  readonly lengthBytes: number

  load(offset: number): number
  store(offset: number, value: number): void
  /** Stores `desired` where the word equals `expected`; gives what was there before. */
  compareExchange(offset: number, expected: number, desired: number): number
  /** Gives what was there before. */
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
   * A copy of the bytes that is the caller's, to keep or to hand out. Small ones may share a buffer, as those of
   * `Buffer.from` do; they begin at multiples of 8 there.
   */
  copy(offset: number, lengthBytes: number): Uint8Array
  /** Copy `lengthBytes` bytes into `target`, from its start. */
  read(offset: number, target: Uint8Array, lengthBytes: number): void
  /** Copy the first `lengthBytes` of `source` here. */
  write(offset: number, source: Uint8Array, lengthBytes: number): void

  /** The bytes where they lie, plain: they change as memory does. Over a network, a copy. */
  view(offset: number, lengthBytes: number): Uint8Array

  /** Block this thread while the word equals `expected`, for at most `timeoutMs`; may return early. */
  wait(offset: number, expected: number, timeoutMs: number): void
  /** Wake up to `count` threads that wait on the word. */
  wake(offset: number, count: number): void
}
