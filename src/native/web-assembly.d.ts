/**
 * The part of the WebAssembly namespace that views use. TypeScript declares it only together with a browser's whole
 * library.
 */
declare namespace WebAssembly {
  interface MemoryDescriptor {
    /** In WebAssembly pages of 64 KiB. */
    initial: number
    maximum?: number
    shared?: boolean
  }

  class Memory {
    constructor(descriptor: MemoryDescriptor)
    /** A SharedArrayBuffer if the memory was created with `shared: true`. */
    readonly buffer: ArrayBuffer | SharedArrayBuffer
  }
}
