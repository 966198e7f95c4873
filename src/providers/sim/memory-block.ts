/** Lines of 64 bytes that are on their way into memory. */
export interface LineWrite {
  /** Write it now, unless that was done. */
  land(): void
}

/** Memory of one process: what a region, a window or an address of the process finally refers to. */
export class MemoryBlock {
  readonly bytes: Uint8Array
  /** The address of its first byte, in the address space of its process. */
  readonly address: number
  /** Lines that the adapter has taken and not written yet. */
  readonly landing: Set<LineWrite> = new Set<LineWrite>()
  readonly #view: DataView

  constructor(bytes: Uint8Array, address: number) {
    this.bytes = bytes
    this.address = address
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  word(offset: number): bigint {
    return this.#view.getBigInt64(offset, true)
  }

  setWord(offset: number, value: bigint): void {
    this.#view.setBigInt64(offset, value, true)
  }

  /** Wait for the adapter, which takes no time here. Afterwards nothing is under way into this memory. */
  settle(): void {
    for (const write of [...this.landing]) write.land()
  }
}
