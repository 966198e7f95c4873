import { native } from '../native/index.ts'

/** A WebAssembly page: memories come in multiples of it. */
const WASM_PAGE_BYTES = 65_536

/** The most that one window shows. */
export const WINDOW_BYTES_MAX: number = 2 ** 32

/**
 * Part of a memory object laid over a shared WebAssembly.Memory.
 *
 * Its buffer is a SharedArrayBuffer, so that the engine expects other writers; it can be posted to Workers, which then share the same
 * page tables. The memory object's pages replace the first `lengthBytes` of it; the rest of the last WebAssembly page stays private.
 */
export class MemoryWindow {
  /** The region's offset at which the window begins. */
  readonly offsetBytes: number
  readonly lengthBytes: number
  readonly buffer: SharedArrayBuffer
  /** Where the window lies in this process, for userfaultfd. */
  readonly address: number
  readonly bytes: Uint8Array
  /** The whole window as 64-bit words (its length is a multiple of the page size). */
  readonly words: BigUint64Array
  readonly #memory: WebAssembly.Memory
  #mapped = true

  /**
   * Map `lengthBytes` (a page multiple) of `descriptor` from `fileOffsetBytes` on. With `readOnly`, a store ends the process with that sentence.
   * @throws SystemError where the address space or the kernel's number of mappings is exhausted.
   */
  constructor(
    descriptor: number,
    fileOffsetBytes: number,
    offsetBytes: number,
    lengthBytes: number,
    readOnly?: string,
  ) {
    const pages = Math.ceil(lengthBytes / WASM_PAGE_BYTES)
    this.#memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true })
    this.buffer = this.#memory.buffer as SharedArrayBuffer
    this.offsetBytes = offsetBytes
    this.lengthBytes = lengthBytes
    this.address = native.mapView(this.#memory, 0, descriptor, fileOffsetBytes, lengthBytes)
    if (readOnly !== undefined) native.makeViewReadOnly(this.address, lengthBytes, readOnly)
    this.bytes = new Uint8Array(this.buffer, 0, lengthBytes)
    this.words = new BigUint64Array(this.buffer, 0, lengthBytes / 8)
  }

  /** Whether the window holds the whole range. */
  holds(offsetBytes: number, lengthBytes: number): boolean {
    return offsetBytes >= this.offsetBytes && offsetBytes + lengthBytes <= this.offsetBytes + this.lengthBytes
  }

  /** Lay private memory back, so that a view somebody kept is harmless. Idempotent. */
  close(): void {
    if (!this.#mapped) return
    this.#mapped = false
    native.unmapView(this.#memory, 0, this.lengthBytes)
  }
}
