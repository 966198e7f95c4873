import { native } from '../../native/index.ts'
import type { FramePages } from './frame-object.ts'

/** Frames are mapped in pieces of about this many bytes. */
const CHUNK_BYTES = 4 * 2 ** 20

/** Where bytes of the frames lie. */
export interface FrameChunk {
  readonly offsetBytes: number
  readonly bytes: Uint8Array
  readonly words: BigUint64Array
}

/**
 * The frames of a region in this thread: a memory object of the process's own, mapped chunk by chunk, always readable
 * and writable. Only the agent and the explicit calls use it; programs see views.
 */
export class Frames {
  readonly descriptor: number
  readonly #chunkBytes: number
  readonly #sizeBytes: number
  readonly #pages: FramePages
  readonly #chunks = new Map<number, FrameChunk & { readonly buffer: ArrayBuffer }>()

  /** No unit of `unitBytes` lies in two chunks. */
  constructor(descriptor: number, sizeBytes: number, unitBytes: number, pages: FramePages) {
    this.descriptor = descriptor
    this.#sizeBytes = sizeBytes
    this.#pages = pages
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
    const taken = Math.min(lengthBytes, this.#sizeBytes - offsetBytes)
    if (this.#pages === 'transparent') this.#populate(offsetBytes, taken)
    native.reserveMemory(this.descriptor, offsetBytes, taken)
  }

  /** Give it back; what is read there afterwards is zero. */
  release(offsetBytes: number, lengthBytes: number): void {
    native.releaseMemory(this.descriptor, offsetBytes, Math.min(lengthBytes, this.#sizeBytes - offsetBytes))
  }

  releaseAll(): void {
    this.release(0, this.#sizeBytes)
  }

  /**
   * Memory that is taken by touching it may be made of huge pages where fallocate(2) gives ordinary ones. What fails is
   * left to that.
   */
  #populate(offsetBytes: number, lengthBytes: number): void {
    const chunk = this.chunkAt(offsetBytes)
    const begin = offsetBytes - chunk.offsetBytes
    native.populateHuge(this.descriptor, offsetBytes, chunk.bytes.subarray(begin, begin + lengthBytes))
  }

  /** Unmap this thread's chunks. The descriptor stays its owner's. */
  close(): void {
    for (const { buffer } of this.#chunks.values()) native.unmapMemory(buffer)
    this.#chunks.clear()
  }
}
