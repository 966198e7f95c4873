import type { AllocateOptions, BufferOrigin } from '../memory-contract.ts'

/** The memory behind a region. */
export interface Backing {
  /** The bytes as the program sees them; empty if it must not see them. */
  readonly bytes: Uint8Array
  /** The address of its first byte in its process. */
  readonly address: number
  readonly length: number
  /** True if requests name its bytes from 0 on. */
  readonly zeroBased: boolean
  readonly origin?: BufferOrigin | undefined
}

/** The memory of a medium, which knows more of a backing that it made. */
export interface Backings {
  /** New memory, freed with its region. */
  allocate(verb: string, lengthBytes: number, options: AllocateOptions): Backing
  /** A buffer of the program's. */
  register(buffer: Uint8Array, access: number, origin: BufferOrigin | undefined): Backing
  /** Everything that this process has mapped or will map. */
  wholeProcess(access: number): Backing
  /** The memory whose offsets are the device's physical addresses. EPERM if the program did not ask for any. */
  physical(): Backing
  /** New memory of the device itself. */
  allocateOnDevice(lengthBytes: number): Backing
  /** A part of memory of the device, zero-based. */
  part(backing: Backing, offset: number, length: number): Backing
  release(backing: Backing): void
}
