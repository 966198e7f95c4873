import type { FrameHead } from './frame-head.ts'
import type { IncomingFrame } from './incoming-frame.ts'

/** Takes the frames of a session. */
export interface FrameTaker {
  /** Take a whole frame. It is valid until this returns. If it throws, the link ends. */
  frame(frame: IncomingFrame): void
  /**
   * The memory for the body of this frame, which lies at the peer: `Lent` or `Own` of `BodyMemory`. Undefined if it is
   * not wanted; {@link dropped} is then called instead of `frame`.
   */
  wants(head: FrameHead): number | undefined
  /** A body of this call is longer than this end accepts; it is skipped. */
  tooLong(head: FrameHead, totalBytes: number): void
  /**
   * A body that was offered for this call was not fetched. Either it is not wanted (any more), or the device had no
   * memory for it, and `shortage` is its error.
   */
  dropped(head: FrameHead, shortage: unknown): void
  /** Called once, last. */
  ended(error: Error | undefined): void
}
