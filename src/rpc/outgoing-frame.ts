import type { InLine } from '../messaging/index.ts'
import { NO_BYTES } from './frame.ts'
import { FrameHead } from './frame-head.ts'

/**
 * A frame to send. `Session.frame` gives one, its maker fills it in, and `Session.send` takes it: most have left then,
 * and serve again. A frame without room waits.
 */
export class OutgoingFrame extends FrameHead implements InLine {
  extension: Uint8Array | undefined
  /** The body is the first `bodyBytes` of these. */
  body: Uint8Array = NO_BYTES
  bodyBytes = 0
  /** The body does not change until it has left, so it is not copied to wait. */
  kept = true
  /** Bytes of a body that was offered to the peer, which fetches it; `body` is then empty. */
  offeredBytes = 0
  /** How much of the body has left. */
  sentBytes = 0
  /** A part of it has left. */
  started = false
  place = -1

  setBody(body: Uint8Array, kept: boolean): void {
    this.body = body
    this.bodyBytes = body.length
    this.kept = kept
  }

  /** Release what it holds. Its call may keep the frame for long. */
  letGo(): void {
    this.extension = undefined
    this.setBody(NO_BYTES, true)
  }
}
