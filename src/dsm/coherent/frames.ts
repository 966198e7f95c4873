import type { BufferOrigin } from '../../verbs/index.ts'

/** Where bytes of the frames lie. */
export interface FrameChunk {
  readonly offsetBytes: number
  readonly bytes: Uint8Array
  readonly words: BigUint64Array
}

/** The frames of a region: memory of this process's own, always readable and writable. Programs see views of it. */
export interface Frames {
  /** The chunk that holds `offsetBytes`. */
  chunkAt(offsetBytes: number): FrameChunk
  /** Where peers of this machine find these bytes; undefined where the device needs no such place. */
  originOf(offsetBytes: number): BufferOrigin | undefined
  /** Bytes that are taken from the kernel now. */
  readonly allocatedBytes: number
  /** Take this memory from the kernel now, so that no later store can fail. @throws SystemError */
  reserve(offsetBytes: number, lengthBytes: number): void
  /** Give it back; what is read there afterwards is zero. */
  release(offsetBytes: number, lengthBytes: number): void
  releaseAll(): void
  close(): void
}
