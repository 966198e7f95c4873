import { native } from '../../native/index.ts'

/** Frames are mapped by pieces of about so many bytes. */
const CHUNK_BYTES = 4 * 2 ** 20

/** Where bytes of the frames lie. */
export interface FrameChunk {
  readonly offsetBytes: number
  readonly bytes: Uint8Array
  readonly words: BigUint64Array
}

/**
 * The frames of a region in this thread: a memory object of the process's own, mapped chunk by chunk, always readable and writable.
 * Only the agent and the explicit calls use it; programs see views.
 */
export class Frames {
  readonly descriptor: number
  readonly #chunkBytes: number
  readonly #sizeBytes: number
  readonly #chunks = new Map<number, FrameChunk & { readonly buffer: ArrayBuffer }>()

  /** No unit of `unitBytes` lies in two chunks. */
  constructor(descriptor: number, sizeBytes: number, unitBytes: number) {
    this.descriptor = descriptor
    this.#sizeBytes = sizeBytes
    this.#chunkBytes = Math.max(1, Math.floor(CHUNK_BYTES / unitBytes)) * unitBytes
  }

  /** The chunk that holds `offsetBytes`. */
  chunkAt(offsetBytes: number): FrameChunk {
    const index = Math.floor(offsetBytes / this.#chunkBytes)
    const known = this.#chunks.get(index)
    if (known !== undefined) return known
    const begin = index * this.#chunkBytes
    const buffer = native.mapMemory(this.descriptor, begin, Math.min(this.#chunkBytes, this.#sizeBytes - begin), 0)
    const chunk = { offsetBytes: begin, bytes: new Uint8Array(buffer), words: new BigUint64Array(buffer), buffer }
    this.#chunks.set(index, chunk)
    return chunk
  }

  /** Take this memory from the kernel now, so that no later store can fail. @throws SystemError */
  reserve(offsetBytes: number, lengthBytes: number): void {
    native.reserveMemory(this.descriptor, offsetBytes, Math.min(lengthBytes, this.#sizeBytes - offsetBytes))
  }

  /** Give it back; what is read there afterwards is zero. */
  release(offsetBytes: number, lengthBytes: number): void {
    native.releaseMemory(this.descriptor, offsetBytes, Math.min(lengthBytes, this.#sizeBytes - offsetBytes))
  }

  /** Unmap this thread's chunks. The descriptor stays its owner's. */
  close(): void {
    for (const { buffer } of this.#chunks.values()) native.unmapMemory(buffer)
    this.#chunks.clear()
  }
}
