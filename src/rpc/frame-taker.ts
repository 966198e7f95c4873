import type { Extension } from './extension.ts'

/** Whose the bytes of a body are, for who reads them. */
export const BodyMemory = {
  /** The peer can write there, and they are gone when the reader returns. */
  Shared: 0,
  /** The peer cannot write there; they are gone when the reader returns. */
  Lent: 1,
  /** Nobody else's, from now on. */
  Own: 2,
} as const

/** What takes the frames of a session. */
export interface FrameTaker {
  /**
   * A whole frame. Its body is `length` bytes of `bytes` from `offset` on; `memory`: a {@link BodyMemory}. What it
   * throws ends the link.
   */
  frame(
    kind: number,
    call: number,
    word: number,
    budget: number,
    extension: Extension,
    bytes: Uint8Array,
    offset: number,
    length: number,
    memory: number,
  ): void
  /**
   * In which memory the body of this frame, which lies at the peer, is wanted: `Lent` or `Own`; undefined: it is not
   * wanted, and {@link dropped} comes instead of the frame.
   */
  wants(kind: number, call: number, word: number): number | undefined
  /** A body of this call is longer than what is taken here; it is passed over. */
  tooLong(kind: number, call: number, totalBytes: number): void
  /**
   * A body that was offered for this call was not fetched, since nobody wants it (any more), or since the device had no
   * memory for it: `shortage` is what it said.
   */
  dropped(kind: number, call: number, shortage: unknown): void
  /** Once, last. */
  ended(error: Error | undefined): void
}
