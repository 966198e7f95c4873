import { native, systemFailure } from '../native/index.ts'

/** A WebAssembly page: memories come in multiples of it. */
const WASM_PAGE_BYTES = 65_536
const MEMORY_PAGES_MAX = 65_536

/** The most that one window shows. */
export const WINDOW_BYTES_MAX: number = 2 ** 32

/** The memory in which a view lies, for programs in WebAssembly. */
export interface ViewMemory {
  readonly memory: WebAssembly.Memory
  /** Where bytes begin that are this thread's alone, a multiple of 64: at least {@link PRIVATE_BYTES} of them. */
  readonly privateBegin: number
}

/** The bytes of a {@link ViewMemory} that programs may use. */
const PRIVATE_BYTES = 32_768

const viewMemories = new WeakMap<ArrayBufferLike, ViewMemory>()

/** Undefined if the view is not one of a region, or of a window that leaves no room. */
export function viewMemoryOf(view: Uint8Array): ViewMemory | undefined {
  return viewMemories.get(view.buffer)
}

/**
 * Part of a memory object laid over a shared WebAssembly.Memory.
 *
 * Its buffer is a SharedArrayBuffer, so that the engine expects other writers; it can be posted to Workers, which then
 * share the same page tables. The memory object's pages replace the first `lengthBytes` of it; the rest stays private.
 */
export class RegionWindow {
  /** The region's offset at which the window begins. */
  readonly offsetBytes: number
  readonly lengthBytes: number
  readonly buffer: SharedArrayBuffer
  /** Where in the buffer the window begins. */
  readonly beginBytes: number
  /** Where the window lies in this process, for userfaultfd. */
  readonly address: number
  readonly bytes: Uint8Array
  /** The whole window as 64-bit words (its length is a multiple of the page size). */
  readonly words: BigUint64Array
  readonly #memory: WebAssembly.Memory
  #mapped = true

  /**
   * Map `lengthBytes` (a multiple of `pageBytes`, the size of its pages) of `descriptor` from `fileOffsetBytes` on.
   * With `readOnly`, a store ends the process with that message.
   * @throws SystemError if the address space or the kernel's number of mappings is exhausted.
   */
  constructor(
    descriptor: number,
    fileOffsetBytes: number,
    offsetBytes: number,
    lengthBytes: number,
    readOnly?: string,
    pageBytes: number = 4096,
  ) {
    const { memory, beginBytes } = alignedMemory(lengthBytes, pageBytes)
    this.#memory = memory
    this.beginBytes = beginBytes
    this.buffer = this.#memory.buffer as SharedArrayBuffer
    this.offsetBytes = offsetBytes
    this.lengthBytes = lengthBytes
    this.address = native.mapView(memory, beginBytes, descriptor, fileOffsetBytes, lengthBytes)
    const privateBegin = Math.ceil((beginBytes + lengthBytes) / 64) * 64
    if (privateBegin + PRIVATE_BYTES <= this.buffer.byteLength) viewMemories.set(this.buffer, { memory, privateBegin })
    if (readOnly !== undefined) native.makeViewReadOnly(this.address, lengthBytes, readOnly)
    this.bytes = new Uint8Array(this.buffer, beginBytes, lengthBytes)
    this.words = new BigUint64Array(this.buffer, beginBytes, lengthBytes / 8)
  }

  /** Whether the window holds the whole range. */
  holds(offsetBytes: number, lengthBytes: number): boolean {
    return offsetBytes >= this.offsetBytes && offsetBytes + lengthBytes <= this.offsetBytes + this.lengthBytes
  }

  /** Lay private memory back, so that a view still in use is harmless. Idempotent. */
  close(): void {
    if (!this.#mapped) return
    this.#mapped = false
    native.unmapView(this.#memory, this.beginBytes, this.lengthBytes)
  }
}

/**
 * A memory with room for `lengthBytes` from a multiple of `pageBytes` on: the engine places memories by smaller steps
 * than huge pages are.
 */
function alignedMemory(lengthBytes: number, pageBytes: number): { memory: WebAssembly.Memory; beginBytes: number } {
  const exact = newMemory(lengthBytes)
  const beyond = addressOf(exact) % pageBytes
  if (beyond === 0) return { memory: exact, beginBytes: 0 }
  const memory = newMemory(lengthBytes + pageBytes)
  return { memory, beginBytes: (pageBytes - (addressOf(memory) % pageBytes)) % pageBytes }
}

function newMemory(lengthBytes: number): WebAssembly.Memory {
  const pages = Math.min(MEMORY_PAGES_MAX, Math.ceil((lengthBytes + PRIVATE_BYTES) / WASM_PAGE_BYTES))
  try {
    return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true })
  } catch (error) {
    // The engine takes 10 GiB of addresses for each, of which only what is used has memory.
    throw systemFailure(error)
  }
}

function addressOf(memory: WebAssembly.Memory): number {
  return native.addressOf(new Uint8Array(memory.buffer, 0, 1))
}
