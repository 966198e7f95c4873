import { MemoryBlock } from './memory-block.ts'

const PAGE_BYTES = 4096
/** The address of the first block. Below it there is nothing, as in any process. */
const FIRST_ADDRESS = 0x10_0000_0000

/**
 * The addresses of one simulated process. Every block has its own pages, and an unused page lies between two of them.
 */
export class AddressSpace {
  readonly #blocks: MemoryBlock[] = []
  #next = FIRST_ADDRESS

  /** Allocate new zeroed memory. */
  allocate(lengthBytes: number): MemoryBlock {
    return this.adopt(new Uint8Array(lengthBytes))
  }

  /** Give bytes an address. */
  adopt(bytes: Uint8Array): MemoryBlock {
    const block = new MemoryBlock(bytes, this.#next)
    this.#next += (Math.ceil(bytes.length / PAGE_BYTES) + 1) * PAGE_BYTES
    this.#blocks.push(block)
    return block
  }

  remove(block: MemoryBlock): void {
    const index = this.#blocks.indexOf(block)
    if (index >= 0) this.#blocks.splice(index, 1)
  }

  /** The block that contains all of these bytes. */
  find(address: number, length: number): MemoryBlock | undefined {
    return this.#blocks.find(
      (block) => address >= block.address && address + length <= block.address + block.bytes.length,
    )
  }
}
