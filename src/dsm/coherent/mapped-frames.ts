import { native } from '../../native/index.ts'
import type { BufferOrigin } from '../../verbs/index.ts'
import type { FramePages } from './frame-object.ts'
import type { FrameChunk, Frames } from './frames.ts'

/** Frames are mapped in pieces of about this many bytes. */
const CHUNK_BYTES = 4 * 2 ** 20

export interface MappedFramesOptions {
  readonly descriptor: number
  /** Close the descriptor with the frames. */
  readonly isOwn: boolean
  readonly sizeBytes: number
  /** No unit lies in two chunks. */
  readonly unitBytes: number
  readonly pages: FramePages
}

/**
 * Frames in a memory object, mapped into this thread chunk by chunk. Only the agent and the explicit calls use it;
 * programs see views.
 */
export class MappedFrames implements Frames {
  readonly #options: MappedFramesOptions
  readonly #chunkBytes: number
  readonly #chunks = new Map<number, FrameChunk & { readonly buffer: ArrayBuffer }>()

  constructor(options: MappedFramesOptions) {
    this.#options = options
    const { unitBytes } = options
    this.#chunkBytes = Math.max(1, Math.floor(CHUNK_BYTES / unitBytes)) * unitBytes
  }

  get allocatedBytes(): number {
    return native.describeMemory(this.#options.descriptor).allocatedBytes
  }

  originOf(offsetBytes: number): BufferOrigin {
    return { descriptor: this.#options.descriptor, offsetBytes }
  }

  chunkAt(offsetBytes: number): FrameChunk {
    const index = Math.floor(offsetBytes / this.#chunkBytes)
    const known = this.#chunks.get(index)
    if (known !== undefined) return known
    const { descriptor, sizeBytes } = this.#options
    const begin = index * this.#chunkBytes
    const buffer = native.mapMemory(descriptor, begin, Math.min(this.#chunkBytes, sizeBytes - begin), 0)
    const chunk = { offsetBytes: begin, bytes: new Uint8Array(buffer), words: new BigUint64Array(buffer), buffer }
    this.#chunks.set(index, chunk)
    return chunk
  }

  reserve(offsetBytes: number, lengthBytes: number): void {
    const { descriptor, sizeBytes, pages } = this.#options
    const taken = Math.min(lengthBytes, sizeBytes - offsetBytes)
    if (pages === 'transparent') this.#populate(offsetBytes, taken)
    native.reserveMemory(descriptor, offsetBytes, taken)
  }

  release(offsetBytes: number, lengthBytes: number): void {
    const { descriptor, sizeBytes } = this.#options
    native.releaseMemory(descriptor, offsetBytes, Math.min(lengthBytes, sizeBytes - offsetBytes))
  }

  releaseAll(): void {
    this.release(0, this.#options.sizeBytes)
  }

  /**
   * Memory that is taken by touching it may be made of huge pages where fallocate(2) gives ordinary ones. What fails is
   * left to that.
   */
  #populate(offsetBytes: number, lengthBytes: number): void {
    const chunk = this.chunkAt(offsetBytes)
    const begin = offsetBytes - chunk.offsetBytes
    native.populateHuge(this.#options.descriptor, offsetBytes, chunk.bytes.subarray(begin, begin + lengthBytes))
  }

  close(): void {
    for (const { buffer } of this.#chunks.values()) native.unmapMemory(buffer)
    this.#chunks.clear()
    if (this.#options.isOwn) native.closeDescriptor(this.#options.descriptor)
  }
}
