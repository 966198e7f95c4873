import { AetherError } from '../native/index.ts'

/** A space cannot be entered or used; `code` says why. */
export class SpaceError extends AetherError {
  override readonly name = 'SpaceError'
  /** The space's name. */
  readonly space: string

  constructor(
    code: 'ERR_AETHER_SPACE_FULL' | 'ERR_AETHER_SPACE_VERSION' | 'ERR_AETHER_SPACE_UNREACHABLE',
    space: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options)
    this.space = space
  }
}

/** A file or directory is not safely the caller's own, or the caller may not use it. */
export class AccessError extends AetherError {
  override readonly name = 'AccessError'
  readonly path: string

  constructor(path: string, message: string, options?: ErrorOptions) {
    super('ERR_AETHER_FORBIDDEN', message, options)
    this.path = path
  }
}
