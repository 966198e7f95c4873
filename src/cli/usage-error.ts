import { AetherError } from '../native/index.ts'

/** The command line is invalid. The command ends with status 2. */
export class UsageError extends AetherError {
  override readonly name = 'UsageError'
  /** The command whose `--help` explains more; undefined if the command is not known. */
  readonly command: string | undefined

  constructor(message: string, command?: string, options?: ErrorOptions) {
    super('ERR_AETHER_USAGE', message, options)
    this.command = command
  }
}
