import { read, readSync, write, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import type { HeldRegion, RegionEntry, Space } from '../dsm/index.ts'
import { usedRuns } from './used-runs.ts'

const readAt = promisify(read)
const writeAt = promisify(write)

/** Cleared at a time. */
const CHUNK_BYTES = 2 ** 20

/**
 * The bytes of a region, read and written by its place in the arena's file. So nothing is mapped, pages that were never
 * touched take no memory, and the event loop does not wait.
 */
export class RawRegion implements AsyncDisposable {
  readonly entry: RegionEntry
  readonly #space: Space
  readonly #held: HeldRegion

  private constructor(space: Space, held: HeldRegion) {
    this.#space = space
    this.entry = held
    this.#held = held
  }

  /** Hold the region of that name, made with `size` if that is given. @throws RegionError, MemoryExhaustedError */
  static async open(space: Space, name: string, size?: number, reserved: boolean = false): Promise<RawRegion> {
    return new RawRegion(space, await space.regionDirectory.openHeld(name, size, reserved))
  }

  /** A copy of `lengthBytes` bytes from `offsetBytes` on. */
  async read(offsetBytes: number, lengthBytes: number): Promise<Buffer> {
    const bytes = Buffer.alloc(lengthBytes)
    const { descriptor } = this.#space.membership.arena
    for (let done = 0; done < lengthBytes; ) {
      const at = this.entry.offset + offsetBytes + done
      done += given((await readAt(descriptor, bytes, done, lengthBytes - done, at)).bytesRead)
    }
    return bytes
  }

  /** Fill `bytes` from `offsetBytes` on, on this thread. */
  readSync(offsetBytes: number, bytes: Buffer): Buffer {
    const { descriptor } = this.#space.membership.arena
    for (let done = 0; done < bytes.length; )
      done += given(readSync(descriptor, bytes, done, bytes.length - done, this.entry.offset + offsetBytes + done))
    return bytes
  }

  /** Write a few bytes, on this thread. */
  writeSync(offsetBytes: number, bytes: Uint8Array): void {
    writeSync(this.#space.membership.arena.descriptor, bytes, 0, bytes.length, this.entry.offset + offsetBytes)
  }

  async write(offsetBytes: number, bytes: Uint8Array): Promise<void> {
    const { descriptor } = this.#space.membership.arena
    for (let done = 0; done < bytes.length; ) {
      const at = this.entry.offset + offsetBytes + done
      done += (await writeAt(descriptor, bytes, done, bytes.length - done, at)).bytesWritten
    }
  }

  /** Clear what is not zeros. Pages that were never touched stay so. */
  async clear(offsetBytes: number, endBytes: number): Promise<void> {
    for (let at = offsetBytes; at < endBytes; at += CHUNK_BYTES) {
      const bytes = await this.read(at, Math.min(CHUNK_BYTES, endBytes - at))
      for (const [begin, end] of usedRuns(bytes)) await this.write(at + begin, bytes.subarray(begin, end).fill(0))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#space.regionDirectory.release(this.#held)
  }
}

/** What is not there is not zeros: a disk that fails gives what comes before the fault. @throws as read(2) does */
function given(bytesRead: number): number {
  if (bytesRead > 0) return bytesRead
  throw Object.assign(new Error('the memory of the space is cut off'), { code: 'EIO' })
}
