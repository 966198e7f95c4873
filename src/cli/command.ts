/** What a command line ends with. */
export const ExitCode = {
  Done: 0,
  /** It was tried and failed, or a check of the demo did not hold. */
  Failed: 1,
  /** The command line cannot be understood. */
  Usage: 2,
} as const

/** What stands behind `aether <name> …`. */
export interface Command {
  /** What `aether <name> --help` prints: usage, what it does, options with defaults, examples. */
  readonly help: string
  /** What stands behind its own options is another program's: only a first `--help` is for it. */
  readonly passesArguments?: boolean
  /**
   * Does it. Resolves with the status to end with; a UsageError it throws ends the command with 2, any other error with
   * 1.
   */
  run(args: readonly string[]): Promise<number>
}
