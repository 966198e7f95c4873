import { AetherError } from '../native/index.ts'

/** A structure refused an operation; `code` says why. */
export class StructureError extends AetherError {
  override readonly name = 'StructureError'
  /** The structure's name, or that of the heap's region. */
  readonly structure: string

  constructor(
    code:
      | 'ERR_AETHER_STRUCTURE_MISMATCH'
      | 'ERR_AETHER_MAP_FULL'
      | 'ERR_AETHER_STRUCTURES_FULL'
      | 'ERR_AETHER_STRUCTURES_NOT_OPENED'
      | 'ERR_AETHER_STRUCTURES_VERSION'
      | 'ERR_AETHER_READ_SECTION'
      | 'ERR_AETHER_VALUE_TOO_LARGE',
    structure: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options)
    this.structure = structure
  }
}

/** A heap has no memory left for the operation; nothing was changed. */
export class HeapFullError extends AetherError {
  override readonly name = 'HeapFullError'
  readonly wantedBytes: number
  /** Bytes of blocks that are in use, or that readers may still use. */
  readonly usedBytes: number

  constructor(wantedBytes: number, usedBytes: number, sizeBytes: number, why: string) {
    const use = `${usedBytes} of ${sizeBytes} bytes are in use`
    super(
      'ERR_AETHER_HEAP_FULL',
      `no room for ${wantedBytes} bytes: ${use}${why}; open with a larger size, or bound what is kept`,
    )
    this.wantedBytes = wantedBytes
    this.usedBytes = usedBytes
  }
}
