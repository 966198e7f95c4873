/**
 * The part of the WebAssembly namespace that is used here. TypeScript declares it only together with a browser's whole
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

  class RuntimeError extends Error {}

  class Module {
    constructor(bytes: Uint8Array)
  }

  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, Memory | number>>)
    readonly exports: Record<string, unknown>
  }
}
