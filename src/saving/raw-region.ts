import { read, readSync, write, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import type { HeldRegion, RegionEntry, Space } from '../dsm/index.ts'

const readAt = promisify(read)
const writeAt = promisify(write)

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
    await readAt(descriptor, bytes, 0, lengthBytes, this.entry.offset + offsetBytes)
    return bytes
  }

  /** Fill `bytes` from `offsetBytes` on, on this thread. */
  readSync(offsetBytes: number, bytes: Buffer): Buffer {
    readSync(this.#space.membership.arena.descriptor, bytes, 0, bytes.length, this.entry.offset + offsetBytes)
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#space.regionDirectory.release(this.#held)
  }
}
