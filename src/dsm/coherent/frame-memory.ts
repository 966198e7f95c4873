import type { Mesh } from '../../cluster/index.ts'
import { SystemError } from '../../native/index.ts'
import { Errno, type MemoryRegion, VerbsError } from '../../verbs/index.ts'
import type { FrameReference } from '../coherence/index.ts'
import type { Frames } from './frames.ts'

/** What fallocate(2) says where there is no memory left, in the file system, the cgroup or the process's limits. */
const MEMORY_ERRORS: ReadonlySet<string> = new Set(['ENOSPC', 'ENOMEM', 'EFBIG', 'EDQUOT'])

/** A frame as the mesh reads from it and as peers write into it. */
export interface RegisteredFrame {
  readonly local: FrameReference
  readonly remote: FrameReference
}

/** The agent's frames: taken from the kernel and registered by chunk, when a page of a chunk is first wanted. */
export class FrameMemory {
  readonly #frames: Frames
  readonly #mesh: Mesh
  readonly #pageBytes: number
  readonly #chunks = new Map<number, MemoryRegion>()

  constructor(frames: Frames, mesh: Mesh, pageBytes: number) {
    this.#frames = frames
    this.#mesh = mesh
    this.#pageBytes = pageBytes
  }

  /** The frame of `page`. @throws SystemError, VerbsError where there is no memory for it. */
  frame(page: number): RegisteredFrame {
    const memory = this.#memoryOf(page)
    const address = memory.address + ((page * this.#pageBytes) % this.#frames.chunkBytes)
    return { local: { address, key: memory.localKey }, remote: { address, key: memory.remoteKey } }
  }

  /** Take the memory of `page` now. False where there is none left. */
  tryTake(page: number): boolean {
    try {
      this.#memoryOf(page)
      return true
    } catch (error) {
      if (error instanceof SystemError && MEMORY_ERRORS.has(error.errnoName)) return false
      // The device cannot lock it: the limit of the process, or the device's own.
      if (error instanceof VerbsError && error.errno === Errno.ENOMEM) return false
      throw error
    }
  }

  close(): void {
    for (const memory of this.#chunks.values()) memory.close()
    this.#frames.close()
  }

  #memoryOf(page: number): MemoryRegion {
    const offsetBytes = page * this.#pageBytes
    const index = Math.floor(offsetBytes / this.#frames.chunkBytes)
    const known = this.#chunks.get(index)
    if (known !== undefined) return known
    this.#frames.reserveChunk(offsetBytes)
    const chunk = this.#frames.chunkAt(offsetBytes)
    const origin = { descriptor: this.#frames.descriptor, offsetBytes: chunk.offsetBytes }
    const memory = this.#mesh.register(chunk.bytes, origin)
    this.#chunks.set(index, memory)
    return memory
  }
}
