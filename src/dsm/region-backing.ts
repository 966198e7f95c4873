import type { HeldRegion, RegionDirectory } from './region-directory.ts'

/** The memory behind an open region, for one who takes it as it is needed. Offsets are of the region, whole pages. */
export class RegionBacking {
  readonly #directory: RegionDirectory
  readonly #held: HeldRegion

  constructor(directory: RegionDirectory, held: HeldRegion) {
    this.#directory = directory
    this.#held = held
  }

  /** All of it is taken, and stays. */
  get isWhole(): boolean {
    return this.#directory.isReserved(this.#held)
  }

  /** Copy bytes from `offsetBytes` on, as a file: it takes no memory where there is none, which reads as zeros. */
  read(offsetBytes: number, target: Uint8Array): void {
    this.#directory.read(this.#held, offsetBytes, target)
  }

  /** Take the memory of a part; what is there already stays as it is. @throws MemoryExhaustedError */
  take(offsetBytes: number, lengthBytes: number): void {
    this.#directory.take(this.#held, offsetBytes, lengthBytes)
  }

  /** Give back the memory of a part, which no one may touch then. @throws SystemError */
  giveBack(offsetBytes: number, lengthBytes: number): void {
    this.#directory.giveBack(this.#held, offsetBytes, lengthBytes)
  }
}
