import type { MemoryExhaustedError } from '../dsm/index.ts'
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

/**
 * A heap has no memory left for the operation; nothing was changed. `cause`: the machine or the disk refused more, and
 * why; undefined if the heap is as large as it may be.
 */
export class HeapFullError extends AetherError {
  override readonly name = 'HeapFullError'
  readonly wantedBytes: number
  /** Bytes of blocks that are in use, or that readers may still use. */
  readonly usedBytes: number

  constructor(
    wantedBytes: number,
    usedBytes: number,
    sizeBytes: number,
    why: string,
    options: { readonly cause?: MemoryExhaustedError | undefined } = {},
  ) {
    const { cause } = options
    const use = `${usedBytes} of ${sizeBytes} bytes are in use`
    // Without its advice.
    const refused = cause === undefined ? '' : `, and no more can be taken: ${cause.message.split(';')[0]}`
    const first = cause === undefined ? 'open with a larger size' : 'free some of it'
    const message = `no room for ${wantedBytes} bytes: ${use}${refused}${why}; ${first}, or bound what is kept`
    super('ERR_AETHER_HEAP_FULL', message, cause === undefined ? undefined : { cause })
    this.wantedBytes = wantedBytes
    this.usedBytes = usedBytes
  }
}
