import { type Extension, NO_EXTENSION } from './extension.ts'
import { NO_BYTES } from './frame.ts'
import { FrameHead } from './frame-head.ts'

/** The owner of a body's bytes while they are read. */
export const BodyMemory = {
  /** The peer can write there, and they are invalid once the reader returns. */
  Shared: 0,
  /** The peer cannot write there; they are invalid once the reader returns. */
  Lent: 1,
  /** They belong to the reader alone, from now on. */
  Own: 2,
} as const

/** A body: `length` bytes from `offset`. */
export interface IncomingBody {
  readonly bytes: Uint8Array
  readonly offset: number
  readonly length: number
  /** A {@link BodyMemory}. */
  readonly memory: number
}

/** A frame that has come. Its session fills it in again once the taker has returned. */
export class IncomingFrame extends FrameHead implements IncomingBody {
  extension: Extension = NO_EXTENSION
  bytes: Uint8Array = NO_BYTES
  offset = 0
  length = 0
  memory: number = BodyMemory.Shared

  /** Its body came apart from it, and is all of these bytes. */
  setBody(bytes: Uint8Array, memory: number): void {
    this.bytes = bytes
    this.offset = 0
    this.length = bytes.length
    this.memory = memory
  }
}
