import { AetherError, type AetherErrorCode } from '../../native/index.ts'

/** A recording of the dashboard cannot be written or opened. `code` has the reason, the message says what to do. */
export class SessionFileError extends AetherError {
  override readonly name = 'SessionFileError'
  readonly path: string

  /** @param reason `EXISTS`, `IO`, `FOREIGN`, `VERSION` or `DAMAGED`. */
  constructor(
    reason: 'EXISTS' | 'IO' | 'FOREIGN' | 'VERSION' | 'DAMAGED',
    path: string,
    what: string,
    options?: ErrorOptions,
  ) {
    super(`ERR_AETHER_SESSION_${reason}` as AetherErrorCode, `${path}: ${what}`, options)
    this.path = path
  }
}
