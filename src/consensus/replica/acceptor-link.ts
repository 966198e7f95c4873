/** How a leader reaches the memory of an acceptor: one-sided, in order. Offsets are of the acceptor's region. */
export interface AcceptorLink {
  /** While it is not, nothing happens, and no `done` is called. */
  readonly isUp: boolean
  write(bytes: Uint8Array, offset: number): void
  /** `wake`: the owner of that memory is to look at it. */
  writeWord(value: number, offset: number, wake: boolean): void
  /** Set a word of a slot. `done` comes in a later turn, when it is there. */
  store(word: bigint, offset: number, done: () => void): void
  /** `done` has the bytes during the call. It comes in a later turn. */
  read(offset: number, length: number, done: (bytes: Uint8Array) => void): void
  /** `done` has the word as it was before. It comes in a later turn. */
  compareSwap(offset: number, expected: bigint, next: bigint, done: (before: bigint) => void): void
}
