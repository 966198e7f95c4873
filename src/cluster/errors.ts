import { AetherError } from '../native/index.ts'

/** A space cannot be entered or used; `code` says why. */
export class SpaceError extends AetherError {
  override readonly name = 'SpaceError'
  /** The space's name. */
  readonly space: string

  constructor(
    code:
      | 'ERR_AETHER_SPACE_FULL'
      | 'ERR_AETHER_SPACE_VERSION'
      | 'ERR_AETHER_SPACE_UNREACHABLE'
      | 'ERR_AETHER_SPACE_DIRECTORY'
      | 'ERR_AETHER_SPACE_RESTARTED',
    space: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options)
    this.space = space
  }
}
