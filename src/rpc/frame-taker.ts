import type { Extension } from './extension.ts'

/** The owner of a body's bytes while they are read. */
export const BodyMemory = {
  /** The peer can write there, and they are invalid once the reader returns. */
  Shared: 0,
  /** The peer cannot write there; they are invalid once the reader returns. */
  Lent: 1,
  /** They belong to the reader alone, from now on. */
  Own: 2,
} as const

/** Takes the frames of a session. */
export interface FrameTaker {
  /**
   * Take a whole frame. Its body is `length` bytes of `bytes` from `offset`; `memory` is a {@link BodyMemory}. If it
   * throws, the link ends.
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
   * The memory for the body of this frame, which lies at the peer: `Lent` or `Own`. Undefined if it is not wanted;
   * {@link dropped} is then called instead of `frame`.
   */
  wants(kind: number, call: number, word: number): number | undefined
  /** A body of this call is longer than this end accepts; it is skipped. */
  tooLong(kind: number, call: number, totalBytes: number): void
  /**
   * A body that was offered for this call was not fetched. Either it is not wanted (any more), or the device had no
   * memory for it, and `shortage` is its error.
   */
  dropped(kind: number, call: number, shortage: unknown): void
  /** Called once, last. */
  ended(error: Error | undefined): void
}
