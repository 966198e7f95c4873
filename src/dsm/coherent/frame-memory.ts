import type { Mesh } from '../../cluster/index.ts'
import { SystemError } from '../../native/index.ts'
import { Errno, type MemoryRegion, VerbsError } from '../../verbs/index.ts'
import type { FrameReference } from '../coherence/index.ts'
import type { FrameUnits } from './frame-units.ts'
import type { Frames } from './frames.ts'

/** What fallocate(2) says where there is no memory left, in the file system, the cgroup or the process's limits. */
const MEMORY_ERRORS: ReadonlySet<string> = new Set(['ENOSPC', 'ENOMEM', 'EFBIG', 'EDQUOT'])

/** A frame as the mesh reads from it and as peers write into it. */
export interface RegisteredFrame {
  readonly local: FrameReference
  readonly remote: FrameReference
}

/** The agent's frames: taken from the kernel and registered by units, when a page of one is first wanted. */
export class FrameMemory {
  readonly #frames: Frames
  readonly #units: FrameUnits
  readonly #mesh: Mesh
  readonly #pageBytes: number
  readonly #onTaken: (offsetBytes: number, lengthBytes: number) => void
  readonly #registered = new Map<number, MemoryRegion>()

  /** `onTaken` is told of memory that no rank can have used before. */
  constructor(
    frames: Frames,
    units: FrameUnits,
    mesh: Mesh,
    pageBytes: number,
    onTaken: (offsetBytes: number, lengthBytes: number) => void,
  ) {
    this.#frames = frames
    this.#units = units
    this.#mesh = mesh
    this.#pageBytes = pageBytes
    this.#onTaken = onTaken
  }

  /** Bytes that are registered now. */
  get registeredBytes(): number {
    let bytes = 0
    for (const { length } of this.#registered.values()) bytes += length
    return bytes
  }

  /** Whether the frame of `page` has memory now. */
  has(page: number): boolean {
    return this.#registered.has(this.#units.unitAt(page).index)
  }

  /** The frame of `page`. @throws SystemError, VerbsError where there is no memory for it. */
  frame(page: number): RegisteredFrame {
    const { memory, offsetBytes } = this.#memoryOf(page)
    const address = memory.address + (page * this.#pageBytes - offsetBytes)
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

  /**
   * Give back the memory of a unit, which no thread reads or writes; not if it holds pages whose home this rank is. It
   * is deregistered before the kernel gets it, else peers would go on reaching the old pages.
   */
  release(index: number): void {
    const memory = this.#registered.get(index)
    if (memory === undefined || this.#units.holdsHomePages(index)) return
    this.#registered.delete(index)
    deregister(memory)
    const { offsetBytes, lengthBytes } = this.#units.unit(index)
    this.#frames.release(offsetBytes, lengthBytes)
  }

  /**
   * With `giveBack` the kernel gets all of it at once; else it keeps it until the last peer has removed its mapping. Do
   * not give it back while a caller has a view, whose pages would go too.
   */
  close(giveBack: boolean): void {
    for (const memory of this.#registered.values()) memory.close()
    this.#registered.clear()
    if (giveBack) this.#frames.releaseAll()
    this.#frames.close()
  }

  #memoryOf(page: number): { memory: MemoryRegion; offsetBytes: number } {
    const { index, offsetBytes, lengthBytes } = this.#units.unitAt(page)
    let memory = this.#registered.get(index)
    if (memory === undefined) {
      this.#frames.reserve(offsetBytes, lengthBytes)
      const chunk = this.#frames.chunkAt(offsetBytes)
      const begin = offsetBytes - chunk.offsetBytes
      const bytes = chunk.bytes.subarray(begin, begin + lengthBytes)
      memory = this.#mesh.register(bytes, this.#frames.originOf(offsetBytes))
      this.#registered.set(index, memory)
      this.#onTaken(offsetBytes, lengthBytes)
    }
    return { memory, offsetBytes }
  }
}

/**
 * A peer that is stopped in the middle of an access is waited for once. The keys are revoked by then, and the second
 * attempt goes ahead. On shm that peer still finishes its access when it is continued.
 */
function deregister(memory: MemoryRegion): void {
  try {
    memory.close()
  } catch (error) {
    if (!(error instanceof VerbsError && error.errno === Errno.EBUSY)) throw error
    memory.close()
  }
}
