import type { OptionTable } from './options.ts'

/** Exit status of the command line. */
export const ExitCode = {
  Done: 0,
  /** The command failed, or a check of the demo did. */
  Failed: 1,
  /** The command line is invalid. */
  Usage: 2,
} as const

/** What an argument of a command is: a running space, a file, or one of these words. */
export type Operand = 'space' | 'file' | readonly string[]

/** The command that `aether <name> …` runs. */
export interface Command {
  /** For `aether <name> --help`, which prints it by `printedHelp`: usage, purpose, options with defaults, examples. */
  readonly help: string
  readonly options: OptionTable
  /** Its arguments beside options, in order. Default none. */
  readonly operands?: readonly Operand[]
  /** Arguments after its own options belong to another program: only a leading `--help` is for the command. */
  readonly passesArguments?: boolean
  /**
   * Run the command. Resolves with the exit status. If it throws, the status is 2 for a UsageError and 1 for any other
   * error.
   */
  run(args: readonly string[]): Promise<number>
}
