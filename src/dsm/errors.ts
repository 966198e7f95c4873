import { AetherError } from '../native/index.ts'
import { formatSize } from './size.ts'

/** A region refused an operation; `code` says why. */
export class RegionError extends AetherError {
  override readonly name = 'RegionError'
  /** The region's name. */
  readonly region: string

  constructor(
    code: 'ERR_AETHER_REGION_MISMATCH' | 'ERR_AETHER_REGION_NOT_FOUND' | 'ERR_AETHER_REGIONS_FULL',
    region: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options)
    this.region = region
  }
}

/** A save could not be written, read or restored; `code` says why. */
export class SaveError extends AetherError {
  override readonly name = 'SaveError'
  /** The save's path. */
  readonly file: string

  constructor(
    code:
      | 'ERR_AETHER_SAVE_FAILED'
      | 'ERR_AETHER_SAVE_DAMAGED'
      | 'ERR_AETHER_SAVE_VERSION'
      | 'ERR_AETHER_SAVE_MISMATCH'
      | 'ERR_AETHER_SAVE_NOT_FOUND',
    file: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options)
    this.file = file
  }
}

/** The range is not within the region. */
export class OutOfBoundsError extends AetherError {
  override readonly name = 'OutOfBoundsError'
  readonly offsetBytes: number
  readonly lengthBytes: number
  readonly sizeBytes: number

  constructor(region: string, offsetBytes: number, lengthBytes: number, sizeBytes: number) {
    const asked = `${lengthBytes} bytes at offset ${offsetBytes}`
    super('ERR_AETHER_OUT_OF_BOUNDS', `${asked} are not within region '${region}' of ${sizeBytes} bytes`)
    this.offsetBytes = offsetBytes
    this.lengthBytes = lengthBytes
    this.sizeBytes = sizeBytes
  }
}

/** A write to a region that was opened with `access: 'read'`. */
export class ReadOnlyError extends AetherError {
  override readonly name = 'ReadOnlyError'
  readonly region: string

  constructor(region: string) {
    super('ERR_AETHER_READ_ONLY', `region '${region}' is open read-only here; open it with access: 'write' to write`)
    this.region = region
  }
}

/** There is not enough memory; nothing was taken. */
export class MemoryExhaustedError extends AetherError {
  override readonly name = 'MemoryExhaustedError'
  readonly wantedBytes: number
  /** Bytes that were available, if known. */
  readonly availableBytes: number | undefined

  constructor(
    what: string,
    wantedBytes: number,
    availableBytes: number | undefined,
    why: string,
    options?: ErrorOptions,
  ) {
    const hint = 'ask for less, free memory, or pass reserve: false to take pages as they are touched'
    super('ERR_AETHER_MEMORY_EXHAUSTED', `${what} needs ${formatSize(wantedBytes)}, but ${why}; ${hint}`, options)
    this.wantedBytes = wantedBytes
    this.availableBytes = availableBytes
  }
}
