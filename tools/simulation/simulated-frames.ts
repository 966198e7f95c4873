import type { FrameChunk, Frames } from 'aether-dsm/internal/dsm'
import { ViolationError } from './observer.ts'

/** Frames of a region in plain memory of this process. */
export class SimulatedFrames implements Frames {
  readonly allocatedBytes: number
  readonly #chunk: FrameChunk
  #isClosed = false

  constructor(sizeBytes: number) {
    const buffer = new ArrayBuffer(sizeBytes)
    this.allocatedBytes = sizeBytes
    this.#chunk = { offsetBytes: 0, bytes: new Uint8Array(buffer), words: new BigUint64Array(buffer) }
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  chunkAt(): FrameChunk {
    return this.#chunk
  }

  /** A simulated device needs no such place. */
  originOf(): undefined {
    return undefined
  }

  reserve(): void {
    if (this.#isClosed) throw new ViolationError('memory: it is used after it was given back')
  }

  /** What a thread or a peer still writes there is gone, as in memory that the kernel has given to others. */
  release(offsetBytes: number, lengthBytes: number): void {
    this.#chunk.bytes.fill(0, offsetBytes, offsetBytes + lengthBytes)
  }

  releaseAll(): void {
    this.#chunk.bytes.fill(0)
  }

  close(): void {
    this.#isClosed = true
  }
}
