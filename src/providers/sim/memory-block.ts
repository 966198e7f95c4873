/** Lines of 64 bytes that are on their way into memory. */
export interface LineWrite {
  /** Put it there now, unless it is there. */
  land(): void
}

/** Memory of one process: what a region, a window or an address of the process finally means. */
export class MemoryBlock {
  readonly bytes: Uint8Array
  /** Of its first byte, in the address space of its process. */
  readonly address: number
  /** What the adapter has taken and not put there yet. */
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

  /** Wait for the adapter, which takes no time here: after it, nothing lands any more. */
  settle(): void {
    for (const write of [...this.landing]) write.land()
  }
}
