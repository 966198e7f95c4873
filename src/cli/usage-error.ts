import { AetherError } from '../native/index.ts'

/** The command line cannot be understood. The command ends with status 2. */
export class UsageError extends AetherError {
  override readonly name = 'UsageError'
  /** Whose `--help` tells more; undefined where it is not known which command was meant. */
  readonly command: string | undefined

  constructor(message: string, command?: string, options?: ErrorOptions) {
    super('ERR_AETHER_USAGE', message, options)
    this.command = command
  }
}
